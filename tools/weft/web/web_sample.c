/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdio.h>
#include <string.h>

#include "cmd_web.h"
#include "experiment/run/run_config.h"
#include "lab/lab_links.h"
#include "lab/lab_query.h"
#include "watch/lab_collect.h"
#include "wire/frame.h"

#define ERRORS_MAX 40 /* the page states how many more there are */

static json_t *list_switches(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->switches; i++)
		if (!topology->switch_at[i].absent)
			json_array_append_new(list, json_pack("[s,i]", topology->switch_at[i].name,
							    (int)topology->switch_at[i].stage));
	return list;
}

static json_t *list_hosts(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->hosts; i++)
		if (!topology->host_at[i].absent)
			json_array_append_new(list, json_string(topology->host_at[i].name));
	return list;
}

static json_t *list_links(const struct topology *topology)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		char a[LAB_PORT_MAX], b[LAB_PORT_MAX];

		topology_port_name(topology, link->a, a, sizeof(a));
		topology_port_name(topology, link->b, b, sizeof(b));
		json_array_append_new(list, json_pack("[s,s,I]", a, b, (json_int_t)link->rate_bps));
	}
	return list;
}

json_t *web_topology(const struct topology *topology, const char *lab, unsigned vcs)
{
	return json_pack("{s:s,s:s,s:i,s:o,s:o,s:o}", "lab", lab, "name", topology->name, "vcs",
		(int)vcs, "switches", list_switches(topology), "hosts", list_hosts(topology),
		"links", list_links(topology));
}

int64_t web_way_at(const struct topology *topology, const char *name)
{
	struct topology_port port;

	if (topology_find_port(topology, name, &port) < 0 ||
		topology_link_at(topology, port) == NULL)
		return -1;
	return topology_way_at(topology, port);
}

struct sample {
	const struct lab *lab;
	const json_t *before, *now;
	double seconds;
	json_t *out;
};

/* --- links --- */

/* Returns the fill level of each VC in a port's buffer; NULL if all are empty or unknown. */
static json_t *fill_at(const struct sample *sample, const char *port)
{
	const struct run_config *run = &sample->lab->config->run;
	const json_t *counters = json_object_get(json_object_get(sample->now, "ports"), port);
	unsigned vcs = run_config_vcs(run);
	double room = run_config_vc_blocks(run);
	json_t *fill = json_array();
	bool any = false;
	char name[32];

	for (unsigned vc = 0; vc < vcs; vc++) {
		json_int_t stored;

		snprintf(name, sizeof(name), "stored_blocks_vc%u", vc);
		stored = json_integer_value(json_object_get(counters, name));
		any |= stored > 0;
		json_array_append_new(fill, json_real(room > 0 ? (double)stored / room : 0));
	}
	if (any && counters != NULL)
		return fill;
	json_decref(fill);
	return NULL;
}

static void add_sparse(
	const struct sample *sample, const char *list, const char *way, json_t *value)
{
	if (json_is_number(value) && json_number_value(value) == 0)
		return;
	if (value != NULL && !json_is_null(value))
		json_object_set(json_object_get(sample->out, list), way, value);
}

/* Adds the current rate if it differs from the topology's ('weft lab set'). */
static void add_rate(const struct sample *sample, int64_t way, const char *key, json_t *rate)
{
	const struct topology_link *link = &sample->lab->topology->link_at[way / 2];

	if (json_number_value(rate) != (double)link->rate_bps)
		add_sparse(sample, "rate", key, rate);
}

static void add_link(const struct sample *sample, const json_t *link)
{
	static const char *const names[][2] = {{"blocked", "blocked"}, {"stalls", "stalls_per_s"},
		{"drops", "drops_per_s"}, {"retransmissions", "retransmissions_per_s"},
		{"late", "late_ns"}};
	int64_t way = web_way_at(sample->lab->topology, lab_text(link, "from"));
	json_t *fill = fill_at(sample, lab_text(link, "to"));
	char key[24];

	if (way >= 0) {
		snprintf(key, sizeof(key), "%lld", (long long)way);
		json_array_set(json_object_get(sample->out, "utilisation"), (size_t)way,
			json_object_get(link, "utilisation"));
		for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			add_sparse(sample, names[i][0], key, json_object_get(link, names[i][1]));
		add_rate(sample, way, key, json_object_get(link, "capacity_bps"));
		add_sparse(sample, "fill", key, fill);
		if (strcmp(lab_text(link, "state"), "up") != 0)
			add_sparse(sample, "state", key, json_object_get(link, "state"));
	}
	json_decref(fill);
}

