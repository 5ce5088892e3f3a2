/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "fecn.h"

#include <string.h>

void fecn_init(struct fecn *fecn)
{
	fecn->marked = 0;
	fecn->red = (struct fecn_red){0};
	fecn_set_rules(fecn, &(struct fecn_rules){.victims = true});
	memset(fecn->limit, 0xFF, sizeof(fecn->limit));
}

void fecn_set_rules(struct fecn *fecn, const struct fecn_rules *rules)
{
	fecn->rules = *rules;
	for (unsigned port = 0; port < PORT_SET_PORTS; port++)
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

void fecn_mark_red(struct fecn *fecn, struct weft_packet *packet, uint32_t waiting)
{
	const struct fecn_red *red = &fecn->red;

	if (waiting <= red->min_blocks || packet->control != 0)
		return;
	if (waiting <= red->max_blocks &&
		!rng_chance_ppm(&fecn->rng,
			(uint32_t)((uint64_t)red->max_ppm * (waiting - red->min_blocks) /
				   (red->max_blocks - red->min_blocks))))
		return;
	packet->mutable_word |= MUTABLE_FLAGS(FRAME_F_FECN);
	fecn->marked++;
}
