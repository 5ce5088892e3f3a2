/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fecn.h"

#include <string.h>

void fecn_init(struct fecn *fecn)
{
	fecn->marked = 0;
	fecn_set_rules(fecn, &(struct fecn_rules){.victims = true});
	memset(fecn->limit, 0xFF, sizeof(fecn->limit));
}

void fecn_set_rules(struct fecn *fecn, const struct fecn_rules *rules)
{
	fecn->rules = *rules;
	for (unsigned port = 0; port < FECN_PORTS_MAX; port++)
		for (unsigned vc = 0; vc < FRAME_VCS_MAX; vc++)
			fecn->passed[port][vc] = rules->marking_rate;
}

bool fecn_set(struct fecn *fecn, unsigned port, unsigned vc, unsigned threshold, uint32_t vc_blocks)
{
	if (threshold > FECN_THRESHOLD_MAX)
		return false;
	fecn->limit[port][vc] = threshold == 0
					? UINT32_MAX
					: (uint32_t)((uint64_t)vc_blocks * (16 - threshold) / 16);
	return true;
}
