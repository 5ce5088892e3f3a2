/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Metric names for Prometheus, made from the counters in weft-counters(7): "weft_", the class, and
 * the counter with its unit at the end, in base units. "bytes_out" of a port is
 * weft_port_out_bytes, "throttled_ns" of a host weft_host_throttled_seconds. */

#include "metrics_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_query.h"
#include "wire/frame.h"

#define METRIC_NAME_MAX 96

struct metric_name {
	char text[METRIC_NAME_MAX]; /* without "_total" */
	const char *unit;           /* last part of the name; "" if there is no unit */
	double scale;               /* value = counter * scale */
};

/* Families and samples of the text formats of Prometheus. */

struct metrics_out {
	FILE *out;
	bool openmetrics;
	const char *lab; /* label of all samples */
};

struct metrics_family {
	const char *name; /* without "_total" */
	const char *unit; /* "": none */
	bool gauge;
	const char *help;
};

/* A label; a list of labels ends with a NULL name. */
struct metrics_label {
	const char *name, *value;
};

/* Unit in the manual page; the word for it in counter names; base unit. */
static const struct unit {
	const char *unit, *word, *base;
	double scale;
} units[] = {
	{"ns", "ns", "seconds", 1e-9},
	{"Mbps", "mbps", "bytes_per_second", 125000},
	{"bps", "bps", "bytes_per_second", 0.125},
	{"ps", "ps", "seconds", 1e-12},
	{"ppm", "ppm", "ratio", 1e-6},
	{"bytes", "bytes", "bytes", 1},
	{"frames", "frames", "frames", 1},
	{"messages", "messages", "messages", 1},
	{"blocks", "blocks", "blocks", 1},
	{"entries", "entries", "entries", 1},
	{"outputs", "outputs", "outputs", 1},
};

static const struct unit *find_unit(const char *text)
{
	static const struct unit none = {"", "", "", 1};

	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, text) == 0)
			return &units[i];
	return &none;
}

static void append(char *text, const char *word, size_t length)
{
	size_t used = strlen(text);

	if (length > 0)
		snprintf(text + used, METRIC_NAME_MAX - used, "_%.*s", (int)length, word);
}

/* 'class': "port", "host", "link", … */
static void metric_name_make(
	const char *class, const struct counter_info *info, struct metric_name *name)
{
	const struct unit *unit = find_unit(info->unit);
	const char *word = info->name;

	snprintf(name->text, sizeof(name->text), "weft_%s", class);
	/* "link_downs" of a link is weft_link_downs. */
	if (strncmp(word, class, strlen(class)) == 0 && word[strlen(class)] == '_')
		word += strlen(class) + 1;
	for (size_t length; *word != '\0'; word += length + (word[length] == '_')) {
		length = strcspn(word, "_");
		if (strlen(unit->word) != length || strncmp(word, unit->word, length) != 0)
			append(name->text, word, length);
	}
	append(name->text, unit->base, strlen(unit->base));
	name->unit = unit->base;
	name->scale = unit->scale;
}

static void print_escaped(const char *text, bool quotes, FILE *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || (*text == '"' && quotes))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* In the older format, the family of a counter has the same name as its samples. */
static void print_name(
	const struct metrics_out *to, const struct metrics_family *family, bool of_sample)
{
	fprintf(to->out, "%s%s", family->name,
		!family->gauge && (of_sample || !to->openmetrics) ? "_total" : "");
}

/* Prints HELP, TYPE and UNIT. All samples of the family must follow. */
static void metrics_begin(const struct metrics_out *to, const struct metrics_family *family)
{
	fputs("# HELP ", to->out);
	print_name(to, family, false);
	fputc(' ', to->out);
	print_escaped(family->help, to->openmetrics, to->out);
	fputs("\n# TYPE ", to->out);
	print_name(to, family, false);
	fputs(family->gauge ? " gauge\n" : " counter\n", to->out);
	if (to->openmetrics && family->unit[0] != '\0') {
		fputs("# UNIT ", to->out);
		print_name(to, family, false);
		fprintf(to->out, " %s\n", family->unit);
	}
}

