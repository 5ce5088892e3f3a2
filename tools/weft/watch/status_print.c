/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* 'weft lab status': 80 columns, errors first. */

#include "status_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lab/lab_query.h"
#include "lab_collect.h"

static void print_summary(json_t *all, FILE *out)
{
	json_t *processes = json_object_get(all, "processes");
	json_t *links = json_object_get(all, "links");
	uint64_t dilation = json_count_of(all, "dilation");

	fprintf(out, "lab %s is %s: %u of %zu processes, %u of %zu link ends\n",
		lab_text(all, "lab"), json_flag_of(all, "up") ? "up" : "not all up",
		(unsigned)json_array_size(processes) - lab_count_not(processes, "running"),
		json_array_size(processes),
		(unsigned)json_array_size(links) - lab_count_not(links, "up"),
		json_array_size(links));
	if (dilation > 1)
		fprintf(out, "  dilated by %" PRIu64 "\n", dilation);
}

static void print_gone(json_t *processes, FILE *out)
{
	json_t *process;

	for (size_t i = 0; (process = json_array_get(processes, i)) != NULL; i++) {
		const char *fault = lab_text(process, "fault");

		if (strcmp(lab_text(process, "state"), "running") != 0)
			fprintf(out, "  process %s is %s%s%s\n", lab_text(process, "name"),
				lab_text(process, "state"), fault[0] != '\0' ? ": " : "", fault);
	}
}

static void print_down(json_t *links, FILE *out)
{
	json_t *link;

	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		if (strcmp(lab_text(link, "state"), "up") != 0)
			fprintf(out, "  link %s - %s is %s\n", lab_text(link, "port"),
				lab_text(link, "peer"), lab_text(link, "state"));
	}
}

static void print_deadlock(json_t *all, FILE *out)
{
	json_t *ports = json_object_get(all, "deadlock"), *port;

	if (json_is_null(ports) && json_flag_of(all, "up"))
		fputs("  deadlock: unknown, because a process did not answer\n", out);
	if (json_array_size(ports) > 0)
		fputs("  deadlock: these channels wait for each other:", out);
	for (size_t i = 0; (port = json_array_get(ports, i)) != NULL; i++)
		fprintf(out, " %s", json_string_value(port));
	if (json_array_size(ports) > 0)
		fputc('\n', out);
}

static void print_errors(json_t *all, FILE *out)
{
	json_t *errors = lab_errors(all, NULL), *error;

	if (json_array_size(errors) > 0)
		fprintf(out, "\nNOT ZERO\n");
	for (size_t i = 0; (error = json_array_get(errors, i)) != NULL; i++) {
		fprintf(out, "  %s %s %" PRIu64 " (%s: %s)\n", lab_text(error, "device"),
			lab_text(error, "counter"), json_count_of(error, "value"),
			lab_text(error, "unit"), lab_text(error, "meaning"));
	}
	json_decref(errors);
}

/* A value that cannot be known is null. */
static void print_us(json_t *counters, const char *name, FILE *out)
{
	if (json_is_null(json_object_get(counters, name)))
		fprintf(out, " %9s", "-");
	else
		fprintf(out, " %9.1f", (double)json_count_of(counters, name) / 1e3);
}

/* A name longer than its column gets its own line. */
static void print_name(const char *name, unsigned columns, FILE *out)
{
	if (strlen(name) > columns)
		fprintf(out, "%s\n%*s", name, (int)columns, "");
	else
		fprintf(out, "%-*s", (int)columns, name);
}

static void print_switches(json_t *switches, FILE *out)
{
	const char *name;
	json_t *sw;

	if (json_object_size(switches) > 0)
		fprintf(out, "\n%-18s %11s %11s %14s %9s %10s\n", "SWITCH", "FRAMES IN",
			"FRAMES OUT", "BYTES OUT", "STALLS", "STORED");
	json_object_foreach(switches, name, sw) {
		print_name(name, 18, out);
		fprintf(out,
			" %11" PRIu64 " %11" PRIu64 " %14" PRIu64 " %9" PRIu64 " %10" PRIu64 "\n",
			json_count_of(sw, "data_in"), json_count_of(sw, "data_out"),
			json_count_of(sw, "bytes_out"), json_count_of(sw, "stall_credit"),
			json_count_of(sw, "stored_blocks"));
	}
}

