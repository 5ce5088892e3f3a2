/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "congestion_metrics.h"

struct reader {
	const char **name; /* NULL: not wanted */
	uint64_t *value;   /* likewise */
	unsigned count;
};

static void take(void *ctx, const char *name, uint64_t value)
{
	struct reader *reader = ctx;

	if (reader->count == CONGESTION_METRICS_MAX)
		return;
	if (reader->name != NULL)
		reader->name[reader->count] = name;
	if (reader->value != NULL)
		reader->value[reader->count] = value;
	reader->count++;
}

static unsigned outputs_in(
	const struct congestion_detector *detector, enum congestion_detector_state state)
{
	unsigned outputs = 0;

	for (unsigned at = 0; at < detector->config.ports; at++)
		outputs += detector->output[at].state == state;
	return outputs;
}

static void read_all(const struct congestion_control *congestion, struct reader *reader)
{
	const struct congestion_detector *detector = congestion->detector;

	congestion_control_counters(congestion, take, reader);
	if (detector == NULL)
		return;
	take(reader, "roots_now", outputs_in(detector, CONGESTION_ROOT));
	take(reader, "suspects_now", outputs_in(detector, CONGESTION_SUSPECT));
	take(reader, "branches_now", outputs_in(detector, CONGESTION_BRANCH));
	take(reader, "arn_entries_now", congestion->table->count);
}

static void snapshot(const void *ctx, uint64_t *value)
{
	const struct congestion_metrics *metrics = ctx;
	struct reader reader = {.value = value};

	read_all(metrics->congestion, &reader);
}

int congestion_metrics_show(struct congestion_metrics *metrics, struct telemetry *telemetry,
	const char *name, const struct congestion_control *congestion, struct fault *fault)
{
	struct telemetry_device device = {.class = TELEMETRY_CONGESTION,
		.name = name,
		.counter = metrics->name,
		.snapshot = snapshot,
		.ctx = metrics};
	struct reader reader = {.name = metrics->name};

	metrics->congestion = congestion;
	read_all(congestion, &reader);
	device.counters = reader.count;
	return telemetry_add_device(telemetry, &device, fault);
}
