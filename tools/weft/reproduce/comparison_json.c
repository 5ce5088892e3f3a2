/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <math.h>
#include <string.h>

#include "comparison_cells.h"
#include "run_result.h"

#define FORMAT "reproduction/1"

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Times are in the paper's ms (experiment->unit_ps), except those of the samples; null if there is
 * no such sample. */
static json_t *transient_json(const struct trial *trial)
{
	static const char *const names[] = {
		[COURSE_DELIVERABLE] = "deliverable",
		[COURSE_BEFORE] = "before",
		[COURSE_MINIMUM] = "minimum",
		[COURSE_AFTER] = "at_8ms",
		[COURSE_AFTER_CRT] = "at_13ms",
		[COURSE_END] = "end",
		[COURSE_BACK] = "back_ms",
	};
	const struct transient *transient = &trial->transient;
	json_t *samples = json_array(), *json = json_object();
	double course[COURSE_NUMBERS];

	for (unsigned i = 0; i < transient->samples; i++)
		json_array_append_new(
			samples, json_pack("{s:f,s:f}", "t_ns", transient->sample[i].t_ns,
					 "accepted", transient->sample[i].accepted));
	comparison_course(trial, course);
	for (unsigned i = 0; i < COURSE_NUMBERS; i++)
		json_object_set_new(json, names[i], number(course[i]));
	json_object_set_new(json, "samples", samples);
	return json;
}

static const char *algorithm_name(const struct experiment *experiment, unsigned at)
{
	return experiment->algorithms.at[at].name;
}

static const char *over_name(
	const struct experiment *experiment, const struct published_row *published)
{
	return published->quantity == PUBLISHED_SLOWDOWN
		       ? experiment->cases.at[published->over].name
		       : algorithm_name(experiment, published->over);
}

static json_t *words_json(const struct published_row *published)
{
	return published_is_own(published) ? json_null() : json_string(published->words);
}

/* The numbers: the paper's, our reading of its words, or our own. */
static void add_reference(json_t *json, const struct published_row *published)
{
	json_t *numbers = json_pack("{s:o,s:o,s:o}", "min", number(published->min), "max",
		number(published->max), "mean", number(published->mean));
	bool reading = published_is_reading(published);

	json_object_set_new(json, "published",
		reading ? json_pack("{s:n,s:n,s:n,s:o}", "min", "max", "mean", "words",
				  words_json(published))
			: numbers);
	json_object_set_new(json, "reading", reading ? numbers : json_null());
}

static json_t *row_json(const struct comparison_row *row, const struct experiment *experiment)
{
	static const char *const names[] = {"factor", "percent", "value", "max", "min", "below",
		"above", "before", "minimum", "at", "end", "back", "slowdown", "after", "interval",
		"traffic-interval"};
	const struct published_row *published = row->published;
	json_t *json = json_pack("{s:s,s:s,s:s,s:s}", "quantity", names[published->quantity],
		"case", experiment->cases.at[published->case_at].name, "network",
		experiment->networks.at[published->network].name, "algorithm",
		algorithm_name(experiment, published->algorithm));

	json_object_set_new(json, "over",
		published->has_over ? json_string(over_name(experiment, published)) : json_null());
	if (published->quantity == PUBLISHED_LINK_BELOW)
		json_object_set_new(json, "below", json_integer(published->limit));
	if (published->quantity == PUBLISHED_LINK_ABOVE)
		json_object_set_new(json, "above", json_integer(published->limit));
	if (published->quantity == PUBLISHED_AFTER)
		json_object_set_new(json, "thousandths", json_integer(published->limit));
	if (published->quantity == PUBLISHED_AT)
		json_object_set_new(json, "ms", json_integer(published->limit));
	add_reference(json, published);
	json_object_set_new(json, "ours",
		json_pack("{s:o,s:o,s:o,s:i,s:i}", "min", number(row->min), "max", number(row->max),
			"mean", number(row->mean), "instances", (int)row->instances, "wanted",
			(int)row->wanted));
	json_object_set_new(json_object_get(json, "ours"), "half_width", number(row->half_width));
	json_object_set_new(json, "ratio", number(row->ratio));
	json_object_set_new(json, "within", row->checked ? json_boolean(row->within) : json_null());
	return json;
}

