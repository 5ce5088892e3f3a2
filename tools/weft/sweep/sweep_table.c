/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_table.h"

#include <math.h>
#include <string.h>

#include "confidence.h"
#include "result_file.h"

enum column_kind {
	MEASURE, /* has a mean and an interval */
	COUNT,   /* is added up */
	ANSWER,  /* yes, no or null; for several runs the answer of all, else null */
	TEXT,    /* is neither */
};

struct column {
	const char *name;
	const char *path[3]; /* in a result */
	enum column_kind kind;
};

#define LATENCY(name, of)                                                   \
	{name "_ns_mean", {"latency_ns", of, "mean"}, MEASURE},             \
		{name "_ns_stddev", {"latency_ns", of, "stddev"}, MEASURE}, \
		{name "_ns_p50", {"latency_ns", of, "p50"}, MEASURE},       \
		{name "_ns_p99", {"latency_ns", of, "p99"}, MEASURE},       \
		{name "_ns_p999", {"latency_ns", of, "p999"}, MEASURE},     \
	{                                                                   \
		name "_ns_max", {"latency_ns", of, "max"}, MEASURE          \
	}

#define COMPLETION "goal_completion_ns"

static const struct column columns[] = {
	{"offered", {"throughput", "offered"}, MEASURE},
	{"accepted", {"throughput", "accepted"}, MEASURE},
	{"flits_per_ns_per_switch", {"throughput", "flits_per_ns_per_switch"}, MEASURE},
	LATENCY("network", "network"),
	LATENCY("total", "total"),
	{"released", {"throughput", "released"}, MEASURE},
	{"network_released_ns_mean", {"latency_ns", "network_released", "mean"}, MEASURE},
	{"total_released_ns_mean", {"latency_ns", "total_released", "mean"}, MEASURE},
	{"resequencer_frames", {"latency_ns", "resequencer", "frames"}, COUNT},
	{"resequencer_ns_mean", {"latency_ns", "resequencer", "mean"}, MEASURE},
	{"resequencer_ns_p99", {"latency_ns", "resequencer", "p99"}, MEASURE},
	{"resequencer_ns_max", {"latency_ns", "resequencer", "max"}, MEASURE},
	{"packets_injected", {"packets", "injected"}, COUNT},
	{"packets_delivered", {"packets", "delivered"}, COUNT},
	{"packets_dropped", {"packets", "dropped"}, COUNT},
	{"packets_retransmitted", {"packets", "retransmitted"}, COUNT},
	{"packets_pending", {"packets", "pending"}, COUNT},
	{"messages_generated", {"messages", "generated"}, COUNT},
	{"messages_delivered", {"messages", "delivered"}, COUNT},
	{"messages_pending", {"messages", "pending"}, COUNT},
	{"lost", {"checks", "lost"}, COUNT},
	{"duplicated", {"checks", "duplicated"}, COUNT},
	{"out_of_order", {"checks", "out_of_order"}, COUNT},
	{"deadlock", {"checks", "deadlock"}, COUNT},
	{"fingerprint", {"fingerprint"}, TEXT},
	{"until_reached", {"until", "reached"}, ANSWER},
	{"until_interval", {"until", "interval"}, TEXT},
	{"saturated", {"saturated"}, ANSWER},
	{"steady", {"steady"}, ANSWER},
	{COMPLETION, {"counters", COMPLETION}, MEASURE},
};
#define COLUMNS         ((unsigned)(sizeof(columns) / sizeof(columns[0])))
#define COLUMN_NAME_MAX 64

/* Of each entry of 'traffic', where a run has several: traffic.0_accepted and so on. */
static const struct column entry_columns[] = {
	{"offered", {"throughput", "offered"}, MEASURE},
	{"accepted", {"throughput", "accepted"}, MEASURE},
	{"released", {"throughput", "released"}, MEASURE},
	LATENCY("total", "total"),
};
#define ENTRY_COLUMNS ((unsigned)(sizeof(entry_columns) / sizeof(entry_columns[0])))

