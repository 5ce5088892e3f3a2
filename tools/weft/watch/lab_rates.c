/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_collect.h"

#include <stdlib.h>
#include <string.h>

#include "lab/lab_mapping.h"
#include "lab/lab_query.h"
#include "metrics_text.h"
#include "wire/frame.h"

struct rates {
	const struct lab *lab;
	const json_t *before, *now;
	double seconds;                 /* in the lab's time */
	json_t *ends_before, *ends_now; /* ends of links, by port */
};

/* --- counters --- */

static double counter(const json_t *all, const char *class, const char *device, const char *name)
{
	const json_t *devices = json_object_get(all, class);

	return (double)json_integer_value(json_object_get(json_object_get(devices, device), name));
}

static bool is_known(const struct rates *rates, const char *class, const char *device)
{
	return json_object_get(json_object_get(rates->now, class), device) != NULL;
}

/* Returns the growth per second; 0 for a restarted process, for which it is unknown. */
static double per_second(
	const struct rates *rates, const char *class, const char *device, const char *name)
{
	double now = counter(rates->now, class, device, name);
	double before = counter(rates->before, class, device, name);

	return now > before ? (now - before) / rates->seconds : 0;
}

/* 'of_link': counts frames that arrived over the link, not frames from programs. */
static bool is_drop(const char *name, bool of_link)
{
	static const char *const prefix[] = {
		"discard_", "control_discard_", "bad_", "device_rx_", "tap_drop_"};
	const unsigned count = sizeof(prefix) / sizeof(prefix[0]) - of_link;
	const struct counter_info *info = counter_info_find(name);

	for (unsigned i = 0; i < count; i++)
		if (strncmp(name, prefix[i], strlen(prefix[i])) == 0)
			return info != NULL && info->good_is_zero;
	return false;
}

static double drops_per_second(
	const struct rates *rates, const char *class, const char *device, bool of_link)
{
	json_t *counters = json_object_get(json_object_get(rates->now, class), device), *value;
	const char *name;
	double sum = 0;

	json_object_foreach(counters, name, value) {
		if (is_drop(name, of_link))
			sum += per_second(rates, class, device, name);
	}
	return sum;
}

/* Returns the growth of the losses that the device at this end of a link counts. */
static double device_drops_per_second(const struct rates *rates, const char *port)
{
	const json_t *before = json_object_get(rates->ends_before, port);
	json_t *now = json_object_get(rates->ends_now, port), *value;
	const char *name;
	double sum = 0;

	json_object_foreach(now, name, value) {
		json_int_t grown = json_integer_value(value) -
				   json_integer_value(json_object_get(before, name));

		if (strncmp(name, "device_rx_", 10) == 0 && is_drop(name, true) && grown > 0)
			sum += (double)grown / rates->seconds;
	}
	return sum;
}

/* --- links --- */

struct way {
	const struct rates *rates;
	const char *from, *to;            /* ports */
	char sender[TOPOLOGY_NAME_MAX];   /* a host, or "" */
	char receiver[TOPOLOGY_NAME_MAX]; /* likewise */
	double capacity;                  /* bits per second; 0: unknown */
};

/* Finds the name of the host at the port; "" if the port belongs to a switch. */
static void host_at(const struct topology *topology, const char *port, char *host, size_t size)
{
	struct topology_port at;

	host[0] = '\0';
	if (topology_find_port(topology, port, &at) == 0 && at.kind == DEVICE_HOST)
		snprintf(host, size, "%s", topology_device_name(topology, at));
}

static struct way way_of(const struct rates *rates, const json_t *link)
{
	const struct topology *topology = rates->lab->topology;
	struct way way = {
		.rates = rates, .from = lab_text(link, "port"), .to = lab_text(link, "peer")};
	const struct topology_link *wire = NULL;
	struct topology_port port;

	host_at(topology, way.from, way.sender, sizeof(way.sender));
	host_at(topology, way.to, way.receiver, sizeof(way.receiver));
	if (topology_find_port(topology, way.from, &port) == 0)
		wire = topology_link_at(topology, port);
	/* The current rate, which 'weft lab set' may have changed. */
	way.capacity = json_value_of(link, "paced_bps");
	if (way.capacity == 0 && wire != NULL)
		way.capacity = (double)wire->rate_bps;
	return way;
}