/* Prints a sample with the label "lab" and these labels. */
static void metrics_sample(const struct metrics_out *to, const struct metrics_family *family,
	const struct metrics_label *labels, double value)
{
	print_name(to, family, true);
	fputs("{lab=\"", to->out);
	print_escaped(to->lab, true, to->out);
	for (; labels->name != NULL; labels++) {
		fprintf(to->out, "\",%s=\"", labels->name);
		print_escaped(labels->value, true, to->out);
	}
	/* Whole numbers as such. */
	fprintf(to->out, value == floor(value) && fabs(value) < 1e15 ? "\"} %.0f\n" : "\"} %.9g\n",
		value);
}

struct metrics {
	struct metrics_out to;
	const struct lab *lab;
	const json_t *all;
};

/* --- counters --- */

/* The labels of a device. */
struct device_labels {
	char of[TOPOLOGY_NAME_MAX + 8], peer[TOPOLOGY_NAME_MAX + 8], vc[16];
	struct metrics_label label[5];
};

typedef void label_fn(
	const struct metrics *metrics, const char *device, struct device_labels *labels);

static void label_device(struct device_labels *labels, const char *class, const char *device)
{
	*labels = (struct device_labels){.label = {{class, device}}};
}

static void label_host(
	const struct metrics *metrics, const char *device, struct device_labels *labels)
{
	label_device(labels, "host", device);
}

static void label_switch(
	const struct metrics *metrics, const char *device, struct device_labels *labels)
{
	label_device(labels, "switch", device);
}

static void label_loop(
	const struct metrics *metrics, const char *device, struct device_labels *labels)
{
	label_device(labels, "loop", device);
}

/* Labels a port also with its switch or host, and its peer. */
static void label_port(
	const struct metrics *metrics, const char *device, struct device_labels *labels)
{
	const struct topology *topology = metrics->lab->topology;
	struct topology_port port, peer;

	label_device(labels, "port", device);
	snprintf(labels->of, sizeof(labels->of), "%.*s", (int)strcspn(device, ":"), device);
	labels->label[1] = (struct metrics_label){"device", labels->of};
	if (topology_find_port(topology, device, &port) == 0 &&
		topology_peer(topology, port, &peer))
		topology_port_name(topology, peer, labels->peer, sizeof(labels->peer));
	labels->label[2] = (struct metrics_label){"peer", labels->peer};
}

/* A class of devices: its counters in the document, and its metrics. */
static const struct class
{
	const char *key, *name;
	label_fn *label;
} classes[] = {
	{"ports", "port", label_port},
	{"nics", "host", label_host},
	{"links", "link", label_port},
	{"congestion", "congestion", label_switch},
	{"loops", "loop", label_loop},
};

/* Returns the devices of a class by name, the caller's reference. The document lists links. */
static json_t *devices_of(const struct metrics *metrics, const struct class *class)
{
	json_t *devices = json_object_get(metrics->all, class->key), *by_name, *link;

	if (!json_is_array(devices))
		return json_incref(devices);
	by_name = json_object();
	for (size_t i = 0; (link = json_array_get(devices, i)) != NULL; i++) {
		json_object_set(by_name, lab_text(link, "port"), link);
	}
	return by_name;
}

static void print_samples(const struct metrics *metrics, const struct class *class,
	const struct metrics_family *family, double scale, const char *counter, int vc,
	json_t *devices)
{
	const char *device;
	json_t *counters;

	json_object_foreach(devices, device, counters) {
		const json_t *value = json_object_get(counters, counter);
		struct device_labels labels;

		if (!json_is_integer(value))
			continue;
		class->label(metrics, device, &labels);
		if (vc >= 0) {
			snprintf(labels.vc, sizeof(labels.vc), "%d", vc);
			labels.label[3] = (struct metrics_label){"vc", labels.vc};
		}
		metrics_sample(&metrics->to, family, labels.label,
			(double)json_integer_value(value) * scale);
	}
}

