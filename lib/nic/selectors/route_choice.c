/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "route_choice.h"

#include <errno.h>
#include <stdlib.h>

#define STREAM_ROUTE_CHOICE 0x6e01 /* of a host's random numbers */
#define FS_PER_PS           1000u

#define X(name) &route_choice_##name,
static const void *const choices[] = {ROUTE_CHOICES(X)};
#undef X

const struct word_list route_choices = WORD_LIST(choices);

struct route_choice_options route_choice_options_default(void)
{
	return (struct route_choice_options){
		.forget = ROUTE_CHOICE_ONE / 10,
		.threshold = {ROUTE_CHOICE_ONE, 2 * ROUTE_CHOICE_ONE},
		.short_bytes = 64,
		.first_set_ppm = 500000,
	};
}

/* Nothing has been sent, nothing was held back. */
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

/* Cc = rate * (Tend - Tstart) / size, from 1.0 to the greatest number there is. */
static uint32_t coefficient_of(const struct route_choice *choice, weft_time took_ps, uint32_t bytes)
{
	uint64_t least_fs = bytes * choice->byte_fs, coefficient;

	if (least_fs == 0 || took_ps > UINT64_MAX / (FS_PER_PS * ROUTE_CHOICE_ONE))
		return least_fs == 0 ? ROUTE_CHOICE_ONE : UINT32_MAX;
	coefficient = took_ps * FS_PER_PS * ROUTE_CHOICE_ONE / least_fs;
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

unsigned route_choice_least(const struct route_choice *choice,
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
