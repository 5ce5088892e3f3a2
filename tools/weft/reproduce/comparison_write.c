/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "comparison.h"

#include <math.h>
#include <string.h>

#define FORMAT     "reproduction/1"
#define CELL       40
#define LEAST_NAME 12
#define AFTER      8 /* ms; the paper's "less than 8 ms" */
/* The same after the detector's 5 ms, before which no output can become a root. */
#define AFTER_CRT 13

static double unit_ns(const struct trial *trial)
{
	return (double)trial->experiment->unit_ps / PS_PER_NS;
}

static void print_number(double value, FILE *out)
{
	if (isnan(value))
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %8.3f", value);
}

static void print_transient(const struct trial *trial, FILE *out)
{
	const struct transient *transient = &trial->transient;
	double back = transient_back_ns(transient);

	print_number(transient->deliverable, out);
	print_number(transient_before(transient), out);
	print_number(transient_minimum(transient), out);
	print_number(transient_at(transient, AFTER * unit_ns(trial)), out);
	print_number(transient_at(transient, AFTER_CRT * unit_ns(trial)), out);
	print_number(transient_end(transient), out);
	if (isinf(back))
		fprintf(out, " %8s", "never");
	else
		fprintf(out, " %8.1f", back / unit_ns(trial));
}

static void print_loads(const struct trial *trial, FILE *out)
{
	for (unsigned i = 0; i < trial->points; i++)
		fprintf(out, " %4.0f:%.3f", 100 * trial->point[i].load, trial->point[i].accepted);
}

static void print_value(const struct trial *trial, FILE *out)
{
	switch (trial->experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		print_transient(trial, out);
		break;
	case EXPERIMENT_THROUGHPUT:
		print_loads(trial, out);
		break;
	default:
		print_number(trial->value, out);
	}
}

static void print_head(const struct experiment *experiment, FILE *out)
{
	switch (experiment->measure) {
	case EXPERIMENT_EFFICIENCY:
		fputs("efficiency over time, shares of the hosts' links", out);
		if (experiment->unit_ps != PS_PER_MS)
			fprintf(out, "; a ms stands for %.4g us",
				(double)experiment->unit_ps / PS_PER_US);
		fprintf(out, "\n  %-48s %8s %8s %8s %8s %8s %8s %8s\n", "", "possible", "before",
			"minimum", "+8 ms", "+13 ms", "end", "back, ms");
		break;
	case EXPERIMENT_THROUGHPUT:
		fputs("accepted at each load, per cent of the hosts' links: share\n", out);
		break;
	default:
		fputs("time of the schedule, ms\n", out);
	}
}

static void print_curves(
	const struct experiment *experiment, const struct trial *trial, unsigned trials, FILE *out)
{
	if (!experiment_wants_all(experiment))
		return;
	print_head(experiment, out);
	for (unsigned i = 0; i < trials; i++) {
		char label[EXPERIMENT_TEXT];

		if (trial[i].stage != TRIAL_DONE)
			continue;
		trial_label(&trial[i], label);
		fprintf(out, "  %-48s", label);
		print_value(&trial[i], out);
		fputc('\n', out);
	}
}

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Times are in the paper's ms (experiment->unit_ps), except those of the samples; null if there is
 * no such sample. */
static json_t *transient_json(const struct trial *trial)
{
	const struct transient *transient = &trial->transient;
	json_t *samples = json_array();

	for (unsigned i = 0; i < transient->samples; i++)
		json_array_append_new(
			samples, json_pack("{s:f,s:f}", "t_ns", transient->sample[i].t_ns,
					 "accepted", transient->sample[i].accepted));
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "deliverable",
		number(transient->deliverable), "before", number(transient_before(transient)),
		"minimum", number(transient_minimum(transient)), "at_8ms",
		number(transient_at(transient, AFTER * unit_ns(trial))), "at_13ms",
		number(transient_at(transient, AFTER_CRT * unit_ns(trial))), "end",
		number(transient_end(transient)), "back_ms",
		number(transient_back_ns(transient) / unit_ns(trial)), "samples", samples);
}

static const char *const quantities[] = {"factor of %s", "increase of %s, per cent", "%s",
	"greatest %s of a link, per cent", "least %s of a link, per cent",
	"links with a %s below %u %%, per cent", "links with a %s above %u %%, per cent",
	"efficiency before the hot spot", "least efficiency in the hot spot",
	"efficiency %u ms into the hot spot", "efficiency at the end of the hot spot",
	"time to recover, ms", "slowdown beside the other case",
	"mean latency after %u thousandths of the messages, away from the final one, per cent",
	"95 %% interval of the %s, per cent of the mean",
	"95 %% interval of the accepted traffic, per cent of the mean"};

