/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The result of a stand-alone switch. */

#include <errno.h>
#include <inttypes.h>

#include <jansson.h>

#include "port_ethdev.h"
#include "quantity.h"
#include "run_result.h"
#include "standalone.h"

static uint64_t discards(const uint64_t *value)
{
	uint64_t sum = 0;

	for (unsigned i = SWITCH_DISCARD_ROUTING_ERROR; i <= SWITCH_DISCARD_PURGED; i++)
		sum += value[i];
	return sum;
}

static uint64_t refusals(const uint64_t *value)
{
	uint64_t sum = 0;

	for (unsigned i = SWITCH_METRIC_FAULTS; i < SWITCH_METRIC_LINK; i++)
		sum += value[i];
	return sum;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

/* --- JSON --- */

static json_t *time_json(weft_time time)
{
	char text[QUANTITY_TEXT];

	if (time == WEFT_TIME_NEVER)
		return json_string("off");
	quantity_format(QUANTITY_TIME, time, text);
	return json_string(text);
}

static json_t *config_json(const struct switch_options *options)
{
	char buffer[QUANTITY_TEXT];

	quantity_format(QUANTITY_SIZE, options->buffer_bytes, buffer);
	return json_pack("{s:s, s:i, s:s, s:b, s:s, s:s, s:o, s:o, s:i, s:i, s:i}", "name",
		options->name, "vcs", options->vcs, "buffer", buffer, "voq", options->voq, "table",
		options->table != NULL ? options->table : "", "peer",
		options->open_ports == 0            ? "weft"
		: options->open_ports == UINT64_MAX ? "open"
						    : "mixed",
		"hello", time_json(options->hello_ps), "watchdog", time_json(options->watchdog_ps),
		"mtu", (int)options->mtu_bytes, "seed_frames", (int)options->seed_frames,
		"frame_bytes", (int)options->frame_bytes);
}

static json_t *values_json(const struct standalone *standalone, const uint64_t *value)
{
	json_t *object = json_object();

	for (unsigned i = 0; i < switch_metrics_of(standalone->sw->vcs); i++)
		json_object_set_new(
			object, switch_metric_name(i), json_integer((json_int_t)value[i]));
	return object;
}

static json_t *losses_json(const struct port *port)
{
	json_t *object = json_object();
	struct port_losses losses;

	port_losses_read(port, &losses);
#define X(name, text) json_object_set_new(object, #name, json_integer((json_int_t)losses.name));
	PORT_LOSSES(X)
#undef X
	return object;
}

static json_t *port_json(const struct standalone *standalone, unsigned at)
{
	uint64_t value[SWITCH_METRIC_COUNT];

	switch_metrics_read(standalone->ps, at, value);
	return json_pack("{s:s, s:s, s:i, s:o, s:o}", "port", standalone->port[at].name, "device",
		standalone->device[at], "slots", (int)standalone->port[at].slots, "counters",
		values_json(standalone, value), "losses", losses_json(&standalone->port[at]));
}

/* Of all loops: sums, but for the time on the wall. */
static struct standalone_wall wall_sum(const struct standalone *standalone)
{
	struct standalone_wall sum = standalone->wall[0];

	for (unsigned i = 1; i < standalone->options->lcores; i++) {
		const struct standalone_wall *wall = &standalone->wall[i];

		sum.turns += wall->turns;
		sum.idle_turns += wall->idle_turns;
		sum.tsc_cycles += wall->tsc_cycles;
		sum.cpu_seconds += wall->cpu_seconds;
	}
	return sum;
}

static json_t *wall_json(const struct standalone *standalone, const uint64_t *value)
{
	const struct standalone_wall sum = wall_sum(standalone), *wall = &sum;
	double packets = (double)value[SWITCH_DATA_OUT];
	json_t *object = json_pack("{s:i, s:f, s:f, s:f, s:f, s:I, s:I, s:I}", "lcores",
		(int)standalone->options->lcores, "seconds", wall->seconds, "cpu_seconds",
		wall->cpu_seconds, "packets_per_cpu_second", ratio(packets, wall->cpu_seconds),
		"tsc_cycles_per_packet", ratio((double)wall->tsc_cycles, packets), "turns",
		(json_int_t)wall->turns, "idle_turns", (json_int_t)wall->idle_turns, "tsc_hz",
		(json_int_t)standalone->clock.hz);

	if (object != NULL)
		provenance_add(object);
	return object;
}

static struct port_profile profile_sum(const struct standalone *standalone)
{
	struct port_profile sum = {.rx_cycles = 0};

	for (unsigned at = 0; at < standalone->ports; at++) {
		const struct port_profile *profile = &standalone->profile[at];

		sum.rx_cycles += profile->rx_cycles;
		sum.rx_frames += profile->rx_frames;
		sum.rx_bursts += profile->rx_bursts;
		sum.rx_empty_cycles += profile->rx_empty_cycles;
		sum.tx_cycles += profile->tx_cycles;
		sum.tx_frames += profile->tx_frames;
		sum.tx_bursts += profile->tx_bursts;
	}
	return sum;
}

static json_t *profile_json(const struct standalone *standalone, uint64_t data)
{
	struct port_profile sum = profile_sum(standalone);
	double packets = (double)data;
	uint64_t ports = sum.rx_cycles + sum.rx_empty_cycles + sum.tx_cycles;

	return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f}", "receive_cycles_per_packet",
		ratio((double)sum.rx_cycles, packets), "receive_empty_cycles_per_packet",
		ratio((double)sum.rx_empty_cycles, packets), "transmit_cycles_per_packet",
		ratio((double)sum.tx_cycles, packets), "switch_cycles_per_packet",
		ratio((double)(wall_sum(standalone).tsc_cycles - ports), packets), "receive_burst",
		ratio((double)sum.rx_frames, (double)sum.rx_bursts), "transmit_burst",
		ratio((double)sum.tx_frames, (double)sum.tx_bursts));
}