/* Column 'at' of a table; 'name' is room for the name of an entry's. */
static struct column column_at(unsigned at, char name[COLUMN_NAME_MAX])
{
	struct column column;

	if (at < COLUMNS)
		return columns[at];
	column = entry_columns[(at - COLUMNS) % ENTRY_COLUMNS];
	snprintf(name, COLUMN_NAME_MAX, "traffic.%u_%s", (at - COLUMNS) / ENTRY_COLUMNS,
		column.name);
	column.name = name;
	return column;
}

/* Those of a result. */
static unsigned count_columns(const json_t *result)
{
	size_t entries = json_array_size(json_object_get(result, "traffic"));

	return (unsigned)(COLUMNS + (entries > 1 ? entries * ENTRY_COLUMNS : 0));
}

/* Those that some row has. */
static unsigned count_table_columns(const struct sweep_plan *plan, json_t *const *rows)
{
	unsigned count = COLUMNS;
	char name[COLUMN_NAME_MAX];

	for (unsigned point = 0; point < plan->points; point++)
		while (json_object_get(rows[point], column_at(count, name).name) != NULL)
			count++;
	return count;
}
#define NUMBER_NAME_MAX 512 /* of a key as a column of numbers */

json_t *sweep_result_load(const char *path, bool cut_short)
{
	json_t *result = result_file_load(path, NULL);
	const json_t *checks = json_object_get(result, "checks");

	if (result == NULL)
		return NULL;
	if ((!json_is_true(json_object_get(result, "incomplete")) ||
		    (!cut_short && json_is_true(json_object_get(checks, "deadlock")))))
		return result;
	json_decref(result);
	errno = EINVAL;
	return NULL;
}

bool sweep_result_is_bad(const json_t *result)
{
	const json_t *checks = json_object_get(result, "checks");

	return json_integer_value(json_object_get(checks, "lost")) != 0 ||
	       json_integer_value(json_object_get(checks, "duplicated")) != 0 ||
	       json_integer_value(json_object_get(checks, "out_of_order")) != 0 ||
	       json_is_true(json_object_get(checks, "deadlock"));
}

bool sweep_result_is_empty(const json_t *result)
{
	return !sweep_result_is_bad(result) &&
	       json_is_string(json_object_get(result, "nothing_measured"));
}

/* A schedule that did not end has no time. */
static bool lacks_completion(const struct column *column, const json_t *result)
{
	return strcmp(column->name, COMPLETION) == 0 &&
	       json_integer_value(
		       json_object_get(json_object_get(result, "counters"), "goal_unfinished")) > 0;
}

/* Booleans as 0 or 1, missing values as null. 'from': the result, or its entry of traffic. */
static json_t *column_value(const struct column *column, const json_t *from)
{
	const json_t *value = from;

	if (lacks_completion(column, from))
		return json_null();
	for (unsigned i = 0; i < 3 && column->path[i] != NULL; i++)
		value = json_object_get(value, column->path[i]);
	if (json_is_boolean(value))
		return json_integer(json_is_true(value));
	return value != NULL ? json_deep_copy(value) : json_null();
}

/* The source of column 'at': the result or one of its entries. */
static const json_t *column_from(unsigned at, const json_t *result)
{
	return at < COLUMNS ? result
			    : json_array_get(json_object_get(result, "traffic"),
				      (at - COLUMNS) / ENTRY_COLUMNS);
}

/* The numbers that the texts of the varied keys mean, at the end of a row. */
static void set_numbers(json_t *row, const struct sweep_plan *plan, unsigned point)
{
	for (unsigned i = 0; i < plan->varies; i++) {
		char name[NUMBER_NAME_MAX];
		struct sweep_number number;

		if (sweep_plan_number_name(plan, i, name, sizeof(name)) &&
			sweep_number_parse(sweep_plan_value(plan, point, i), &number))
			json_object_set_new(row, name, json_real(number.value));
	}
}