/* The kind of numbers of a group of rows. */
static void describe(
	const struct published_row *row, const struct experiment *experiment, char out[96])
{
	static const char *const units[] = {"productivity, flits/ns/switch", "latency, ns",
		"messages that wait at the host with most", "traffic, flits/ns/switch",
		"traffic, flits/ns/switch", "mean latency, ns", "efficiency of the run",
		"accepted at full load", "time of the schedule, ms"};
	const char *what = row->quantity == PUBLISHED_VALUE
				   ? units[experiment->measure]
				   : experiment_measure_name(experiment->measure);

	if (published_is_link(row))
		what = experiment->measure == EXPERIMENT_BLOCKED ? "blocked time" : "utilisation";
	if (row->quantity == PUBLISHED_AT || row->quantity == PUBLISHED_AFTER)
		snprintf(out, 96, quantities[row->quantity], row->limit);
	else if (published_is_link(row))
		snprintf(out, 96, quantities[row->quantity], what, row->limit);
	else
		snprintf(out, 96, quantities[row->quantity], what);
}

static const char *algorithm_name(const struct experiment *experiment, unsigned at)
{
	return experiment->algorithms.at[at].name;
}

static void subject(
	const struct published_row *row, const struct experiment *experiment, char out[CELL * 3])
{
	const char *own = algorithm_name(experiment, row->algorithm);

	if (published_is_relative(row))
		snprintf(out, CELL * 3, "%s / %s", own, algorithm_name(experiment, row->over));
	else
		snprintf(out, CELL * 3, "%s", own);
}

/* "1.42 (1.27-1.56)". */
static void numbers(
	enum published_quantity quantity, double min, double max, double mean, char out[CELL])
{
	int digits = quantity != PUBLISHED_VALUE ? 2 : mean < 10 && mean != floor(mean) ? 4 : 0;

	if (isnan(mean) && !isnan(min) && !isnan(max))
		snprintf(out, CELL, "%.2f to %.2f", min, max);
	else if (isnan(mean) && !isnan(min))
		snprintf(out, CELL, "at least %.2f", min);
	else if (isnan(mean) && !isnan(max))
		snprintf(out, CELL, "at most %.2f", max);
	else if (isinf(mean))
		snprintf(out, CELL, "never");
	else if (isnan(mean))
		snprintf(out, CELL, "-");
	else if (isnan(min) || isnan(max) || isinf(min) ||
		 (quantity >= PUBLISHED_BEFORE && min == max))
		snprintf(out, CELL, "%.*f", digits, mean);
	else
		snprintf(out, CELL, "%.*f (%.*f..%.*f)", digits, mean, digits, min, digits, max);
}

static void describe_match(const struct comparison_row *row, char out[CELL])
{
	const char *text = "";

	if (row->instances == 0)
		text = "not measured";
	else if (row->checked && published_is_claim(row->published))
		text = row->within ? "holds" : "does not hold";
	else if (row->checked)
		text = row->within ? "near" : "apart";
	if (row->instances > 0 && !comparison_is_whole(row))
		snprintf(out, CELL, "%u of %u measured", row->instances, row->wanted);
	else
		snprintf(out, CELL, "%s", text);
}

static void print_row(const struct comparison_row *row, const struct experiment *experiment,
	bool readings, FILE *out)
{
	const struct published_row *published = row->published;
	const struct experiment_choice *case_at = &experiment->cases.at[published->case_at];
	char what[CELL * 3], theirs[CELL], reading[CELL] = "", ours[CELL], ratio[16] = "-";
	char spread[24] = "", met[CELL], network[2 * CELL + 16];

	subject(published, experiment, what);
	numbers(published->quantity, published->min, published->max, published->mean, theirs);
	if (published_is_reading(published)) {
		strcpy(reading, theirs);
		snprintf(theirs, sizeof(theirs), "'%s'", published->words);
	}
	numbers(published->quantity, row->instances > 1 ? row->min : NAN,
		row->instances > 1 ? row->max : NAN, row->mean, ours);
	if (row->instances > 0 && isfinite(row->ratio))
		snprintf(ratio, sizeof(ratio), "%.2f", row->ratio);
	if (published_is_relative(published) && isfinite(row->half_width))
		snprintf(spread, sizeof(spread), " ours +-%.2f", row->half_width);
	describe_match(row, met);
	snprintf(network, sizeof(network), "%s%s%s",
		experiment->networks.at[published->network].name,
		case_at->name[0] != '\0' ? ", " : "", case_at->name);
	fprintf(out, "  %-24s %-24s | %-22s |", network, what, theirs);
	if (readings)
		fprintf(out, " %-15s |", reading);
	fprintf(out, " %-22s | %5s  %s%s\n", ours, ratio, met, spread);
}

