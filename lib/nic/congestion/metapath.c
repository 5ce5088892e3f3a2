/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "metapath.h"

#define WEIGHT_ONE (UINT64_C(1) << 32)

void metapath_rules_default(struct metapath_rules *rules)
{
	*rules = (struct metapath_rules){.high = 3 * METAPATH_ONE,
		.low = 3 * METAPATH_ONE / 2,
		.close_gap_ns = 200000,
		.smoothing = 1};
}

/* A latency below 2 ns would make the weight overflow. */
static void set_latency(struct metapath *path, unsigned which, uint64_t latency_ns)
{
	if (latency_ns < 2)
		latency_ns = 2;
	if (latency_ns > UINT32_MAX)
		latency_ns = UINT32_MAX;
	path->latency_ns[which] = (uint32_t)latency_ns;
	path->weight[which] = (uint32_t)(WEIGHT_ONE / latency_ns);
}

void metapath_init(struct metapath *path, unsigned count, const uint32_t *zero_ns)
{
	*path = (struct metapath){.count = (uint8_t)count, .open = 1};
	for (unsigned i = 0; i < count; i++)
		path->zero_ns[i] = zero_ns[i];
	set_latency(path, 0, zero_ns[0]);
}

static uint64_t total_weight(const struct metapath *path)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < path->open; i++)
		total += path->weight[i];
	return total;
}

uint64_t metapath_latency(const struct metapath *path, const struct metapath_rules *rules)
{
	return (rules->mean ? path->open : 1) * WEIGHT_ONE / total_weight(path);
}

enum metapath_zone metapath_zone(const struct metapath *path, const struct metapath_rules *rules)
{
	uint64_t latency = metapath_latency(path, rules) * METAPATH_ONE, zero = path->zero_ns[0];

	if (latency > zero * rules->high)
		return METAPATH_HIGH;
	return latency < zero * rules->low ? METAPATH_LOW : METAPATH_MIDDLE;
}

void metapath_measure(struct metapath *path, const struct metapath_rules *rules, unsigned which,
	uint32_t waiting_ns, uint64_t now_ns)
{
	uint64_t value;
	uint16_t bit = (uint16_t)(1u << which);

	path->heard_ns = now_ns;
	if (which >= path->open)
		return;
	value = (uint64_t)path->zero_ns[which] + waiting_ns;
	if (rules->smoothing > 1 && (path->measured & bit) != 0)
		value = ((uint64_t)path->latency_ns[which] * (rules->smoothing - 1) + value) /
			rules->smoothing;
	path->measured |= bit;
	set_latency(path, which, value);
}

static uint64_t first_latency(const struct metapath *path, const struct metapath_rules *rules)
{
	uint64_t zero = path->zero_ns[path->open], sum = 0;

	if (rules->new_zero)
		return zero;
	for (unsigned i = 0; i < path->open; i++)
		sum += path->latency_ns[i];
	return sum / path->open > zero ? sum / path->open : zero;
}

bool metapath_open_next(struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns)
{
	if (path->open == path->count || now_ns < path->open_from_ns)
		return false;
	set_latency(path, path->open, first_latency(path, rules));
	path->open++;
	path->open_from_ns = now_ns + rules->open_gap_ns;
	path->close_from_ns = now_ns + rules->close_gap_ns;
	return true;
}

static void close_last(struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns)
{
	path->open--;
	path->measured &= (uint16_t) ~(1u << path->open);
	path->close_from_ns = now_ns + rules->close_gap_ns;
}

bool metapath_close_last(struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns)
{
	if (path->open == 1 || now_ns < path->close_from_ns)
		return false;
	close_last(path, rules, now_ns);
	return true;
}

int metapath_on_notification(struct metapath *path, const struct metapath_rules *rules,
	unsigned which, uint32_t waiting_ns, uint64_t now_ns)
{
	metapath_measure(path, rules, which, waiting_ns, now_ns);
	switch (metapath_zone(path, rules)) {
	case METAPATH_HIGH:
		return metapath_open_next(path, rules, now_ns);
	case METAPATH_LOW:
		return -(int)metapath_close_last(path, rules, now_ns);
	case METAPATH_MIDDLE:
		break;
	}
	return 0;
}

void metapath_replace(struct metapath *path, const struct metapath_rules *rules, unsigned open,
	const uint32_t *latency_ns, uint64_t now_ns)
{
	for (unsigned i = 0; i < open; i++)
		set_latency(path, i, latency_ns[i]);
	path->open = (uint8_t)open;
	path->measured &= (uint16_t)((1u << open) - 1);
	path->open_from_ns = now_ns + rules->open_gap_ns;
	path->close_from_ns = now_ns + rules->close_gap_ns;
}

unsigned metapath_close_idle(
	struct metapath *path, const struct metapath_rules *rules, uint64_t now_ns)
{
	unsigned closed = 0;

	if (rules->idle_ns == 0)
		return 0;
	while (path->open > 1 && now_ns >= path->heard_ns + rules->idle_ns) {
		path->heard_ns += rules->idle_ns;
		close_last(path, rules, path->heard_ns);
		closed++;
	}
	return closed;
}

unsigned metapath_choose(const struct metapath *path, struct rng *rng)
{
	uint64_t drawn;

	if (path->open == 1)
		return 0;
	drawn = rng_below(rng, total_weight(path));
	for (unsigned i = 0; i + 1u < path->open; i++) {
		if (drawn < path->weight[i])
			return i;
		drawn -= path->weight[i];
	}
	return path->open - 1u;
}