/* Returns the rate of data and control frames, including the wire overhead of data frames. A host
 * does not count frame bytes; the switch at the other end does. If that switch is on another
 * machine, the bytes of routes are missing. */
static double rate_bps(const struct way *way)
{
	const struct rates *rates = way->rates;
	bool out = is_known(rates, "ports", way->from);
	const char *port = out ? way->from : way->to;
	double bytes = per_second(rates, "ports", port, out ? "bytes_out" : "bytes_in");
	double frames = per_second(rates, "ports", port, out ? "data_out" : "data_in");

	if (out || is_known(rates, "ports", way->to))
		return 8 * (bytes + frames * FRAME_WIRE_OVERHEAD);
	bytes = per_second(rates, "nics", way->sender, "bytes_injected") +
		per_second(rates, "nics", way->sender, "bytes_retransmitted");
	frames = per_second(rates, "nics", way->sender, "frames_injected") +
		 per_second(rates, "nics", way->sender, "frames_retransmitted");
	return 8 * (bytes + frames * (FRAME_HEADER_BYTES + FRAME_WIRE_OVERHEAD));
}

/* Returns the fill level of the fullest VC in the buffer at the far end. */
static json_t *vc_fill(const struct way *way)
{
	const struct run_config *run = &way->rates->lab->config->run;
	unsigned vcs = run_config_vcs(run);
	double room = run_config_vc_blocks(run), max = 0;
	char name[32];

	if (!is_known(way->rates, "ports", way->to))
		return json_null();
	for (unsigned vc = 0; vc < vcs; vc++) {
		double stored;

		snprintf(name, sizeof(name), "stored_blocks_vc%u", vc);
		stored = counter(way->rates->now, "ports", way->to, name);
		max = stored > max ? stored : max;
	}
	return json_real(room > 0 ? max / room : 0);
}

/* Returns the mean lateness of frames that arrived over the link, as counted at its far end. */
static json_t *late_ns(const struct way *way)
{
	bool host = way->receiver[0] != '\0';
	const char *class = host ? "nics" : "ports", *device = host ? way->receiver : way->to;
	double arrivals = per_second(way->rates, class, device, "arrivals_timed");

	if (arrivals == 0)
		return json_null();
	return json_real(per_second(way->rates, class, device, "late_ns") / arrivals);
}

static json_t *optional(bool known, double value)
{
	return known ? json_real(value) : json_null();
}

static json_t *describe_way(const struct way *way, const char *state)
{
	const struct rates *rates = way->rates;
	bool host = way->sender[0] != '\0', to_host = way->receiver[0] != '\0';
	const char *class = host ? "nics" : "ports", *device = host ? way->sender : way->from;
	double rate = rate_bps(way), capacity = way->capacity;

	return json_pack("{s:s,s:s,s:s,s:f,s:f,s:o,s:o,s:o,s:f,s:o,s:o,s:o}", "from", way->from,
		"to", way->to, "state", state, "rate_bps", rate, "capacity_bps", capacity,
		"utilisation", optional(capacity > 0, capacity > 0 ? rate / capacity : 0),
		"blocked",
		optional(!host, per_second(rates, "ports", way->from, "blocked_ns") / 1e9),
		"vc_fill", vc_fill(way), "stalls_per_s",
		per_second(rates, class, device, "stall_credit"), "drops_per_s",
		optional(is_known(rates, to_host ? "nics" : "ports",
				 to_host ? way->receiver : way->to),
			drops_per_second(rates, to_host ? "nics" : "ports",
				to_host ? way->receiver : way->to, true) +
				device_drops_per_second(rates, way->to)),
		"retransmissions_per_s",
		optional(host, per_second(rates, "nics", way->sender, "frames_retransmitted")),
		"late_ns", late_ns(way));
}

