/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "run_link_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run/run_config.h"

#define FIRST_SAMPLES 16

uint32_t run_link_share(double part, double whole)
{
	double share = whole > 0 ? part / whole * RUN_LINK_SHARE_ONE + 0.5 : 0;

	return share < UINT32_MAX ? (uint32_t)share : UINT32_MAX;
}

bool run_link_series_is_full(const struct run_link_series *series, uint64_t samples)
{
	return (samples + 1) * run_link_series_values(series) > RUN_LINK_VALUES_MAX;
}

uint32_t *run_link_series_add(struct run_link_series *series)
{
	size_t values = run_link_series_values(series);

	if (series->samples == series->room) {
		uint32_t room = series->room == 0 ? FIRST_SAMPLES : 2 * series->room;
		uint32_t *value = realloc(series->value, room * values * sizeof(*value));

		if (value == NULL)
			return NULL;
		series->value = value;
		series->room = room;
	}
	return series->value + series->samples++ * values;
}

int run_link_series_copy(struct run_link_series *series, const struct run_link_series *from)
{
	size_t values = from->samples * run_link_series_values(from);

	*series = (struct run_link_series){.ways = from->ways, .vcs = from->vcs};
	if (values == 0)
		return 0;
	series->value = malloc(values * sizeof(*series->value));
	if (series->value == NULL)
		return -ENOMEM;
	memcpy(series->value, from->value, values * sizeof(*series->value));
	series->samples = series->room = from->samples;
	return 0;
}

void run_link_series_free(struct run_link_series *series)
{
	free(series->value);
	*series = (struct run_link_series){.ways = 0};
}

/* --- JSON --- */

static bool is_share(unsigned value)
{
	return value != RUN_LINK_STALLS && value != RUN_LINK_ROOT;
}

/* Returns one value of a direction, over all samples. */
static json_t *list_json(const struct run_link_series *series, uint32_t way, unsigned value)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < series->samples; i++) {
		uint32_t number = run_link_series_at(series, i, way)[value];

		if (value == RUN_LINK_ROOT)
			json_array_append_new(list, json_boolean(number != 0));
		else if (is_share(value))
			json_array_append_new(list, json_real((double)number / RUN_LINK_SHARE_ONE));
		else
			json_array_append_new(list, json_integer(number));
	}
	return list;
}

static bool is_ever(
	const struct run_link_series *series, uint32_t way, unsigned value, unsigned count)
{
	for (uint32_t i = 0; i < series->samples; i++)
		for (unsigned k = 0; k < count; k++)
			if (run_link_series_at(series, i, way)[value + k] != 0)
				return true;
	return false;
}

json_t *run_link_series_json(const struct run_link_series *series, uint32_t way)
{
	json_t *object = json_pack("{s:o,s:o,s:o}", "utilisation",
		list_json(series, way, RUN_LINK_UTILISATION), "blocked",
		list_json(series, way, RUN_LINK_BLOCKED), "stalls",
		list_json(series, way, RUN_LINK_STALLS));

	if (is_ever(series, way, RUN_LINK_FILL, series->vcs)) {
		json_t *fill = json_array();

		for (unsigned vc = 0; vc < series->vcs; vc++)
			json_array_append_new(fill, list_json(series, way, RUN_LINK_FILL + vc));
		json_object_set_new(object, "fill", fill);
	}
	if (is_ever(series, way, RUN_LINK_ROOT, 1))
		json_object_set_new(object, "root", list_json(series, way, RUN_LINK_ROOT));
	return object;
}

static int parse_list(
	struct run_link_series *series, uint32_t way, unsigned value, const json_t *list)
{
	size_t place = way * run_link_series_width(series) + value, index;
	json_t *entry;

	if (!json_is_array(list) || json_array_size(list) != series->samples)
		return -EINVAL;
	json_array_foreach(list, index, entry)
	{
		double number =
			value == RUN_LINK_ROOT ? json_is_true(entry) : json_number_value(entry);
		double one = is_share(value) ? 1 : RUN_LINK_SHARE_ONE;

		if (!(number >= 0))
			return -EINVAL;
		series->value[index * run_link_series_values(series) + place] =
			run_link_share(number, one);
	}
	return 0;
}

int run_link_series_parse(struct run_link_series *series, uint32_t way, const json_t *from)
{
	static const char *const names[] = {"utilisation", "blocked", "stalls", "root"};
	const json_t *fill = json_object_get(from, "fill");
	int result = 0;

	for (unsigned i = 0; i < RUN_LINK_FILL && result == 0; i++)
		if (i != RUN_LINK_ROOT || json_object_get(from, names[i]) != NULL)
			result = parse_list(series, way, i, json_object_get(from, names[i]));
	if (fill != NULL && json_array_size(fill) != series->vcs)
		return -EINVAL;
	for (unsigned vc = 0; vc < series->vcs && fill != NULL && result == 0; vc++)
		result = parse_list(series, way, RUN_LINK_FILL + vc, json_array_get(fill, vc));
	return result;
}
