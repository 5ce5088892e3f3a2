/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_spawn.h"

#define GROUPS 0x10000

static unsigned index_shift(const struct lab_plan *plan)
{
	unsigned interfaces = 2 * plan->topology->links + 2, shift = 0;

	while (shift < 12 && (interfaces + 1) << (shift + 1) <= GROUPS)
		shift++;
	return shift;
}

unsigned lab_fanout_index(const struct lab_plan *plan, uint32_t link, unsigned side)
{
	return (2 * link + 2 + side) << index_shift(plan);
}

static unsigned group_of(const struct lab_plan *plan, uint32_t link, unsigned side, pid_t pid)
{
	return ((unsigned)pid ^ lab_fanout_index(plan, link, side)) % GROUPS;
}

bool lab_fanout_meets(
	const struct lab_plan *plan, const pid_t *running, unsigned process, pid_t pid)
{
	uint8_t taken[GROUPS / 8] = {0};
	bool meets = false;

	for (uint32_t end = 0; end < 2 * plan->topology->links; end++) {
		const struct lab_plan_link *link = &plan->link[end / 2];
		unsigned holder = link->process[end % 2], group;

		if (link->kind != LAB_LINK_VETH || holder == process || running[holder] == 0)
			continue;
		group = group_of(plan, end / 2, end % 2, running[holder]);
		taken[group / 8] |= (uint8_t)(1u << group % 8);
	}
	for (uint32_t end = 0; end < 2 * plan->topology->links && !meets; end++) {
		const struct lab_plan_link *link = &plan->link[end / 2];
		unsigned group = group_of(plan, end / 2, end % 2, pid);

		meets = link->kind == LAB_LINK_VETH && link->process[end % 2] == process &&
			(taken[group / 8] >> group % 8 & 1) != 0;
	}
	return meets;
}