/* Sort key: links that are not up come first, then links with losses, then links by utilisation. */
static double urgency(const json_t *link)
{
	double sum = json_value_of(link, "utilisation") + json_value_of(link, "blocked");

	if (strcmp(lab_text(link, "state"), "up") != 0)
		return 1e9 + sum;
	if (json_value_of(link, "drops_per_s") + json_value_of(link, "retransmissions_per_s") > 0)
		return 1e6 + sum;
	return sum;
}

struct ranked {
	json_t *entry;
	double urgency;
	size_t place; /* keeps equal entries in order */
};

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->urgency != b->urgency)
		return a->urgency < b->urgency ? 1 : -1;
	return a->place < b->place ? -1 : 1;
}

/* Replaces the list with one sorted by urgency. */
static json_t *rank(json_t *list, double (*of)(const json_t *entry))
{
	size_t count = json_array_size(list);
	struct ranked *ranked = calloc(count + 1, sizeof(*ranked));
	json_t *sorted = json_array();

	for (size_t i = 0; ranked != NULL && i < count; i++) {
		json_t *entry = json_array_get(list, i);

		ranked[i] = (struct ranked){entry, of(entry), i};
	}
	if (ranked == NULL)
		return list;
	qsort(ranked, count, sizeof(*ranked), compare);
	for (size_t i = 0; i < count; i++)
		json_array_append(sorted, ranked[i].entry);
	free(ranked);
	json_decref(list);
	return sorted;
}

static json_t *list_links(const struct rates *rates)
{
	json_t *list = json_array(), *link;

	for (size_t i = 0; (link = json_array_get(json_object_get(rates->now, "links"), i)) != NULL;
		i++) {
		const struct way way = way_of(rates, link);

		json_array_append_new(list, describe_way(&way, lab_text(link, "state")));
	}
	return rank(list, urgency);
}

/* --- hosts --- */

static double host_urgency(const json_t *host)
{
	double messages = json_value_of(host, "sent_per_s") + json_value_of(host, "received_per_s");

	return json_value_of(host, "failed_per_s") + json_value_of(host, "retransmissions_per_s") >
			       0
		       ? 1e12 + messages
		       : messages;
}

static json_t *list_hosts(const struct rates *rates)
{
	json_t *list = json_array(), *nic;
	const char *name;

	json_object_foreach(json_object_get(rates->now, "nics"), name, nic) {
		json_t *p50 = json_object_get(nic, "network_latency_p50_ns");
		json_t *p99 = json_object_get(nic, "network_latency_p99_ns");

		json_array_append_new(list,
			json_pack("{s:s,s:f,s:f,s:f,s:f,s:f,s:f,s:O,s:O}", "host", name,
				"sent_per_s", per_second(rates, "nics", name, "messages_injected"),
				"received_per_s",
				per_second(rates, "nics", name, "messages_delivered"),
				"goodput_bps",
				8 * per_second(rates, "nics", name, "bytes_delivered"),
				"retransmissions_per_s",
				per_second(rates, "nics", name, "frames_retransmitted"),
				"failed_per_s", per_second(rates, "nics", name, "messages_failed"),
				"drops_per_s", drops_per_second(rates, "nics", name, false),
				"latency_p50_ns", p50, "latency_p99_ns", p99));
	}
	return rank(list, host_urgency);
}

/* Lists the hosts with programs at endpoints. */
static json_t *list_endpoints(const struct rates *rates)
{
	json_t *list = json_array(), *nic;
	const char *name;

	json_object_foreach(json_object_get(rates->now, "nics"), name, nic) {
		if (json_value_of(nic, "endpoint_programs") == 0)
			continue;
		json_array_append_new(
			list, json_pack("{s:s,s:O,s:f,s:f,s:O,s:O}", "host", name, "programs",
				      json_object_get(nic, "endpoint_programs"), "sent_per_s",
				      per_second(rates, "nics", name, "endpoint_pieces_sent"),
				      "received_per_s",
				      per_second(rates, "nics", name, "endpoint_pieces_received"),
				      "waiting", json_object_get(nic, "endpoint_pieces_waiting"),
				      "unexpected",
				      json_object_get(nic, "endpoint_messages_unexpected")));
	}
	return rank(list, host_urgency);
}