static json_t *trial_json(const struct trial *trial)
{
	const struct experiment *experiment = trial->experiment;
	json_t *points = json_array();

	for (unsigned i = 0; i < trial->points; i++) {
		const struct trial_point *point = &trial->point[i];

		json_array_append_new(
			points, json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:I,s:b}", "load", point->load,
					"offered", point->offered, "accepted", point->accepted,
					"flits_per_ns_per_switch", point->traffic, "network_ns",
					point->network_ns, "total_ns", point->total_ns, "dropped",
					(json_int_t)point->dropped, "deadlock", point->deadlock));
	}
	return json_pack("{s:s,s:s,s:i,s:s,s:o,s:o,s:o,s:s}", "case",
		experiment->cases.at[trial->case_at].name, "network",
		experiment->networks.at[trial->network].name, "instance", (int)trial->copy + 1,
		"algorithm", algorithm_name(experiment, trial->algorithm), "value",
		number(trial->value), "points", points, "course",
		experiment->measure == EXPERIMENT_EFFICIENCY ? transient_json(trial) : json_null(),
		"fault", trial->stage == TRIAL_FAILED ? trial->fault.text : "");
}

/* Messages of each run, and those of the definition; null if runs do not count messages. */
static json_t *length_json(const struct experiment *experiment)
{
	if (!experiment_counts_messages(experiment))
		return json_null();
	return json_pack("{s:I,s:I,s:I,s:I}", "warmup", (json_int_t)experiment->warmup_messages,
		"messages", (json_int_t)experiment->messages, "defined_warmup",
		(json_int_t)experiment->defined_warmup, "defined_messages",
		(json_int_t)experiment->defined_messages);
}

/* Null: a search goes on at any latency, or there is none. */
static json_t *latency_limit_json(const struct experiment *experiment)
{
	return experiment->latency_limit_ps > 0
		       ? json_real((double)experiment->latency_limit_ps / PS_PER_NS)
		       : json_null();
}

/* As in the results of single runs. */
static json_t *wall_json(void)
{
	json_t *wall = json_object();

	provenance_add(wall);
	return wall;
}

json_t *comparison_json(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials)
{
	json_t *rows = json_array(), *wrong = json_array(), *measured = json_array();

	for (unsigned i = 0; i < comparison->rows; i++)
		json_array_append_new(rows, row_json(&comparison->row[i], experiment));
	for (unsigned i = 0; i < comparison->wrongs; i++)
		json_array_append_new(wrong, json_pack("[i,i]", (int)comparison->wrong[i].greater,
						     (int)comparison->wrong[i].less));
	for (unsigned i = 0; i < trials; i++)
		json_array_append_new(measured, trial_json(&trial[i]));
	return json_pack(
		"{s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:f,s:o,s:i,s:o,s:o,s:i,s:i,s:i,s:i,s:i,s:i,s:b,s:o}",
		"weft", FORMAT, "name", experiment->name, "paper", experiment->paper, "place",
		experiment->place, "title", experiment->title, "measure",
		experiment_measure_name(experiment->measure), "length", length_json(experiment),
		"latency_limit_ns", latency_limit_json(experiment), "tolerance",
		experiment->tolerance_ppm / 1e6, "rows", rows, "orders", (int)comparison->orders,
		"wrong_orders", wrong, "trials", measured, "means", (int)comparison->means, "near",
		(int)comparison->near, "claims", (int)comparison->claims, "held",
		(int)comparison->held, "missed", (int)comparison->missed, "failed",
		(int)comparison->failed, "good", comparison_good(comparison), "wall", wall_json());
}
