/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "plot_curves.h"

#include <stdlib.h>
#include <string.h>

#include "sweep_number.h"

static const char *value_of(
	const struct plot_runs *runs, const struct plot_run *run, const char *key)
{
	const char *value = key != NULL ? json_string_value(json_object_get(run->vary, key)) : NULL;

	return value != NULL ? value : runs->input[run->input];
}

/* Whether all runs have numbers of one kind there. */
static bool are_numbers(const struct plot_runs *runs, const char *const *along)
{
	struct sweep_number first = {SWEEP_NUMBER_NONE, 0}, number;

	for (unsigned i = 0; i < runs->runs; i++) {
		const struct plot_run *run = &runs->run[i];
		const char *key = along[run->input];

		if (key == NULL || !sweep_number_parse(value_of(runs, run, key), &number))
			return false;
		if (i == 0)
			first = number;
		if (number.kind != first.kind)
			return false;
	}
	return true;
}

static const char *last_part(const char *key)
{
	const char *point = strrchr(key, '.');

	return point != NULL ? point + 1 : key;
}

static const struct plot_tick *find(const struct plot_curves *curves, const char *value)
{
	for (unsigned i = 0; i < curves->ticks; i++)
		if (strcmp(curves->tick[i].value, value) == 0)
			return &curves->tick[i];
	return NULL;
}

static void add_tick(struct plot_curves *curves, const struct plot_runs *runs, const char *key,
	const char *value)
{
	const char *text = key != NULL ? plot_label_find(runs, key, value) : NULL;
	struct plot_tick *tick = &curves->tick[curves->ticks];
	struct sweep_number number = {SWEEP_NUMBER_NONE, curves->ticks};

	if (!curves->words)
		sweep_number_parse(value, &number);
	curves->ticks++;
	tick->value = value;
	tick->at = number.value;
	snprintf(tick->text, sizeof(tick->text), "%s", text != NULL ? text : value);
}

int plot_ticks_make(struct plot_curves *curves, const struct plot_runs *runs,
	const char *const *along, struct fault *fault)
{
	curves->tick = calloc(runs->runs + 1, sizeof(*curves->tick));
	if (curves->tick == NULL)
		return fault_set(fault, ENOMEM, "plot: no memory");
	curves->words = !are_numbers(runs, along);
	for (unsigned i = 0; i < runs->runs; i++) {
		const struct plot_run *run = &runs->run[i];
		const char *key = along[run->input], *value = value_of(runs, run, key);

		if (find(curves, value) == NULL)
			add_tick(curves, runs, key, value);
		if (key != NULL)
			snprintf(curves->axis, sizeof(curves->axis), "%s", last_part(key));
	}
	return 0;
}

double plot_ticks_place(const struct plot_curves *curves, const struct plot_runs *runs,
	const struct plot_run *run, const char *key)
{
	const struct plot_tick *tick = find(curves, value_of(runs, run, key));

	return tick != NULL ? tick->at : 0;
}
