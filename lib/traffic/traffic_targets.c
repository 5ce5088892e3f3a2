/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Patterns that draw the destination of each message from a list: all hosts, hot spots, or
 * neighbours. */

#include <stdlib.h>

#include "traffic_pattern.h"

struct targets {
	uint32_t count;
	uint32_t elsewhere_ppm; /* hot spots: share of the messages that go to any host */
	uint16_t target[];      /* excludes the sender */
};

static uint16_t draw_of(const struct targets *targets, struct rng *rng)
{
	return targets->target[rng_below(rng, targets->count)];
}

/* Copies the list, without the sender, to '*state'. 'what' is its name in error messages. */
static int keep(void **state, const struct traffic_config *config, const uint16_t *list,
	uint32_t count, const char *what, struct error *error)
{
	struct targets *made = malloc(sizeof(*made) + (size_t)count * sizeof(made->target[0]));

	if (made == NULL)
		return error_set(error, ENOMEM, "not enough memory for a list of %ss", what);
	made->count = 0;
	made->elsewhere_ppm = traffic_elsewhere_ppm(config);
	for (uint32_t i = 0; i < count; i++) {
		if (list[i] >= config->hosts) {
			free(made);
			return error_set(error, EINVAL, "%s %u does not exist; there are %u hosts",
				what, list[i], config->hosts);
		}
		if (list[i] != config->host)
			made->target[made->count++] = list[i];
	}
	*state = made;
	return 0;
}

/* Returns false if the list contains no host except the sender. */
static bool has_targets(const void *state, const struct traffic_config *config)
{
	return state == NULL || ((const struct targets *)state)->count > 0;
}

static uint16_t draw_target(void *state, const struct traffic_config *config, struct rng *rng)
{
	return draw_of(state, rng);
}

/* Uniform: each message goes to any other host or any target, with equal probability. */

static int init_uniform(void **state, const struct traffic_config *config, struct error *error)
{
	if (config->hosts < 2)
		return error_set(
			error, EINVAL, "%s traffic needs at least 2 hosts", config->pattern->name);
	if (config->targets_count == 0)
		return 0;
	return keep(state, config, config->targets, config->targets_count, "target", error);
}

static uint16_t draw_uniform(void *state, const struct traffic_config *config, struct rng *rng)
{
	return state == NULL ? traffic_draw_other(config, rng) : draw_of(state, rng);
}

#define UNIFORM_PATTERN(name_text, text, bursts)                                    \
	{                                                                           \
		.name = name_text, .summary = text, .keys = TRAFFIC_PEERS,          \
		.all_without_targets = true, .to_suffices = true, .bursty = bursts, \
		.init = init_uniform, .fini = free, .sends = has_targets,           \
		.destination = draw_uniform                                         \
	}

const struct traffic_pattern traffic_uniform =
	UNIFORM_PATTERN("uniform", "any of `to`, all equally likely", false);
const struct traffic_pattern traffic_bursty =
	UNIFORM_PATTERN("bursty", "as `uniform`, with `arrivals: bursty`", true);

/* Hot spots: all messages, or a share of them, go to one of a list of hosts with equal probability,
 * and the rest to any host (the thesis, 4.5). A listed host does not send to itself. If it is the
 * only listed host, its share also goes to any host. */

static int init_hotspot(void **state, const struct traffic_config *config, struct error *error)
{
	if (config->targets_count == 0)
		return error_set(error, EINVAL, "%s traffic needs at least one target",
			config->pattern->name);
	if (traffic_elsewhere_ppm(config) > 0 && config->hosts < 2)
		return error_set(error, EINVAL, "hotspot traffic needs at least 2 hosts");
	return keep(state, config, config->targets, config->targets_count, "hotspot target", error);
}

static bool hotspot_sends(const void *state, const struct traffic_config *config)
{
	return has_targets(state, config) || traffic_elsewhere_ppm(config) > 0;
}

static uint16_t draw_hotspot(void *state, const struct traffic_config *config, struct rng *rng)
{
	const struct targets *targets = state;

	if (targets->elsewhere_ppm > 0 &&
		(targets->count == 0 || rng_chance_ppm(rng, targets->elsewhere_ppm)))
		return traffic_draw_other(config, rng);
	return draw_of(targets, rng);
}

const struct traffic_pattern traffic_hotspot = {.name = "hotspot",
	.summary =
		"one of `to`, all equally likely; with `share: 10%` only this share goes there, the rest to any host",
	.keys = TRAFFIC_PEERS | TRAFFIC_SHARE,
	.spots = true,
	.to_suffices = true,
	.init = init_hotspot,
	.fini = free,
	.sends = hotspot_sends,
	.destination = draw_hotspot};

/* Local: each message goes to a host near the sender, with equal probability (the thesis, 4.5). The
 * caller, which has the topology, lists them. A host without near hosts sends nothing. */

static int init_local(void **state, const struct traffic_config *config, struct error *error)
{
	return keep(state, config, config->near, config->near_count, "near host", error);
}

const struct traffic_pattern traffic_local = {.name = "local",
	.summary =
		"any of `to` whose switch is at most `switches` links between switches away; 0: those on the same switch",
	.keys = TRAFFIC_PEERS | TRAFFIC_SWITCHES,
	.near = true,
	.init = init_local,
	.fini = free,
	.sends = has_targets,
	.destination = draw_target};
