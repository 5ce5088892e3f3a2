/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "switch_metrics.h"

#include <string.h>

const char *switch_metric_name(unsigned metric)
{
	static const char *const fault[FRAME_FAULT_COUNT] = {
#define X(id, name) [FRAME_FAULT_##id] = "bad_" name,
		FRAME_FAULTS(X)
#undef X
	};
	static const char *const vc[FRAME_VCS_MAX] = {"stored_blocks_vc0", "stored_blocks_vc1",
		"stored_blocks_vc2", "stored_blocks_vc3", "stored_blocks_vc4", "stored_blocks_vc5",
		"stored_blocks_vc6", "stored_blocks_vc7", "stored_blocks_vc8", "stored_blocks_vc9",
		"stored_blocks_vc10", "stored_blocks_vc11", "stored_blocks_vc12",
		"stored_blocks_vc13", "stored_blocks_vc14", "stored_blocks_vc15"};
	static const char *const link[] = {
#define X(id, name, value) [SWITCH_METRIC_##id - SWITCH_METRIC_LINK] = name,
		SWITCH_METRICS_LINK(X)
#undef X
	};

	if (metric >= SWITCH_METRIC_COUNT)
		return NULL;
	if (metric >= SWITCH_METRIC_VCS)
		return vc[metric - SWITCH_METRIC_VCS];
	if (metric >= SWITCH_METRIC_LINK)
		return link[metric - SWITCH_METRIC_LINK];
	if (metric >= SWITCH_METRIC_FAULTS)
		return fault[metric - SWITCH_METRIC_FAULTS + FRAME_FAULT_SHORT];
	return switch_counter_name(metric);
}

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static uint32_t stored_blocks(const struct link_end *link)
{
	uint32_t blocks = 0;

	for (unsigned vc = 0; vc < link->config.vcs; vc++)
		blocks += credit_stored(&link->rx[vc]);
	return blocks;
}

/* Adds what other shards count for this port, such as discards of packets from its input. */
static uint64_t counter(const struct poll_switch *ps, unsigned at, unsigned i)
{
	uint64_t value = load(&ps->sw->port[at].count[i]);

	for (unsigned shard = 0; ps->shard != NULL && shard < ps->shard->division->shards; shard++)
		if (ps->shards[shard] != ps)
			value += load(&ps->shards[shard]->sw->port[at].count[i]);
	return value;
}

void switch_metrics_read(
	const struct poll_switch *ps, unsigned at, uint64_t value[SWITCH_METRIC_COUNT])
{
	const struct link_end *link;

	ps = poll_switch_owner(ps, at);
	link = &ps->sw->port[at].link;
	memset(value, 0, SWITCH_METRIC_COUNT * sizeof(value[0]));
	if (ps->port[at].port == NULL)
		return;
	for (unsigned i = 0; i < SWITCH_COUNTER_COUNT; i++)
		value[i] = counter(ps, at, i);
	for (unsigned i = FRAME_FAULT_SHORT; i < FRAME_FAULT_COUNT; i++)
		value[SWITCH_METRIC_FAULTS + i - FRAME_FAULT_SHORT] = load(&ps->port[at].faults[i]);
#define X(id, name, expression) value[SWITCH_METRIC_##id] = (expression);
	SWITCH_METRICS_LINK(X)
#undef X
	for (unsigned vc = 0; vc < link->config.vcs; vc++)
		value[SWITCH_METRIC_VCS + vc] = credit_stored(&link->rx[vc]);
}

void switch_metrics_sum(const struct poll_switch *ps, uint64_t value[SWITCH_METRIC_COUNT])
{
	uint64_t of_port[SWITCH_METRIC_COUNT];

	memset(value, 0, SWITCH_METRIC_COUNT * sizeof(value[0]));
	for (unsigned at = 0; at < ps->ports; at++) {
		switch_metrics_read(ps, at, of_port);
		for (unsigned i = 0; i < SWITCH_METRIC_COUNT; i++)
			value[i] += of_port[i];
	}
}

/* --- telemetry --- */

static void snapshot_port(const void *ctx, uint64_t *value)
{
	const struct switch_metrics_port *port = ctx;

	switch_metrics_read(port->ps, port->at, value);
}

static void snapshot_switch(const void *ctx, uint64_t *value)
{
	switch_metrics_sum(ctx, value);
}

int switch_metrics_show(struct switch_metrics_shown *shown, struct telemetry *telemetry,
	const char *name, const struct poll_switch *ps, struct error *error)
{
	struct telemetry_device device = {
		.class = TELEMETRY_SWITCH,
		.name = name,
		.counter = shown->metric,
		.counters = switch_metrics_of(ps->sw->vcs),
		.snapshot = snapshot_switch,
		.ctx = ps,
	};
	int result;

	for (unsigned i = 0; i < SWITCH_METRIC_COUNT; i++)
		shown->metric[i] = switch_metric_name(i);
	result = telemetry_add_device(telemetry, &device, error);
	device.class = TELEMETRY_PORT;
	device.snapshot = snapshot_port;
	for (unsigned at = 0; at < ps->ports && result == 0; at++) {
		if (poll_switch_owner(ps, at)->port[at].port == NULL)
			continue;
		shown->port[at].ps = ps;
		shown->port[at].at = at;
		device.name = poll_switch_owner(ps, at)->port[at].port->name;
		device.ctx = &shown->port[at];
		result = telemetry_add_device(telemetry, &device, error);
	}
	return result;
}

/* --- congestion metrics --- */

struct reader {
	const char **name; /* NULL: names are not needed */
	uint64_t *value;   /* NULL: values are not needed */
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
	const char *name, const struct congestion_control *congestion, struct error *error)
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
	return telemetry_add_device(telemetry, &device, error);
}
