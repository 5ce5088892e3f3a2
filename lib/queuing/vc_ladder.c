/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "vc_ladder.h"

#include <stddef.h>

#include "base/port_set.h"

/* Every hop takes the next rung, whatever its kind. */
#define EVERY_HOP                                                            \
	VC_LADDER_RUNGS, VC_LADDER_RUNGS, .local = {0, 1, 2, 3, 4, 5, 6, 7}, \
					  .global = {0, 1, 2, 3, 4, 5, 6, 7}

static const struct vc_ladder ladders[VC_STEPS_COUNT] = {
	[VC_STEPS_DF_MIN] = {VC_LADDER_NEVER, 2, 1, .local = {0, 2}, .global = {1}},
	[VC_STEPS_DF_VALIANT] = {VC_LADDER_ALWAYS, 3, 2, .local = {0, 2, 4}, .global = {1, 3},
		.minimal = 2},
	[VC_STEPS_DF_NODE] = {VC_LADDER_ALWAYS, 4, 2, .local = {0, 2, 3, 5}, .global = {1, 4},
		.minimal = 3, .node = true},
	[VC_STEPS_DF_UGAL_L] = {VC_LADDER_QUEUES, 3, 2, .local = {0, 2, 4}, .global = {1, 3},
		.minimal = 2},
	[VC_STEPS_DF_UGAL_NODE] = {VC_LADDER_QUEUES, 4, 2, .local = {0, 2, 3, 5}, .global = {1, 4},
		.minimal = 3, .node = true},
	[VC_STEPS_DF_UGAL_G] = {VC_LADDER_ORACLE, 3, 2, .local = {0, 2, 4}, .global = {1, 3},
		.minimal = 2},
	[VC_STEPS_DF_PAR] = {VC_LADDER_QUEUES, 4, 2, .local = {0, 1, 3, 5}, .global = {2, 4},
		.detour = 1, .again = true},
	[VC_STEPS_OMNI_WAR] = {VC_LADDER_QUEUES, EVERY_HOP, .rows = true},
	[VC_STEPS_DAL] = {VC_LADDER_QUEUES, EVERY_HOP, .rows = true, .once = true},
	[VC_STEPS_UGAL] = {VC_LADDER_QUEUES, .halves = true},
};

#define FROM_HOST (-1)

const struct vc_ladder *vc_ladder_find(unsigned steps)
{
	return vc_steps_is_ladder(steps) ? &ladders[steps] : NULL;
}

/* Returns the position on the ladder of the hop on which the packet arrived. */
static int place_of(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t class)
{
	if (vc_rule_ring(rule, at, input) == VC_RULE_NO_RING)
		return FROM_HOST;
	if ((rule->dateline[at] >> input & 1) != 0)
		return ladder->global[class < ladder->globals ? class : ladder->globals - 1];
	return ladder->local[class < ladder->locals ? class : ladder->locals - 1];
}

/* Returns the index, among the rungs of the hop's kind, of the rung that the hop takes. If none is
 * left above, returns the number of these rungs. */
static unsigned rung_of(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn)
{
	bool global = (rule->dateline[at] >> output & 1) != 0;
	const uint8_t *place = global ? ladder->global : ladder->local;
	unsigned rungs = global ? ladder->globals : ladder->locals, rung = 0;
	int above = place_of(rule, ladder, at, input, from) + 1;

	if (above == FROM_HOST + 1)
		above = turn == VC_NEXT_STEP ? ladder->detour : ladder->minimal;
	else if (turn == VC_NEXT_STEP && above < ladder->detour)
		above = ladder->detour;
	while (rung < rungs && place[rung] < above)
		rung++;
	return rung;
}

bool vc_ladder_allows(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn)
{
	unsigned rungs = (rule->dateline[at] >> output & 1) != 0 ? ladder->globals : ladder->locals;

	return vc_rule_ring(rule, at, output) == VC_RULE_NO_RING ||
	       rung_of(rule, ladder, at, input, from, output, turn) < rungs;
}

uint8_t vc_ladder_next(const struct vc_rule *rule, const struct vc_ladder *ladder, uint32_t at,
	unsigned input, uint8_t from, unsigned output, enum vc_turn turn)
{
	unsigned rungs = (rule->dateline[at] >> output & 1) != 0 ? ladder->globals : ladder->locals;
	unsigned rung = rung_of(rule, ladder, at, input, from, output, turn);

	if (rungs > rule->classes)
		rungs = rule->classes;
	return (uint8_t)(rung < rungs ? rung : rungs - 1);
}

uint64_t vc_ladder_rows(const struct vc_rule *rule, uint32_t at, uint64_t ports)
{
	uint64_t rows = 0;

	for (; ports != 0; ports &= ports - 1)
		rows |= BIT64(vc_rule_ring(rule, at, (unsigned)__builtin_ctzll(ports)) % 64);
	return rows;
}

uint64_t vc_ladder_row_ports(const struct vc_rule *rule, uint32_t at, uint64_t ports)
{
	uint64_t rows = vc_ladder_rows(rule, at, ports), all = 0;

	for (unsigned port = 0; port < VC_RULE_PORTS; port++) {
		uint8_t row = vc_rule_ring(rule, at, port);

		if (row != VC_RULE_NO_RING && (rows >> row % 64 & 1) != 0)
			all |= BIT64(port);
	}
	return all;
}

static enum vc_ladder_move move_in_rows(const struct vc_rule *rule, const struct vc_ladder *ladder,
	uint32_t at, unsigned input, int place, uint64_t *set)
{
	uint64_t row = place != FROM_HOST && ladder->once
			       ? *set & vc_ladder_row_ports(rule, at, BIT64(input))
			       : 0;
	int links = __builtin_popcountll(vc_ladder_rows(rule, at, *set));

	if (row != 0)
		*set = row;
	return row == 0 && links > 0 && place + 1 + links < rule->classes ? VC_LADDER_ROWS
									  : VC_LADDER_CHOOSE;
}

enum vc_ladder_move vc_ladder_move(const struct vc_rule *rule, const struct vc_ladder *ladder,
	uint32_t at, unsigned input, uint8_t from, uint64_t *set)
{
	int place;

	if (ladder->choice == VC_LADDER_NEVER)
		return VC_LADDER_TABLE;
	if (ladder->halves)
		return from < rule->classes / 2 || vc_rule_ring(rule, at, input) == VC_RULE_NO_RING
			       ? VC_LADDER_VIA
			       : VC_LADDER_TABLE;
	place = place_of(rule, ladder, at, input, from);
	if (ladder->rows)
		return move_in_rows(rule, ladder, at, input, place, set);
	if (place == FROM_HOST || (ladder->again && place < ladder->detour))
		return VC_LADDER_CHOOSE;
	if (place == ladder->detour)
		return VC_LADDER_GLOBAL;
	if (ladder->node && place == ladder->global[0])
		return VC_LADDER_LOCAL;
	return VC_LADDER_TABLE;
}
