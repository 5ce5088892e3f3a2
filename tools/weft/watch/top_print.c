/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "status_print.h"

#include <stdarg.h>
#include <string.h>

#include "base/weft_error.h"
#include "lab/lab_query.h"
#include "lab_collect.h"

#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define BOLD   "\033[1m"

#define ERRORS_MOST 6 /* lines of a screen */

/* Marks the end of a truncated line. */
#define CUT "..."

/* Prints a line, truncated to 80 columns; the colour (NULL: none) does not count. */
static void print_line(const struct top_print *to, const char *colour, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void print_line(const struct top_print *to, const char *colour, const char *format, ...)
{
	char text[4 * FOLD_COLUMNS + 1];
	va_list arguments;
	size_t at = 0, kept = 0;
	unsigned columns = 0;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	text_escape(text, sizeof(text));
	for (; text[at] != '\0' && columns <= FOLD_COLUMNS; at++) {
		if ((text[at] & 0xC0) == 0x80)
			continue;
		if (columns++ == FOLD_COLUMNS - strlen(CUT))
			kept = at;
	}
	if (columns > FOLD_COLUMNS)
		strcpy(text + kept, CUT);
	if (to->colour && colour != NULL)
		fprintf(to->out, "%s%s\033[0m%s", colour, text, to->end_of_line);
	else
		fprintf(to->out, "%s%s", text, to->end_of_line);
}

/* Formats a rate, such as "12.3 Mbps", in at most 9 characters. */
static void top_rate(double bps, char out[16])
{
	static const char *const unit[] = {"bps", "kbps", "Mbps", "Gbps", "Tbps"};
	unsigned scale = 0;

	for (; bps >= 999.5 && scale < 4; scale++)
		bps /= 1000;
	snprintf(out, 16, bps < 9.995 && scale > 0 ? "%.2f %s" : "%.0f %s", bps, unit[scale]);
}

/* Prints a count in at most five characters: "99999", "123k", "12M". */
static void print_count(double count, char out[8])
{
	static const char unit[] = " kMGT";
	unsigned scale = 0;

	for (; count >= (scale == 0 ? 99999.5 : 999.5) && scale < 4; scale++)
		count /= 1000;
	if (scale == 0)
		snprintf(out, 8, "%.0f", count);
	else
		snprintf(out, 8, "%.0f%c", count, unit[scale]);
}

/* "-" for null. */
static void print_optional(const json_t *entry, const char *name, char out[8])
{
	if (json_is_null(json_object_get(entry, name)))
		snprintf(out, 8, "-");
	else
		print_count(json_value_of(entry, name), out);
}

static void print_share(const json_t *entry, const char *name, char out[8])
{
	double percent = 100 * json_value_of(entry, name);

	if (json_is_null(json_object_get(entry, name)))
		snprintf(out, 8, "-");
	else
		snprintf(out, 8, percent > 0 && percent < 9.95 ? "%.1f%%" : "%.0f%%",
			percent > 999 ? 999 : percent);
}

/* --- head --- */

static void print_mapper(const struct top_print *to, const json_t *mapper)
{
	const char *host = lab_text(mapper, "host");

	if (json_is_null(mapper))
		print_line(to, NULL, "routes are static");
	else if (host[0] == '\0')
		print_line(to, RED, "no mapper leads");
	else if (json_flag_of(mapper, "elsewhere"))
		print_line(to, NULL, "mapper %s on another machine, epoch %.0f", host,
			json_value_of(mapper, "epoch"));
	else
		print_line(to, NULL,
			"mapper %s %s, epoch %.0f: %.0f switches, %.0f hosts, %.0f cables", host,
			lab_text(mapper, "state"), json_value_of(mapper, "epoch"),
			json_value_of(mapper, "switches"), json_value_of(mapper, "hosts"),
			json_value_of(mapper, "cables"));
	if (lab_text(mapper, "why")[0] != '\0')
		print_line(to, RED, "not done: %s", lab_text(mapper, "why"));
}

static unsigned count_in_state(const json_t *list, const char *state)
{
	unsigned count = 0;
	json_t *entry;

	for (size_t i = 0; (entry = json_array_get(list, i)) != NULL; i++)
		count += strcmp(lab_text(entry, "state"), state) == 0;
	return count;
}

static void print_head(const struct top_print *to, const json_t *line)
{
	const json_t *processes = json_object_get(line, "processes");
	const json_t *links = json_object_get(line, "links");
	bool up = json_flag_of(line, "up");
	double cpu = 0, stall = 0, dilation = json_value_of(line, "dilation");
	char slow[16] = "";
	const char *where = "";
	json_t *process;

	for (size_t i = 0; (process = json_array_get(processes, i)) != NULL; i++) {
		cpu += json_value_of(process, "cpu");
		if (json_value_of(process, "stall_ns") > stall) {
			stall = json_value_of(process, "stall_ns");
			where = lab_text(process, "name");
		}
	}
	if (dilation > 1)
		snprintf(slow, sizeof(slow), "  1/%.0f speed", dilation);
	print_line(to, up ? BOLD : RED,
		"lab %s %s  processes %u/%zu  link ends %u/%zu  CPU %.0f%%%s",
		lab_text(line, "lab"), up ? "up" : "NOT ALL UP",
		count_in_state(processes, "running"), json_array_size(processes),
		count_in_state(links, "up"), json_array_size(links), 100 * cpu, slow);
	print_mapper(to, json_object_get(line, "mapper"));
	if (stall > 0)
		print_line(to, NULL, "longest loop stall since the traffic started: %.1f ms (%s)",
			stall / 1e6, where);
	if (lab_text(line, "starved")[0] != '\0')
		print_line(to, RED, "CPU starved: %s; this can take links down",
			lab_text(line, "starved"));
}

static void print_more(const struct top_print *to, size_t shown, size_t all, const char *what)
{
	if (shown < all)
		print_line(to, NULL, "  ... and %zu more %s", all - shown, what);
}

static void print_errors(const struct top_print *to, const json_t *errors, size_t max)
{
	json_t *error;

	if (json_array_size(errors) > 0)
		print_line(to, BOLD, "NOT ZERO");
	for (size_t index = 0; (error = json_array_get(errors, index)) != NULL; index++) {
		double grown = json_value_of(error, "grown");

		if (index == max)
			break;
		if (grown > 0)
			print_line(to, RED, "  %s %s %.0f (+%.0f) %s: %s",
				lab_text(error, "device"), lab_text(error, "counter"),
				json_value_of(error, "value"), grown, lab_text(error, "unit"),
				lab_text(error, "meaning"));
		else
			print_line(to, YELLOW, "  %s %s %.0f %s: %s", lab_text(error, "device"),
				lab_text(error, "counter"), json_value_of(error, "value"),
				lab_text(error, "unit"), lab_text(error, "meaning"));
	}
	print_more(to, max, json_array_size(errors), "counters");
}

/* --- tables --- */

static const char *link_colour(const json_t *link)
{
	if (strcmp(lab_text(link, "state"), "up") != 0 || json_value_of(link, "drops_per_s") > 0)
		return RED;
	if (json_value_of(link, "retransmissions_per_s") > 0 ||
		json_value_of(link, "blocked") > 0.1)
		return YELLOW;
	return NULL;
}

/* Prints "-" for null and 0. */
static void print_us(const json_t *entry, const char *name, char out[16])
{
	double us = json_value_of(entry, name) / 1e3;

	if (json_is_null(json_object_get(entry, name)) || us == 0)
		snprintf(out, 16, "-");
	else
		snprintf(out, 16, "%.*f", us < 99999 ? 1 : 0, us);
}

static void print_link(const struct top_print *to, const json_t *link)
{
	char way[64], rate[16], used[8], blocked[8], fill[8], stalls[8], drops[8], late[16];

	snprintf(way, sizeof(way), "%s > %s", lab_text(link, "from"), lab_text(link, "to"));
	snprintf(rate, sizeof(rate), "%s", lab_text(link, "state"));
	if (strcmp(rate, "up") == 0)
		top_rate(json_value_of(link, "rate_bps"), rate);
	print_share(link, "utilisation", used);
	print_share(link, "blocked", blocked);
	print_share(link, "vc_fill", fill);
	print_optional(link, "stalls_per_s", stalls);
	print_optional(link, "drops_per_s", drops);
	print_us(link, "late_ns", late);
	print_line(to, link_colour(link), "%-23.23s %10s %6s %7s %5s %8s %7s %7s", way, rate, used,
		blocked, fill, stalls, drops, late);
}

/* Prints the first entries of a list, and how many more there are. */
static void print_list(const struct top_print *to, const json_t *list, size_t max, const char *what,
	void (*print)(const struct top_print *to, const json_t *item))
{
	json_t *item;

	for (size_t index = 0; (item = json_array_get(list, index)) != NULL; index++) {
		if (index == max)
			break;
		print(to, item);
	}
	print_more(to, max, json_array_size(list), what);
}

static void print_host(const struct top_print *to, const json_t *host)
{
	char sent[8], received[8], rate[16], again[8], failed[8], p50[16], p99[16];
	bool bad =
		json_value_of(host, "failed_per_s") > 0 || json_value_of(host, "drops_per_s") > 0;

	print_optional(host, "sent_per_s", sent);
	print_optional(host, "received_per_s", received);
	top_rate(json_value_of(host, "goodput_bps"), rate);
	print_optional(host, "retransmissions_per_s", again);
	print_optional(host, "failed_per_s", failed);
	print_us(host, "latency_p50_ns", p50);
	print_us(host, "latency_p99_ns", p99);
	print_line(to, bad ? RED : NULL, "%-15.15s %8s %8s %10s %7s %7s %9s %9s",
		lab_text(host, "host"), sent, received, rate, again, failed, p50, p99);
}

static void print_endpoint(const struct top_print *to, const json_t *host)
{
	char sent[8], received[8], waiting[8], unexpected[8];

	print_optional(host, "sent_per_s", sent);
	print_optional(host, "received_per_s", received);
	print_optional(host, "waiting", waiting);
	print_optional(host, "unexpected", unexpected);
	print_line(to, NULL, "%-15.15s %8.0f %8s %10s %10s %12s", lab_text(host, "host"),
		json_value_of(host, "programs"), sent, received, waiting, unexpected);
}

static void print_process(const struct top_print *to, const json_t *process)
{
	bool runs = strcmp(lab_text(process, "state"), "running") == 0;

	print_line(to, runs ? NULL : RED, "%-25.25s %10s %5.0f%% %12.1f", lab_text(process, "name"),
		lab_text(process, "state"), 100 * json_value_of(process, "cpu"),
		json_value_of(process, "stall_ns") / 1e6);
}

/* Returns the number of rows for a table of 'wanted' entries if 'left' rows are free. In a
 * shortened table, one row is for "... and more". */
static size_t share_rows(size_t wanted, size_t left)
{
	if (wanted <= left)
		return wanted;
	return left > 1 ? left - 1 : 0;
}

void top_print(const struct top_print *to, const json_t *line)
{
	json_t *errors = json_object_get(line, "errors"), *links = json_object_get(line, "links");
	json_t *hosts = json_object_get(line, "hosts");
	json_t *processes = json_object_get(line, "processes");
	json_t *endpoints = json_object_get(line, "endpoints");
	size_t max[5] = {json_array_size(errors), json_array_size(links), json_array_size(hosts),
		json_array_size(processes), json_array_size(endpoints)};

	if (to->rows > 0) {
		/* The head and the titles of tables take 10 rows; the last row stays free. */
		size_t left = to->rows > 21 ? to->rows - 11 : 10;

		max[0] = share_rows(max[0], ERRORS_MOST);
		left -= max[0] < left ? max[0] : left;
		max[4] = share_rows(max[4], left / 4);
		left -= max[4] > 0 ? max[4] + 1 : 0;
		max[3] = share_rows(max[3], left / 4);
		max[2] = share_rows(max[2], left / 4);
		max[1] = share_rows(max[1], left - max[3] - max[2]);
	}
	print_head(to, line);
	print_errors(to, errors, max[0]);
	print_line(to, NULL, "%s", "");
	print_line(to, BOLD, "%-23s %10s %6s %7s %5s %8s %7s %7s", "LINK", "RATE", "USED",
		"BLOCKED", "FILL", "STALLS/s", "DROPS/s", "LATE us");
	print_list(to, links, max[1], "link ends", print_link);
	print_line(to, BOLD, "%-15s %8s %8s %10s %7s %7s %9s %9s", "HOST", "SENT/s", "RECV/s",
		"GOODPUT", "RESENT", "FAILED", "P50 us", "P99 us");
	print_list(to, hosts, max[2], "hosts", print_host);
	if (json_array_size(endpoints) > 0)
		print_line(to, BOLD, "%-15s %8s %8s %10s %10s %12s", "ENDPOINTS", "PROGRAMS",
			"SENT/s", "RECV/s", "WAITING", "UNEXPECTED");
	print_list(to, endpoints, max[4], "hosts with programs", print_endpoint);
	print_line(to, BOLD, "%-25s %10s %6s %12s", "PROCESS", "STATE", "CPU", "STALL ms");
	print_list(to, processes, max[3], "processes", print_process);
}
