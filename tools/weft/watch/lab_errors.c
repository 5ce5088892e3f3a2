/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_collect.h"

#include <string.h>

#include "lab/lab_query.h"
#include "metrics_text.h"

struct errors {
	json_t *grown, *stood;
};

static void add(struct errors *errors, const char *device, const char *name, json_int_t value,
	json_int_t before)
{
	const struct counter_info *info = counter_info_find(name);
	json_int_t grown = value > before ? value - before : 0;

	if (info == NULL || !info->good_is_zero || value == 0)
		return;
	json_array_append_new(grown > 0 ? errors->grown : errors->stood,
		json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "device", device, "counter", name, "unit",
			info->unit, "meaning", info->meaning, "value", value, "grown", grown));
}

static void add_class(
	struct errors *errors, const json_t *all, const json_t *before, const char *class)
{
	json_t *devices = json_object_get(all, class), *counters, *value;
	const char *device, *name;

	json_object_foreach(devices, device, counters)
	{
		const json_t *old = json_object_get(json_object_get(before, class), device);

		json_object_foreach(counters, name, value) add(errors, device, name,
			json_integer_value(value),
			json_integer_value(old != NULL ? json_object_get(old, name) : value));
	}
}

/* The link's end at this port in an earlier document. */
static const json_t *find_link(const json_t *all, const char *port)
{
	json_t *link;
	size_t index;

	json_array_foreach(json_object_get(all, "links"), index, link)
	{
		if (strcmp(lab_text(link, "port"), port) == 0)
			return link;
	}
	return NULL;
}

/* The port of a switch, or the interface of a host, counts most of what its link counts. */
static bool is_counted(const json_t *all, const char *port, const char *name)
{
	char host[64] = "";
	const json_t *nics = json_object_get(all, "nics");

	strncat(host, port, strcspn(port, ":") < sizeof(host) ? strcspn(port, ":") : 0);
	return json_object_get(json_object_get(json_object_get(all, "ports"), port), name) !=
		       NULL ||
	       json_object_get(json_object_get(nics, host), name) != NULL ||
	       json_object_get(json_object_get(nics, port), name) != NULL;
}

static void add_links(struct errors *errors, const json_t *all, const json_t *before)
{
	json_t *link, *value;
	const char *name;
	size_t index;

	json_array_foreach(json_object_get(all, "links"), index, link)
	{
		const char *port = lab_text(link, "port");
		const json_t *old = find_link(before, port);

		json_object_foreach(link, name, value)
		{
			if (is_counted(all, port, name))
				continue;
			add(errors, port, name, json_integer_value(value),
				json_integer_value(
					old != NULL ? json_object_get(old, name) : value));
		}
	}
}

json_t *lab_errors(const json_t *all, const json_t *before)
{
	static const char *const classes[] = {"nics", "ports", "congestion"};
	struct errors errors = {json_array(), json_array()};

	for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		add_class(&errors, all, before, classes[i]);
	add_links(&errors, all, before);
	json_array_extend(errors.grown, errors.stood);
	json_decref(errors.stood);
	return errors.grown;
}
