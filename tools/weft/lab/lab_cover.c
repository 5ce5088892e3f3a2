/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_lab.h"

#include <stdlib.h>

void lab_cover_tell(const struct lab *lab, credit_cover_fn *tell, void *ctx)
{
	struct topology timed = *lab->topology;

	timed.link_at = calloc(timed.links + 1u, sizeof(*timed.link_at));
	if (timed.link_at == NULL)
		return;
	for (uint32_t i = 0; i < timed.links; i++) {
		timed.link_at[i] = lab->topology->link_at[i];
		if (!lab_plan_is_timed(lab->plan, i))
			timed.link_at[i].rate_bps = 0;
	}
	credit_cover_tell(&lab->config->run, &timed, tell, ctx);
	free(timed.link_at);
}