static void print_wrong(const struct comparison *comparison, const struct experiment *experiment,
	const struct comparison_order *order, FILE *out)
{
	const struct comparison_row *greater = &comparison->row[order->greater];
	const struct comparison_row *less = &comparison->row[order->less];
	char a[CELL * 3], b[CELL * 3];

	subject(greater->published, experiment, a);
	subject(less->published, experiment, b);
	fprintf(out, "  order: %s is published above %s, here below (%s: %.2f, %.2f)\n", a, b,
		experiment->networks.at[greater->published->network].name, greater->mean,
		less->mean);
}

/* Discards and deadlocks of the networks. */
static void print_troubles(const struct trial *trial, unsigned trials, FILE *out)
{
	for (unsigned i = 0; i < trials; i++) {
		uint64_t dropped = 0;
		bool deadlock = false;
		char label[EXPERIMENT_TEXT];

		for (unsigned p = 0; p < trial[i].points; p++) {
			dropped += trial[i].point[p].dropped;
			deadlock = deadlock || trial[i].point[p].deadlock;
		}
		trial_label(&trial[i], label);
		if (dropped > 0)
			fprintf(out, "  %s: %llu messages discarded, over all points\n", label,
				(unsigned long long)dropped);
		if (deadlock)
			fprintf(out, "  %s: deadlock\n", label);
		if (trial[i].stage == TRIAL_FAILED)
			fprintf(out, "  %s: %s\n", label, trial[i].fault.text);
	}
}

static bool has_readings(const struct comparison *comparison)
{
	for (unsigned i = 0; i < comparison->rows; i++)
		if (published_is_reading(comparison->row[i].published))
			return true;
	return false;
}

void comparison_print(const struct comparison *comparison, const struct experiment *experiment,
	const struct trial *trial, unsigned trials, FILE *out)
{
	bool readings = has_readings(comparison);
	char before[96] = "", now[96];

	fprintf(out, "%s, %s: %s\n", experiment->paper, experiment->place, experiment->title);
	print_curves(experiment, trial, trials, out);
	for (unsigned i = 0; i < comparison->rows; i++) {
		describe(comparison->row[i].published, experiment, now);
		if (strcmp(now, before) != 0)
			fprintf(out, "%s\n  %-24s %-24s | %-22s |%s %-22s | ratio\n", now,
				"network", "algorithm", "published",
				readings ? " our reading     |" : "", "ours");
		strcpy(before, now);
		print_row(&comparison->row[i], experiment, readings, out);
	}
	print_troubles(trial, trials, out);
	if (comparison->failed > 0)
		fprintf(out, "%u of %u measurements failed\n", comparison->failed, trials);
	fprintf(out,
		"%u of %u rows not measured or away from the published by more than %.4g %%; "
		"%u of %u orders not as published\n",
		comparison->missed, comparison->rows, experiment->tolerance_ppm / 1e4,
		comparison->wrongs, comparison->orders);
	for (unsigned i = 0; i < comparison->wrongs; i++)
		print_wrong(comparison, experiment, &comparison->wrong[i], out);
}

static const char *over_name(
	const struct experiment *experiment, const struct published_row *published)
{
	return published->quantity == PUBLISHED_SLOWDOWN
		       ? experiment->cases.at[published->over].name
		       : algorithm_name(experiment, published->over);
}

/* The numbers: the paper's, or our reading of its words. */
static void add_reference(json_t *json, const struct published_row *published)
{
	json_t *numbers = json_pack("{s:o,s:o,s:o}", "min", number(published->min), "max",
		number(published->max), "mean", number(published->mean));
	bool reading = published_is_reading(published);

	json_object_set_new(json, "published",
		reading ? json_pack("{s:n,s:n,s:n,s:s}", "min", "max", "mean", "words",
				  published->words)
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
	return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:o,s:i,s:o,s:o,s:i,s:i,s:b}", "weft",
		FORMAT, "name", experiment->name, "paper", experiment->paper, "place",
		experiment->place, "title", experiment->title, "measure",
		experiment_measure_name(experiment->measure), "tolerance",
		experiment->tolerance_ppm / 1e6, "rows", rows, "orders", (int)comparison->orders,
		"wrong_orders", wrong, "trials", measured, "missed", (int)comparison->missed,
		"failed", (int)comparison->failed, "good", comparison_good(comparison));
}