static void print_hosts(json_t *nics, FILE *out)
{
	const char *name;
	json_t *nic;

	if (json_object_size(nics) > 0)
		fprintf(out, "\n%-14s %11s %11s %8s %8s %9s %9s\n", "HOST", "SENT", "RECEIVED",
			"RESENT", "FAILED", "P50 us", "P99 us");
	json_object_foreach(nics, name, nic) {
		print_name(name, 14, out);
		fprintf(out, " %11" PRIu64 " %11" PRIu64 " %8" PRIu64 " %8" PRIu64,
			json_count_of(nic, "messages_injected"),
			json_count_of(nic, "messages_delivered"),
			json_count_of(nic, "frames_retransmitted"),
			json_count_of(nic, "messages_failed"));
		print_us(nic, "network_latency_p50_ns", out);
		print_us(nic, "network_latency_p99_ns", out);
		fputc('\n', out);
	}
}

static void print_congestion(json_t *congestion, FILE *out)
{
	const char *name;
	json_t *sw;

	if (json_object_size(congestion) > 0)
		fprintf(out, "\n%-18s %9s %9s %9s %12s %12s\n", "CONGESTION", "ROOTS", "BRANCHES",
			"ENTRIES", "ARNS SENT", "ADAPTED");
	json_object_foreach(congestion, name, sw) {
		print_name(name, 18, out);
		fprintf(out,
			" %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
			json_count_of(sw, "roots_now"), json_count_of(sw, "branches_now"),
			json_count_of(sw, "arn_entries_now"), json_count_of(sw, "arn_sent"),
			json_count_of(sw, "packets_adapted"));
	}
}

/* Prints the interfaces of programs, if there are any. */
static void status_print_edges(json_t *edges, FILE *out)
{
	json_t *edge;

	if (json_array_size(edges) > 0)
		fprintf(out, "\n%-12s %-11s %-25s %-18s %9s\n", "EDGE", "INTERFACE", "NAMESPACE",
			"ADDRESS", "DROPS");
	for (size_t i = 0; (edge = json_array_get(edges, i)) != NULL; i++) {
		const char *netns = lab_text(edge, "namespace"),
			   *address = lab_text(edge, "address");

		print_name(lab_text(edge, "host"), 12, out);
		fprintf(out, " %-11s %-25s %-18s", lab_text(edge, "interface"),
			netns[0] != '\0' ? netns : "-", address[0] != '\0' ? address : "-");
		if (json_is_null(json_object_get(edge, "drops")))
			fprintf(out, " %9s\n", "-");
		else
			fprintf(out, " %9" PRIu64 "\n", json_count_of(edge, "drops"));
	}
}

void status_print(json_t *all)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	const char *starved;

	if (out == NULL)
		return;
	print_summary(all, out);
	print_gone(json_object_get(all, "processes"), out);
	print_down(json_object_get(all, "links"), out);
	starved = lab_text(all, "starved");
	if (starved[0] != '\0')
		fprintf(out,
			"  CPU starved: %s, longer than three hello intervals; this can take links down\n",
			starved);
	print_deadlock(all, out);
	status_print_strangers(json_object_get(all, "links"), out);
	print_errors(all, out);
	status_print_mapping(json_object_get(all, "mapping"), out);
	print_switches(json_object_get(all, "switches"), out);
	print_hosts(json_object_get(all, "nics"), out);
	status_print_edges(json_object_get(all, "edges"), out);
	print_congestion(json_object_get(all, "congestion"), out);
	status_print_clocks(json_object_get(all, "clocks_total"), out);
	status_print_elsewhere(json_object_get(all, "elsewhere"), out);
	fclose(out);
	fold_print(text, FOLD_COLUMNS, stdout);
	free(text);
}

/* --- fold --- */

#define INDENT 4

static int begins_character(char byte)
{
	return (byte & 0xC0) != 0x80;
}