static void write_number_names(const struct sweep_plan *plan, FILE *out)
{
	for (unsigned i = 0; i < plan->varies; i++) {
		char name[NUMBER_NAME_MAX];

		if (sweep_plan_number_name(plan, i, name, sizeof(name)))
			fprintf(out, ",%s", name);
	}
}

static void write_numbers(const struct sweep_plan *plan, const json_t *row, FILE *out)
{
	for (unsigned i = 0; i < plan->varies; i++) {
		char name[NUMBER_NAME_MAX];

		if (sweep_plan_number_name(plan, i, name, sizeof(name)))
			fprintf(out, ",%.12g", json_number_value(json_object_get(row, name)));
	}
}

json_t *sweep_row(const struct sweep_plan *plan, unsigned point, const json_t *result)
{
	json_t *row = json_object();

	for (unsigned i = 0; i < plan->varies; i++)
		json_object_set_new(
			row, plan->vary[i].key, json_string(sweep_plan_value(plan, point, i)));
	json_object_set(row, "seed", json_object_get(result, "seed"));
	for (unsigned i = 0; i < count_columns(result); i++) {
		char name[COLUMN_NAME_MAX];
		struct column column = column_at(i, name);

		json_object_set_new(
			row, column.name, column_value(&column, column_from(i, result)));
	}
	set_numbers(row, plan, point);
	return row;
}

static void write_text(const char *text, FILE *out)
{
	if (strpbrk(text, ",\"\n\r") == NULL) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void write_cell(const json_t *value, FILE *out)
{
	if (json_is_string(value))
		write_text(json_string_value(value), out);
	else if (json_is_integer(value))
		fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		fprintf(out, "%.9g", json_real_value(value));
}

static void write_keys(const struct sweep_plan *plan, FILE *out)
{
	for (unsigned i = 0; i < plan->varies; i++) {
		write_text(plan->vary[i].key, out);
		fputc(',', out);
	}
}

static void write_values(const struct sweep_plan *plan, unsigned point, FILE *out)
{
	for (unsigned i = 0; i < plan->varies; i++) {
		write_text(sweep_plan_value(plan, point, i), out);
		fputc(',', out);
	}
}

static void write_row(
	const struct sweep_plan *plan, const json_t *row, unsigned point, unsigned count, FILE *out)
{
	write_values(plan, point, out);
	write_cell(json_object_get(row, "seed"), out);
	for (unsigned i = 0; i < count; i++) {
		char name[COLUMN_NAME_MAX];

		fputc(',', out);
		write_cell(json_object_get(row, column_at(i, name).name), out);
	}
	write_numbers(plan, row, out);
	fputc('\n', out);
}

void sweep_table_write(const struct sweep_plan *plan, json_t *const *rows, FILE *out)
{
	unsigned count = count_table_columns(plan, rows);
	char name[COLUMN_NAME_MAX];

	write_keys(plan, out);
	fputs("seed", out);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, ",%s", column_at(i, name).name);
	write_number_names(plan, out);
	fputc('\n', out);
	for (unsigned point = 0; point < plan->points; point++)
		if (rows[point] != NULL)
			write_row(plan, rows[point], point, count, out);
}

static void write_means_heading(const struct sweep_plan *plan, unsigned count, FILE *out)
{
	write_keys(plan, out);
	fputs("seeds", out);
	for (unsigned i = 0; i < count; i++) {
		char name[COLUMN_NAME_MAX];
		struct column column = column_at(i, name);

		if (column.kind == TEXT)
			continue;
		fprintf(out, ",%s", column.name);
		if (column.kind == MEASURE)
			fprintf(out, ",%s_ci95", column.name);
	}
	write_number_names(plan, out);
	fputc('\n', out);
}

static void name_interval(const struct column *column, char name[COLUMN_NAME_MAX + 8])
{
	snprintf(name, COLUMN_NAME_MAX + 8, "%s_ci95", column->name);
}

