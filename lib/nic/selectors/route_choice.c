/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

#include <errno.h>
#include <stdlib.h>

#define STREAM_ROUTE_CHOICE 0x6e01 /* stream of a host's random numbers */
#define FS_PER_PS           1000u

#define X(name) &route_choice_##name,
static const void *const choices[] = {ROUTE_CHOICES(X)};
#undef X

const struct name_table route_choices = WORD_LIST(choices);

struct route_choice_options route_choice_options_default(void)
{
	return (struct route_choice_options){
		.forget = ROUTE_CHOICE_ONE / 10,
		.threshold = {ROUTE_CHOICE_ONE, 2 * ROUTE_CHOICE_ONE},
		.short_bytes = 64,
		.first_set_ppm = 500000,
	};
}

/* Initialises coefficients as for messages without delay, because nothing has been sent yet. */
static int init_coefficients(struct route_choice *choice)
{
	uint32_t count = choice->hosts * choice->options.routes;

	choice->coefficient = malloc(count * sizeof(choice->coefficient[0]));
	if (choice->coefficient == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		choice->coefficient[i] = ROUTE_CHOICE_ONE;
	return 0;
}

int route_choice_init(struct route_choice *choice, const struct route_choice_ops *ops,
	const struct route_choice_options *options, uint64_t seed, uint16_t host, uint32_t hosts)
{
	*choice = (struct route_choice){.ops = ops != NULL ? ops : &route_choice_first,
		.options = *options,
		.hosts = hosts};
	if (choice->options.routes == 0 || choice->options.routes > ROUTE_CHOICE_ROUTES_MAX)
		choice->options.routes = ROUTE_CHOICE_ROUTES_MAX;
	if (options->rate_bps != 0)
		choice->byte_fs = 8 * PS_PER_S * FS_PER_PS / options->rate_bps;
	rng_init(&choice->rng, seed, host, STREAM_ROUTE_CHOICE);
	choice->next = calloc(hosts > 0 ? hosts : 1, sizeof(choice->next[0]));
	if (choice->next != NULL && (!choice->ops->learns || init_coefficients(choice) == 0))
		return 0;
	route_choice_fini(choice);
	return -ENOMEM;
}

void route_choice_fini(struct route_choice *choice)
{
	free(choice->next);
	free(choice->coefficient);
	choice->next = NULL;
	choice->coefficient = NULL;
}

void route_choice_forget(struct route_choice *choice, uint16_t destination)
{
	choice->next[destination] = 0;
	for (unsigned i = 0; choice->coefficient != NULL && i < choice->options.routes; i++)
		*route_choice_coefficient(choice, destination, i) = ROUTE_CHOICE_ONE;
}

/* Returns Cc = rate * (Tend - Tstart) / size, at least 1.0. */
static uint32_t coefficient_of(const struct route_choice *choice, weft_time took_ps, uint32_t bytes)
{
	uint64_t min_fs = bytes * choice->byte_fs, coefficient;

	if (min_fs == 0 || took_ps > UINT64_MAX / (FS_PER_PS * ROUTE_CHOICE_ONE))
		return min_fs == 0 ? ROUTE_CHOICE_ONE : UINT32_MAX;
	coefficient = took_ps * FS_PER_PS * ROUTE_CHOICE_ONE / min_fs;
	if (coefficient < ROUTE_CHOICE_ONE)
		return ROUTE_CHOICE_ONE;
	return coefficient < UINT32_MAX ? (uint32_t)coefficient : UINT32_MAX;
}

void route_choice_sent(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, weft_time start_ps, weft_time end_ps, uint32_t bytes)
{
	weft_time took_ps = end_ps > start_ps ? end_ps - start_ps : 0;

	if (choice->coefficient == NULL || count < 2)
		return;
	choice->ops->learn(
		choice, destination, count, index, coefficient_of(choice, took_ps, bytes));
}

/* Returns the route with the lowest coefficient in 'sets' (bits), the first one if several have it,
 * or 'count' if there is none. */
static unsigned route_choice_min(const struct route_choice *choice,
	const struct route_choice_message *message, unsigned sets)
{
	unsigned best = message->count;

	for (unsigned i = 0; i < message->count; i++) {
		if ((route_choice_sets(choice, message->destination, i) & sets) == 0)
			continue;
		if (best == message->count ||
			*route_choice_coefficient(choice, message->destination, i) <
				*route_choice_coefficient(choice, message->destination, best))
			best = i;
	}
	return best;
}

void route_choice_note(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, uint32_t coefficient)
{
	uint32_t floor = ROUTE_CHOICE_ONE + choice->options.forget;

	for (unsigned i = 0; i < count; i++) {
		uint32_t *value = route_choice_coefficient(choice, destination, i);

		if (i == index)
			*value = coefficient;
		else
			*value =
				*value > floor ? *value - choice->options.forget : ROUTE_CHOICE_ONE;
	}
}

/* --- selectors among all routes --- */

static unsigned first(struct route_choice *choice, const struct route_choice_message *message)
{
	return 0;
}

const struct route_choice_ops route_choice_first = {
	.name = "first", .summary = "the first", .fixed = true, .choose = first};

static unsigned any(struct route_choice *choice, const struct route_choice_message *message)
{
	return (unsigned)rng_below(&choice->rng, message->count);
}

const struct route_choice_ops route_choice_random = {
	.name = "random", .summary = "a random one", .choose = any};

static unsigned next(struct route_choice *choice, const struct route_choice_message *message)
{
	uint8_t *next = &choice->next[message->destination];
	unsigned chosen = *next % message->count;

	*next = (uint8_t)((chosen + 1) % message->count);
	return chosen;
}

const struct route_choice_ops route_choice_round_robin = {
	.name = "round-robin", .summary = "each in turn, for each destination", .choose = next};

/* The thesis' DET (section 2.4, figures 35 and 36): selects the route whose latest message was
 * delayed least. A route's estimate decays while other routes are used. */
static unsigned min(struct route_choice *choice, const struct route_choice_message *message)
{
	return route_choice_min(choice, message, ~0u);
}

const struct route_choice_ops route_choice_contention = {.name = "contention",
	.summary =
		"the one with the smallest coefficient; the first if several are equal. Uses `forget`",
	.learns = true,
	.choose = min,
	.learn = route_choice_note};

/* --- selectors between sets --- */

/* Selectors between route sets that several algorithms computed on the same tree, the set with the
 * fewest ITBs first. */

/* Returns the first route of set 'set'. If it has none, returns the first route of the nearest set
 * before it, or 0. */
static unsigned first_of_set(
	const struct route_choice *choice, const struct route_choice_message *message, unsigned set)
{
	for (unsigned s = set + 1; s-- > 0;)
		for (unsigned i = 0; i < message->count; i++)
			if (route_choice_sets(choice, message->destination, i) >> s & 1)
				return i;
	return 0;
}

/* Returns the first route of the last set that the destination has. */
static unsigned first_of_last_set(
	const struct route_choice *choice, const struct route_choice_message *message)
{
	return first_of_set(choice, message, ROUTE_CHOICE_SETS_MAX - 1);
}

/* The thesis' UD_ITB_ML (section 5.5.1): ITBs delay short messages the most in relative terms, so
 * short messages use the set with few ITBs, and long ones the set with many. */
static unsigned by_length(struct route_choice *choice, const struct route_choice_message *message)
{
	if (message->bytes <= choice->options.short_bytes)
		return first_of_set(choice, message, 0);
	return first_of_last_set(choice, message);
}

const struct route_choice_ops route_choice_message_length = {.name = "message-length",
	.summary =
		"the first set for messages of at most `short` bytes, the last set for longer ones",
	.sets = 2,
	.choose = by_length};

/* The thesis' UD_ITB_50 (section 5.5.2): a share of the messages uses the set without ITBs, the
 * others the set with them. The set is drawn per message, so that no order of destinations can
 * synchronise with it. */
static unsigned by_share(struct route_choice *choice, const struct route_choice_message *message)
{
	if (rng_chance_ppm(&choice->rng, choice->options.first_set_ppm))
		return first_of_set(choice, message, 0);
	return first_of_last_set(choice, message);
}

const struct route_choice_ops route_choice_fraction = {.name = "fraction",
	.summary =
		"the first set for a random share `first-set` of the messages, the last set for the others",
	.sets = 2,
	.choose = by_share};

/* The thesis' UD_ITB_DET1 and DET2 (section 5.5.3): selects the best route of the first set unless
 * its coefficient exceeds 1 + K, otherwise the best of the remaining routes, whatever their
 * coefficients. This is the second of the two variants in the thesis. In the first, K is added to
 * the coefficients of the routes with ITBs. Messages then return to the routes without ITBs as soon
 * as the others are also delayed, which saturates a network of 32 switches at 0.8 of UD_ITB's
 * traffic, while the thesis reaches all of it. */
static unsigned unless_contended(
	struct route_choice *choice, const struct route_choice_message *message)
{
	unsigned first = route_choice_min(choice, message, 1), other;

	if (first != message->count &&
		*route_choice_coefficient(choice, message->destination, first) <=
			ROUTE_CHOICE_ONE + choice->options.threshold[0])
		return first;
	other = route_choice_min(choice, message, ~1u);
	return other != message->count ? other : first;
}

const struct route_choice_ops route_choice_detect = {.name = "detect",
	.summary =
		"the best route of the first set or, if its coefficient is above 1 + `k`, the best of the others. Uses `forget`",
	.sets = 2,
	.learns = true,
	.choose = unless_contended,
	.learn = route_choice_note};

/* From the thesis' future work (section 6.3): an ITB hardly delays a long message, so long messages
 * always use the last set. Short messages use it only if the first set has shown contention. */
static unsigned short_unless_contended(
	struct route_choice *choice, const struct route_choice_message *message)
{
	if (message->bytes > choice->options.short_bytes)
		return first_of_last_set(choice, message);
	return unless_contended(choice, message);
}

const struct route_choice_ops route_choice_detect_short = {.name = "detect-short",
	.summary = "the last set for messages longer than `short`; otherwise as `detect`",
	.sets = 2,
	.learns = true,
	.choose = short_unless_contended,
	.learn = route_choice_note};

/* From the thesis' future work (section 6.3): three sets with no, few and many ITBs. The next set
 * is used when the estimate of a set's best route exceeds the threshold between the two. While a
 * set is used, the estimates of the set before it decay, so that it is tried again. Estimates of
 * earlier sets do not: under high load, the first set, which saturates the network, stays out of
 * use. */

/* Returns the last set that has a route. */
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
		unsigned found = route_choice_min(choice, message, 1u << set);

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
	.summary =
		"the first set whose best coefficient is at most 1 + `k` (for the second set 1 + `k2`), otherwise the third. Uses `forget`",
	.sets = 3,
	.learns = true,
	.choose = first_uncontended_set,
	.learn = learn_from_used_set};
