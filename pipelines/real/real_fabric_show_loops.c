/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The poll loops of a process on telemetry: for how long they were away. */

#include "real_fabric_rest.h"
#include "real_private.h"

#define LOOP_METRICS(X)                                                                     \
	X(AWAY, "loop_away_ns", away_ns(shown)) /* gauge */                                 \
	X(ABSENT, "loop_absent_ns",                                                         \
		loop_presence_load(&shown->fabric->worker[shown->number].presence.absent) / \
			PS_PER_NS)

enum loop_metric {
#define X(id, text, value) LOOP_METRIC_##id,
	LOOP_METRICS(X)
#undef X
		LOOP_METRIC_COUNT
};

static uint64_t away_ns(const struct real_shown_loop *shown)
{
	return real_rest_away(
		       &shown->fabric->worker[shown->number], clock_now(&shown->fabric->clock)) /
	       PS_PER_NS;
}

static void read_loop(const void *ctx, uint64_t *value)
{
	const struct real_shown_loop *shown = ctx;

#define X(id, text, expression) value[LOOP_METRIC_##id] = (expression);
	LOOP_METRICS(X)
#undef X
}

int real_show_loops(struct real_fabric *fabric, struct fault *fault)
{
	static const char *const name[LOOP_METRIC_COUNT] = {
#define X(id, text, value) [LOOP_METRIC_##id] = text,
		LOOP_METRICS(X)
#undef X
	};
	int result = 0;

	for (unsigned i = 0; i < fabric->loops && result == 0; i++) {
		struct real_shown_loop *shown = &fabric->shown_loop[i];
		struct telemetry_device device = {
			.class = TELEMETRY_LOOP,
			.name = shown->name,
			.counter = name,
			.counters = LOOP_METRIC_COUNT,
			.snapshot = read_loop,
			.ctx = shown,
		};

		shown->fabric = fabric;
		shown->number = i;
		snprintf(shown->name, sizeof(shown->name), "%u", i);
		result = telemetry_add_device(fabric->telemetry, &device, fault);
	}
	return result;
}