/* One column of 'count' points. */
static void set_mean(json_t *mean, const struct column *column, json_t *const *rows, unsigned count)
{
	double value[SWEEP_VALUES_MAX];
	char interval[COLUMN_NAME_MAX + 8];
	struct confidence confidence;
	json_int_t sum = 0;
	unsigned values = 0;

	value[0] = 0;
	for (unsigned i = 0; i < count; i++) {
		const json_t *cell = json_object_get(rows[i], column->name);

		if (!json_is_number(cell))
			continue;
		value[values++] = json_number_value(cell);
		sum += json_integer_value(cell);
	}
	if (column->kind == ANSWER) {
		bool agreed = values == count && (sum == 0 || sum == (json_int_t)count);

		json_object_set_new(
			mean, column->name, agreed ? json_integer(sum > 0) : json_null());
		return;
	}
	if (column->kind == COUNT) {
		json_object_set_new(
			mean, column->name, values > 0 ? json_integer(sum) : json_null());
		return;
	}
	confidence = confidence_of(value, values);
	name_interval(column, interval);
	json_object_set_new(
		mean, column->name, values > 0 ? json_real(confidence.mean) : json_null());
	/* A number, or null: there is none for fewer than two values. */
	json_object_set_new(mean, interval,
		isnan(confidence.half_width) ? json_null() : json_real(confidence.half_width));
}

/* The mean of the points from 'first' on that differ in their seeds; NULL: there are no results. */
static json_t *mean_of(
	const struct sweep_plan *plan, json_t *const *rows, unsigned first, unsigned count)
{
	unsigned repeats = sweep_plan_repeats(plan), seeds = 0;
	json_t *mean;

	for (unsigned i = 0; i < repeats; i++)
		seeds += rows[first + i] != NULL;
	if (seeds == 0)
		return NULL;
	mean = json_object();
	for (unsigned i = 0; i < plan->varies; i++)
		json_object_set_new(
			mean, plan->vary[i].key, json_string(sweep_plan_value(plan, first, i)));
	json_object_set_new(mean, "seeds", json_integer(seeds));
	for (unsigned i = 0; i < count; i++) {
		char name[COLUMN_NAME_MAX];
		struct column column = column_at(i, name);

		if (column.kind != TEXT)
			set_mean(mean, &column, rows + first, repeats);
	}
	set_numbers(mean, plan, first);
	return mean;
}

json_t *sweep_means(const struct sweep_plan *plan, json_t *const *rows)
{
	unsigned repeats = sweep_plan_repeats(plan), count = count_table_columns(plan, rows);
	json_t *means = json_array();

	for (unsigned first = 0; first < plan->points; first += repeats) {
		json_t *mean = mean_of(plan, rows, first, count);

		if (mean != NULL)
			json_array_append_new(means, mean);
	}
	return means;
}

static void write_mean(const struct sweep_plan *plan, const json_t *mean, unsigned count, FILE *out)
{
	char interval[COLUMN_NAME_MAX + 8], name[COLUMN_NAME_MAX];

	for (unsigned i = 0; i < plan->varies; i++) {
		write_cell(json_object_get(mean, plan->vary[i].key), out);
		fputc(',', out);
	}
	write_cell(json_object_get(mean, "seeds"), out);
	for (unsigned i = 0; i < count; i++) {
		struct column column = column_at(i, name);

		if (column.kind == TEXT)
			continue;
		fputc(',', out);
		write_cell(json_object_get(mean, column.name), out);
		if (column.kind != MEASURE)
			continue;
		fputc(',', out);
		name_interval(&column, interval);
		write_cell(json_object_get(mean, interval), out);
	}
	write_numbers(plan, mean, out);
	fputc('\n', out);
}

void sweep_means_write(const struct sweep_plan *plan, json_t *const *rows, FILE *out)
{
	unsigned count = count_table_columns(plan, rows);
	json_t *means = sweep_means(plan, rows);
	const json_t *mean;
	size_t index;

	write_means_heading(plan, count, out);
	json_array_foreach(means, index, mean) write_mean(plan, mean, count, out);
	json_decref(means);
}
