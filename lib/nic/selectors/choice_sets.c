/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Selectors between route sets that several algorithms computed on the same tree, the set with the
 * fewest ITBs first. */

#include "route_choice.h"

/* The first route of set 'set'; of the set before it if there is none, and so on; at last 0. */
static unsigned first_of_set(
	const struct route_choice *choice, const struct route_choice_message *message, unsigned set)
{
	for (unsigned s = set + 1; s-- > 0;)
		for (unsigned i = 0; i < message->count; i++)
			if (route_choice_sets(choice, message->destination, i) >> s & 1)
				return i;
	return 0;
}

/* The first route of the last set that the destination has. */
static unsigned first_of_last_set(
	const struct route_choice *choice, const struct route_choice_message *message)
{
	return first_of_set(choice, message, ROUTE_CHOICE_SETS_MAX - 1);
}

/* The thesis' UD_ITB_ML (section 5.5.1): an ITB costs a short message most, so short messages take
 * the set with few of them, and long ones the set with many. */
static unsigned by_length(struct route_choice *choice, const struct route_choice_message *message)
{
	if (message->bytes <= choice->options.short_bytes)
		return first_of_set(choice, message, 0);
	return first_of_last_set(choice, message);
}

const struct route_choice_ops route_choice_message_length = {
	.name = "message-length", .sets = 2, .choose = by_length};

/* The thesis' UD_ITB_50 (section 5.5.2): a share of the messages takes the set without ITBs, the
 * others the one with them. Drawn for each message, so that no order of destinations can fall into
 * step with it. */
static unsigned by_share(struct route_choice *choice, const struct route_choice_message *message)
{
	if (rng_chance_ppm(&choice->rng, choice->options.first_set_ppm))
		return first_of_set(choice, message, 0);
	return first_of_last_set(choice, message);
}

const struct route_choice_ops route_choice_fraction = {
	.name = "fraction", .sets = 2, .choose = by_share};

/* The thesis' UD_ITB_DET1 and DET2 (section 5.5.3): the best route of the first set unless its
 * coefficient is above 1 + K, then the best of the others, whatever those have shown themselves.
 * The thesis describes it in two ways, this is the second; by the first, K is added to what the
 * routes with ITBs have shown. That sends messages back to the routes without as soon as the others
 * are held back, too, which saturates a network of 32 switches at 0.8 of UD_ITB's traffic, where
 * the thesis has all of it. */
static unsigned unless_contended(
	struct route_choice *choice, const struct route_choice_message *message)
{
	unsigned first = route_choice_least(choice, message, 1), other;

	if (first != message->count &&
		*route_choice_coefficient(choice, message->destination, first) <=
			ROUTE_CHOICE_ONE + choice->options.threshold[0])
		return first;
	other = route_choice_least(choice, message, ~1u);
	return other != message->count ? other : first;
}

const struct route_choice_ops route_choice_detect = {.name = "detect",
	.sets = 2,
	.learns = true,
	.choose = unless_contended,
	.learn = route_choice_note};

/* From the thesis' future work (section 6.3): an ITB hardly delays a long message, so it always
 * takes the last set; a short one only when the first has shown contention. */
static unsigned short_unless_contended(
	struct route_choice *choice, const struct route_choice_message *message)
{
	if (message->bytes > choice->options.short_bytes)
		return first_of_last_set(choice, message);
	return unless_contended(choice, message);
}

const struct route_choice_ops route_choice_detect_short = {.name = "detect-short",
	.sets = 2,
	.learns = true,
	.choose = short_unless_contended,
	.learn = route_choice_note};

/* From the thesis' future work (section 6.3): three sets with none, few and many ITBs. A set is
 * left for the next when its best route has shown more than the threshold between the two. While
 * one set is used, only the one before it is forgotten and tried again, not those further back:
 * under high load the first set, which saturates the network, stays out of use. */

/* The last set that there is. */
static unsigned last_set(const struct route_choice *choice, uint16_t destination, unsigned count)
{
	unsigned all = 0;

	for (unsigned i = 0; i < count; i++)
		all |= route_choice_sets(choice, destination, i);
	return all == 0 ? 0 : 31 - (unsigned)__builtin_clz(all);
}

static unsigned first_uncontended_set(
	struct route_choice *choice, const struct route_choice_message *message)
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

static void learn_from_used_set(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, uint32_t coefficient)
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

const struct route_choice_ops route_choice_three_sets = {.name = "three-sets",
	.sets = 3,
	.learns = true,
	.choose = first_uncontended_set,
	.learn = learn_from_used_set};
