/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* From the thesis' future work (section 6.3): three sets with none, few and many ITBs. A set is
 * left for the next when its best route has shown more than the threshold between the two. While
 * one set is used, only the one before it is forgotten and tried again, not those further back:
 * under high load the first set, which saturates the network, stays out of the play. */

#include "route_choice.h"

/* The last set that there is. */
static unsigned last_set(const struct route_choice *choice, uint16_t destination, unsigned count)
{
	unsigned all = 0;

	for (unsigned i = 0; i < count; i++)
		all |= route_choice_sets(choice, destination, i);
	return all == 0 ? 0 : 31 - (unsigned)__builtin_clz(all);
}

static unsigned choose(struct route_choice *choice, const struct route_choice_message *message)
{
	unsigned last = last_set(choice, message->destination, message->count), best = 0;

	for (unsigned set = 0; set <= last; set++) {
		unsigned found = route_choice_least(choice, message, 1u << set);

		if (found == message->count)
			continue;
		best = found;
		if (set < 2 && *route_choice_coefficient(choice, message->destination, best) <=
				       ROUTE_CHOICE_ONE + choice->options.threshold[set])
			break;
	}
	return best;
}

static void learn(struct route_choice *choice, uint16_t destination, unsigned count, unsigned index,
	uint32_t coefficient)
{
	unsigned sets = route_choice_sets(choice, destination, index);
	unsigned lowest = sets == 0 ? 0 : (unsigned)__builtin_ctz(sets);
	unsigned forgotten = lowest == 0 ? ~0u : ~0u << (lowest - 1);
	uint32_t forget = choice->options.forget;

	for (unsigned i = 0; i < count; i++) {
		uint32_t *value = route_choice_coefficient(choice, destination, i);

		if (i == index)
			*value = coefficient;
		else if ((route_choice_sets(choice, destination, i) & forgotten) != 0)
			*value = *value > ROUTE_CHOICE_ONE + forget ? *value - forget
								    : ROUTE_CHOICE_ONE;
	}
}

const struct route_choice_ops route_choice_three_sets = {
	.name = "three-sets", .sets = 3, .learns = true, .choose = choose, .learn = learn};