/* Returns the number of bytes of a line that fit: up to the last space within 'columns', or
 * all that fit. */
static size_t fitting(const char *line, size_t bytes, unsigned columns)
{
	size_t at = 0, space = 0;
	unsigned column = 0;

	for (; at < bytes; at++) {
		if (!begins_character(line[at]))
			continue;
		if (column++ == columns)
			return space > 0 ? space : at;
		if (line[at] == ' ' && at > strspn(line, " "))
			space = at;
	}
	return bytes;
}

static void print_line(const char *line, size_t bytes, unsigned columns, FILE *out)
{
	size_t indent = strspn(line, " "), fit = fitting(line, bytes, columns);

	if (indent + INDENT >= columns)
		indent = 0;
	fprintf(out, "%.*s\n", (int)fit, line);
	while (fit < bytes) {
		line += fit;
		bytes -= fit;
		while (bytes > 0 && *line == ' ') {
			line++;
			bytes--;
		}
		fit = fitting(line, bytes, columns - (unsigned)indent - INDENT);
		if (bytes > 0)
			fprintf(out, "%*s%.*s\n", (int)indent + INDENT, "", (int)fit, line);
	}
}

void fold_print(const char *text, unsigned columns, FILE *out)
{
	while (*text != '\0') {
		size_t bytes = strcspn(text, "\n");

		print_line(text, bytes, columns, out);
		text += bytes;
		text += *text == '\n';
	}
}

/* --- status wide --- */

/* 'weft lab status --wide': lines of any length, with every counter that is not zero. */

static void print_processes(json_t *processes)
{
	json_t *process;

	printf("%-16s %-12s %8s  %s\n", "PROCESS", "PROGRAM", "PID", "STATE");
	for (size_t i = 0; (process = json_array_get(processes, i)) != NULL; i++) {
		printf("%-16s %-12s %8" PRIu64 "  %s%s%s\n", lab_text(process, "name"),
			lab_text(process, "program"), json_count_of(process, "pid"),
			lab_text(process, "state"),
			lab_text(process, "fault")[0] != '\0' ? ": " : "",
			lab_text(process, "fault"));
	}
}

static void print_links(json_t *links)
{
	json_t *link;

	printf("\n%-12s %-12s %s\n", "PORT", "PEER", "LINK");
	for (size_t i = 0; (link = json_array_get(links, i)) != NULL; i++) {
		printf("%-12s %-12s %s\n", lab_text(link, "port"), lab_text(link, "peer"),
			lab_text(link, "state"));
	}
}

/* Prints the counters that are not zero. Unknown values are "-". */
static void print_devices(const char *title, json_t *devices)
{
	const char *device, *name;
	json_t *counters, *value;

	if (json_object_size(devices) > 0)
		printf("\n%s\n", title);
	json_object_foreach(devices, device, counters) {
		printf("%s:", device);
		json_object_foreach(counters, name, value) {
			if (json_integer_value(value) != 0)
				printf(" %s %" PRIu64, name, (uint64_t)json_integer_value(value));
			else if (json_is_null(value))
				printf(" %s -", name);
		}
		putchar('\n');
	}
}

void status_print_wide(json_t *all)
{
	print_processes(json_object_get(all, "processes"));
	print_links(json_object_get(all, "links"));
	status_print_mapping(json_object_get(all, "mapping"), stdout);
	print_devices("SWITCHES", json_object_get(all, "switches"));
	print_devices("INTERFACES", json_object_get(all, "nics"));
	status_print_edges(json_object_get(all, "edges"), stdout);
	print_devices("CONGESTION", json_object_get(all, "congestion"));
	print_devices("LOOPS", json_object_get(all, "loops"));
	printf("\nlab %s: %u processes are not running, %u link ends are not up\n",
		lab_text(all, "lab"), lab_count_not(json_object_get(all, "processes"), "running"),
		lab_count_not(json_object_get(all, "links"), "up"));
	status_print_strangers(json_object_get(all, "links"), stdout);
	status_print_clocks(json_object_get(all, "clocks_total"), stdout);
	status_print_elsewhere(json_object_get(all, "elsewhere"), stdout);
}