int result_print_json(const struct standalone *standalone, FILE *out)
{
	const char *wrong = standalone_check(standalone);
	json_t *ports = json_array(), *document;
	uint64_t value[SWITCH_METRIC_COUNT];
	int result;

	switch_metrics_sum(standalone->ps, value);
	for (unsigned at = 0; at < standalone->ports; at++)
		json_array_append_new(ports, port_json(standalone, at));
	document = json_pack("{s:s, s:o, s:[{s:s, s:o, s:o, s:I, s:s}], s:o}", "weft",
		"switch-result/1", "config", config_json(standalone->options), "switches", "name",
		standalone->options->name, "counters", values_json(standalone, value), "ports",
		ports, "stored", (json_int_t)standalone_stored(standalone), "check",
		wrong != NULL ? wrong : "ok", "wall", wall_json(standalone, value));
	if (document == NULL)
		return -ENOMEM;
	if (standalone->options->profile)
		json_object_set_new(
			document, "profile", profile_json(standalone, value[SWITCH_DATA_OUT]));
	result = json_dumpf(document, out, JSON_INDENT(2)) == 0 && fputc('\n', out) != EOF &&
				 fflush(out) == 0
			 ? 0
			 : -EIO;
	json_decref(document);
	return result;
}

/* --- for people --- */

static void print_line(FILE *out, const char *name, const uint64_t *value)
{
	fprintf(out,
		"%-10s %15" PRIu64 " %15" PRIu64 " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
		name, value[SWITCH_DATA_IN], value[SWITCH_DATA_OUT], discards(value),
		refusals(value), value[SWITCH_STALL_CREDIT]);
}

/* Prints the reasons of losses that occurred, with their counts. */
static void print_reasons(FILE *out, const uint64_t *value)
{
	for (unsigned i = SWITCH_DISCARD_ROUTING_ERROR; i < SWITCH_METRIC_COUNT; i++) {
		bool loss = i <= SWITCH_CONTROL_DISCARD_DOWN ||
			    (i >= SWITCH_METRIC_FAULTS && i < SWITCH_METRIC_LINK) ||
			    i == SWITCH_METRIC_CONTROL_BAD || i == SWITCH_METRIC_NO_MBUF;

		if (loss && value[i] != 0)
			fprintf(out, "%s: %" PRIu64 "\n", switch_metric_name(i), value[i]);
	}
}

static void print_profile(FILE *out, const struct standalone *standalone, uint64_t data)
{
	struct port_profile sum = profile_sum(standalone);
	uint64_t ports = sum.rx_cycles + sum.rx_empty_cycles + sum.tx_cycles;
	double packets = (double)data;

	fprintf(out,
		"cycles per packet: receive (PMD) %.1f, empty polls %.1f, check and switch "
		"%.1f, transmit (PMD) %.1f\n",
		ratio((double)sum.rx_cycles, packets), ratio((double)sum.rx_empty_cycles, packets),
		ratio((double)(wall_sum(standalone).tsc_cycles - ports), packets),
		ratio((double)sum.tx_cycles, packets));
}

void result_print(const struct standalone *standalone, FILE *out)
{
	const struct standalone_wall sum = wall_sum(standalone), *wall = &sum;
	uint64_t value[SWITCH_METRIC_COUNT];
	double packets;

	fprintf(out, "%-10s %15s %15s %12s %12s %12s\n", "port", "data in", "data out", "discarded",
		"refused", "stalls");
	for (unsigned at = 0; at < standalone->ports; at++) {
		switch_metrics_read(standalone->ps, at, value);
		print_line(out, standalone->port[at].name, value);
	}
	switch_metrics_sum(standalone->ps, value);
	print_line(out, "total", value);
	print_reasons(out, value);
	packets = (double)value[SWITCH_DATA_OUT];
	fprintf(out,
		"%.3f s, %.3f s of CPU: %.3f million packets per CPU-second, %.1f cycles per "
		"packet; stored now: %" PRIu64 "\n",
		wall->seconds, wall->cpu_seconds, ratio(packets, wall->cpu_seconds) / 1e6,
		ratio((double)wall->tsc_cycles, packets), standalone_stored(standalone));
	if (standalone->options->profile)
		print_profile(out, standalone, value[SWITCH_DATA_OUT]);
}