/* --- adaptive routing --- */

static double growth(
	const struct sample *sample, const char *class, const char *device, const char *name)
{
	json_int_t now = json_integer_value(json_object_get(
		json_object_get(json_object_get(sample->now, class), device), name));
	json_int_t before = json_integer_value(json_object_get(
		json_object_get(json_object_get(sample->before, class), device), name));

	return now > before && sample->seconds > 0 ? (double)(now - before) / sample->seconds : 0;
}

static void add_roots(const struct sample *sample)
{
	const char *port;
	json_t *counters;

	json_object_foreach(json_object_get(sample->now, "ports"), port, counters) {
		if (json_count_of(counters, "congestion_root") != 0)
			json_array_append_new(
				json_object_get(sample->out, "roots"), json_string(port));
	}
}

static void add_switches(const struct sample *sample)
{
	const char *name;
	json_t *counters;

	json_object_foreach(json_object_get(sample->now, "congestion"), name, counters) {
		json_t *roots = json_object_get(counters, "roots_now");
		json_t *entries = json_object_get(counters, "arn_entries_now");
		double adapted = growth(sample, "congestion", name, "packets_adapted");

		if (json_integer_value(roots) + json_integer_value(entries) > 0 || adapted > 0)
			json_object_set_new(json_object_get(sample->out, "switches"), name,
				json_pack("{s:I,s:I,s:f}", "roots", json_integer_value(roots),
					"entries", json_integer_value(entries), "adapted_per_s",
					adapted));
	}
}

static void add_hosts(const struct sample *sample)
{
	const char *name;
	json_t *counters;

	json_object_foreach(json_object_get(sample->now, "nics"), name, counters) {
		double adapted = growth(sample, "nics", name, "frames_adapted");

		if (adapted > 0)
			json_object_set_new(json_object_get(sample->out, "hosts"), name,
				json_pack("{s:f}", "adapted_per_s", adapted));
	}
}

/* --- all --- */

static void add_errors(const struct sample *sample, const json_t *errors)
{
	json_t *list = json_array(), *error;

	for (size_t index = 0; (error = json_array_get(errors, index)) != NULL; index++) {
		if (index < ERRORS_MAX)
			json_array_append(list, error);
	}
	json_object_set_new(sample->out, "errors", list);
	json_object_set_new(
		sample->out, "errors_count", json_integer((json_int_t)json_array_size(errors)));
}

json_t *web_sample(const struct lab *lab, const json_t *before, const json_t *now, double seconds)
{
	json_t *rates = lab_rates(lab, before, now, seconds);
	struct sample sample = {lab, before, now, seconds / lab->config->run.dilation,
		json_pack(
			"{s:f,s:O,s:O,s:[],s:{},s:{},s:{},s:{},s:{},s:{},s:{},s:{},s:[],s:{},s:{},s:O,"
			"s:O}",
			"seconds", sample.seconds, "up", json_object_get(now, "up"), "starved",
			json_object_get(now, "starved"), "utilisation", "state", "blocked",
			"stalls", "drops", "retransmissions", "late", "rate", "fill", "roots",
			"switches", "hosts", "mapper", json_object_get(rates, "mapper"),
			"processes", json_object_get(rates, "processes"))};
	const json_t *links = json_object_get(rates, "links");
	json_t *utilisation = json_object_get(sample.out, "utilisation"), *link;

	for (uint32_t i = 0; i < 2 * sample.lab->topology->links; i++)
		json_array_append_new(utilisation, json_null());
	for (size_t index = 0; (link = json_array_get(links, index)) != NULL; index++)
		add_link(&sample, link);
	add_roots(&sample);
	add_switches(&sample);
	add_hosts(&sample);
	add_errors(&sample, json_object_get(rates, "errors"));
	json_decref(rates);
	return sample.out;
}
