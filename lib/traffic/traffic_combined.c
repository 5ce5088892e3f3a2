/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Each message follows one of four patterns with equal probability: uniform, local, hotspot,
 * bit-reversal (the thesis' combined pattern, 4.5). If one of them sends nothing (a palindromic
 * number, no near host), the others share its messages; the thesis does not specify this case. */

#include <stdlib.h>

#include "traffic_pattern.h"

static const struct traffic_pattern *const parts[] = {
	&traffic_uniform, &traffic_local, &traffic_hotspot, &traffic_bit_reversal};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

struct combined {
	void *state[PARTS];
	uint8_t active[PARTS]; /* indices of the parts that send */
	unsigned count;
};

static void fini(void *state)
{
	struct combined *combined = state;

	for (unsigned i = 0; i < PARTS; i++)
		traffic_pattern_fini(parts[i], combined->state[i]);
	free(combined);
}

static int init(void **state, const struct traffic_config *config, struct error *error)
{
	struct combined *combined = calloc(1, sizeof(*combined));
	int result = 0;

	if (combined == NULL)
		return error_set(error, ENOMEM, "not enough memory for combined traffic");
	for (unsigned i = 0; i < PARTS && result == 0; i++) {
		struct traffic_config part = *config;

		/* The uniform part sends to any host, including hot spots. */
		if (parts[i] == &traffic_uniform)
			part.targets_count = 0;
		result = traffic_pattern_init(parts[i], &combined->state[i], &part, error);
		if (result == 0 && traffic_pattern_sends(parts[i], combined->state[i], config))
			combined->active[combined->count++] = (uint8_t)i;
	}
	if (result < 0)
		fini(combined);
	else
		*state = combined;
	return result;
}

static uint16_t destination(void *state, const struct traffic_config *config, struct rng *rng)
{
	struct combined *combined = state;
	unsigned part = combined->active[rng_below(rng, combined->count)];

	return parts[part]->destination(combined->state[part], config, rng);
}

const struct traffic_pattern traffic_combined = {.name = "combined",
	.summary =
		"as `uniform`, `local`, `hotspot` (`to`, `share`) or `bit-reversal`, drawn for each message, a quarter each",
	.keys = TRAFFIC_PEERS | TRAFFIC_SHARE | TRAFFIC_SWITCHES,
	.anywhere = true,
	.near = true,
	.spots = true,
	.init = init,
	.fini = fini,
	.destination = destination};