/* --- processes and mapper --- */

static json_int_t cpu_ns(const json_t *all, const char *process)
{
	return json_integer_value(json_object_get(
		lab_row(json_object_get(all, "processes"), "name", process), "cpu_ns"));
}

/* Returns the longest stall of a loop of the process since traffic started. */
static json_int_t stall_ns(const json_t *all, const char *process)
{
	size_t length = strlen(process);
	json_int_t max = 0;
	const char *name;
	json_t *loop;

	json_object_foreach(json_object_get(all, "loops"), name, loop) {
		json_int_t stall = json_integer_value(json_object_get(loop, "loop_stall_ns"));

		if (strncmp(name, process, length) == 0 && name[length] == '/' && stall > max)
			max = stall;
	}
	return max;
}

static double process_urgency(const json_t *process)
{
	return strcmp(lab_text(process, "state"), "running") != 0 ? 1e9
								  : json_value_of(process, "cpu");
}

static json_t *list_processes(const struct rates *rates)
{
	json_t *list = json_array(), *process;

	for (size_t i = 0;
		(process = json_array_get(json_object_get(rates->now, "processes"), i)) != NULL;
		i++) {
		const char *name = lab_text(process, "name");
		double used = (double)(cpu_ns(rates->now, name) - cpu_ns(rates->before, name));
		double real = rates->seconds * rates->lab->config->run.dilation;
		json_int_t stall = stall_ns(rates->now, name);

		json_array_append_new(list, json_pack("{s:s,s:s,s:f,s:I,s:I}", "name", name,
						    "state", lab_text(process, "state"), "cpu",
						    used > 0 ? used / 1e9 / real : 0.0, "stall_ns",
						    stall, "away_ns", stall));
	}
	return rank(list, process_urgency);
}

/* Describes the mapper; null: the routes are static. */
static json_t *describe_mapper(const json_t *all)
{
	const json_t *mapping = json_object_get(all, "mapping");
	json_t *leader = mapping != NULL ? lab_mapping_leader(mapping) : NULL, *mapper;
	static const char *const of_leader[] = {"state", "switches", "hosts", "cables"};

	if (mapping == NULL)
		return json_null();
	mapper = json_pack("{s:O,s:O,s:O,s:O,s:O}", "host", json_object_get(mapping, "mapper"),
		"elsewhere", json_object_get(mapping, "mapper_elsewhere"), "epoch",
		json_object_get(mapping, "mapper_epoch"), "done", json_object_get(mapping, "done"),
		"why", json_object_get(mapping, "why"));
	for (unsigned i = 0; leader != NULL && i < sizeof(of_leader) / sizeof(of_leader[0]); i++)
		json_object_set(mapper, of_leader[i], json_object_get(leader, of_leader[i]));
	return mapper;
}

static json_t *by_port(const json_t *all)
{
	json_t *ends = json_object(), *link;

	for (size_t i = 0; (link = json_array_get(json_object_get(all, "links"), i)) != NULL; i++) {
		json_object_set(ends, lab_text(link, "port"), link);
	}
	return ends;
}

json_t *lab_rates(const struct lab *lab, const json_t *before, const json_t *now, double seconds)
{
	uint32_t dilation = lab->config->run.dilation;
	const struct rates rates = {lab, before, now, seconds > 0 ? seconds / dilation : 1,
		by_port(before), by_port(now)};
	json_t *links = list_links(&rates);

	json_decref(rates.ends_before);
	json_decref(rates.ends_now);
	return json_pack("{s:s,s:O,s:O,s:i,s:f,s:o,s:o,s:o,s:o,s:o,s:o}", "lab",
		lab_text(now, "lab"), "up", json_object_get(now, "up"), "starved",
		json_object_get(now, "starved"), "dilation", (int)dilation, "seconds",
		seconds / dilation, "errors", lab_errors(now, before), "links", links, "hosts",
		list_hosts(&rates), "endpoints", list_endpoints(&rates), "mapper",
		describe_mapper(now), "processes", list_processes(&rates));
}