static bool has_counter(json_t *devices, const char *counter)
{
	const char *device;
	json_t *counters;

	json_object_foreach(devices, device, counters) {
		if (json_is_integer(json_object_get(counters, counter)))
			return true;
	}
	return false;
}

/* --- counter info --- */

#define VC_COUNTER "stored_blocks_vc"

static const struct counter_info counters[] = {
#include "counter_list.h"
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

static int compare(const void *key, const void *entry)
{
	return strcmp(key, ((const struct counter_info *)entry)->name);
}

static int counter_info_vc(const char *name)
{
	size_t length = strlen(VC_COUNTER);

	if (strncmp(name, VC_COUNTER, length) != 0 || name[length] == '\0')
		return -1;
	return atoi(name + length);
}

static bool counter_info_vc_prefix(const char *name)
{
	return strcmp(name, VC_COUNTER) == 0;
}

const struct counter_info *counter_info_find(const char *name)
{
	if (counter_info_vc(name) >= 0)
		name = VC_COUNTER;
	return bsearch(name, counters, COUNTERS, sizeof(counters[0]), compare);
}

static const struct counter_info *counter_info_at(size_t i)
{
	return i < COUNTERS ? &counters[i] : NULL;
}

static void print_counter(const struct metrics *metrics, const struct class *class,
	const struct counter_info *info, json_t *devices)
{
	bool of_vcs = counter_info_vc_prefix(info->name);
	struct metric_name name;
	char help[512], counter[64];
	struct metrics_family family = {.name = name.text, .gauge = info->gauge, .help = help};

	snprintf(counter, sizeof(counter), of_vcs ? "%s0" : "%s", info->name);
	if (!has_counter(devices, counter))
		return;
	metric_name_make(class->name, info, &name);
	family.unit = name.unit;
	snprintf(help, sizeof(help), "%s: %s%s. Counter %s of weft-counters(7).", info->unit,
		info->meaning, info->good_is_zero ? "; good is 0" : "", info->name);
	metrics_begin(&metrics->to, &family);
	for (int vc = 0; of_vcs && vc < FRAME_VCS_MAX; vc++) {
		snprintf(counter, sizeof(counter), "%s%d", info->name, vc);
		print_samples(metrics, class, &family, name.scale, counter, vc, devices);
	}
	if (!of_vcs)
		print_samples(metrics, class, &family, name.scale, counter, -1, devices);
}

static void print_class(const struct metrics *metrics, const struct class *class)
{
	json_t *devices = devices_of(metrics, class);
	const struct counter_info *info;

	for (size_t i = 0; (info = counter_info_at(i)) != NULL; i++)
		print_counter(metrics, class, info, devices);
	json_decref(devices);
}

/* --- the lab --- */

static void print_lab(const struct metrics *metrics)
{
	static const struct metrics_family up = {
		"weft_lab_up", "", true, "1: all processes, links and routes are as expected."};
	static const struct metrics_label none[] = {{NULL, NULL}};

	metrics_begin(&metrics->to, &up);
	metrics_sample(&metrics->to, &up, none, json_flag_of(metrics->all, "up"));
}

static void print_processes(const struct metrics *metrics)
{
	static const struct metrics_family runs = {
		"weft_process_running", "", true, "1: the process runs and answers."};
	static const struct metrics_family cpu = {
		"weft_process_cpu_seconds", "seconds", false, "CPU time used by the process."};
	json_t *processes = json_object_get(metrics->all, "processes"), *process;

	metrics_begin(&metrics->to, &runs);
	for (size_t i = 0; (process = json_array_get(processes, i)) != NULL; i++) {
		const struct metrics_label labels[] = {
			{"process", lab_text(process, "name")}, {NULL, NULL}};

		metrics_sample(&metrics->to, &runs, labels,
			strcmp(lab_text(process, "state"), "running") == 0);
	}
	metrics_begin(&metrics->to, &cpu);
	for (size_t i = 0; (process = json_array_get(processes, i)) != NULL; i++) {
		const struct metrics_label labels[] = {
			{"process", lab_text(process, "name")}, {NULL, NULL}};

		metrics_sample(&metrics->to, &cpu, labels, json_value_of(process, "cpu_ns") / 1e9);
	}
}

/* Prints each link's state, and the capacities of the cable and of the buffer at its far end. */
static void print_links(const struct metrics *metrics)
{
	static const struct metrics_family up = {"weft_link_up", "", true,
		"1: this end of the link is up. The label 'state' contains its state."};
	static const struct metrics_family rate = {"weft_link_rate_bytes_per_second",
		"bytes_per_second", true, "Rate of the link in the topology."};
	json_t *links = json_object_get(metrics->all, "links"), *link;
	struct device_labels labels;
	struct topology_port port;

	metrics_begin(&metrics->to, &up);
	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		label_port(metrics, lab_text(link, "port"), &labels);
		labels.label[3] = (struct metrics_label){"state", lab_text(link, "state")};
		metrics_sample(&metrics->to, &up, labels.label,
			strcmp(lab_text(link, "state"), "up") == 0);
	}
	metrics_begin(&metrics->to, &rate);
	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		const char *name = lab_text(link, "port");

		const struct topology_link *cable = NULL;

		if (topology_find_port(metrics->lab->topology, name, &port) == 0)
			cable = topology_link_at(metrics->lab->topology, port);
		if (cable == NULL)
			continue;
		label_port(metrics, name, &labels);
		metrics_sample(&metrics->to, &rate, labels.label, (double)cable->rate_bps / 8);
	}
}

static void print_constants(const struct metrics *metrics)
{
	static const struct metrics_family room = {"weft_lab_vc_buffer_blocks", "blocks", true,
		"Capacity of one VC in an input buffer; compare with weft_port_stored_vc_blocks."};
	static const struct metrics_family dilation = {
		"weft_lab_dilation", "", true, "Real seconds per second of the lab's clock."};
	static const struct metrics_label none[] = {{NULL, NULL}};
	const struct run_config *run = &metrics->lab->config->run;

	metrics_begin(&metrics->to, &room);
	metrics_sample(&metrics->to, &room, none, run_config_vc_blocks(run));
	metrics_begin(&metrics->to, &dilation);
	metrics_sample(&metrics->to, &dilation, none, run->dilation);
}

static void print_mapper(const struct metrics *metrics)
{
	static const struct metrics_family done = {"weft_mapper_done", "", true,
		"1: every device has the routes of the mapper that the label names."};
	static const struct metrics_family epoch = {
		"weft_mapper_epoch", "", true, "Epoch of the routing tables in use."};
	const json_t *mapping = json_object_get(metrics->all, "mapping");
	const struct metrics_label labels[] = {{"host", lab_text(mapping, "mapper")}, {NULL, NULL}};
	const json_t *number = json_object_get(mapping, "mapper_epoch");

	if (mapping == NULL)
		return;
	metrics_begin(&metrics->to, &done);
	metrics_sample(&metrics->to, &done, labels, json_flag_of(mapping, "done"));
	if (!json_is_integer(number))
		return;
	metrics_begin(&metrics->to, &epoch);
	metrics_sample(&metrics->to, &epoch, labels, (double)json_integer_value(number));
}

void metrics_text(const struct lab *lab, const json_t *all, bool openmetrics, FILE *out)
{
	const struct metrics metrics = {{out, openmetrics, lab->plan->lab}, lab, all};

	print_lab(&metrics);
	print_processes(&metrics);
	print_mapper(&metrics);
	print_constants(&metrics);
	print_links(&metrics);
	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		print_class(&metrics, &classes[i]);
	if (openmetrics)
		fputs("# EOF\n", out);
}
