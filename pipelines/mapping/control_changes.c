/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Follows a mapper's changes: measures their duration, compares the discovered fabric with the
 * expected one and queues messages. The thread that runs the plane prints the messages, because a
 * slow reader must not block the control plane. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_plane_private.h"
#include "mapper/fabric_map.h"

/* Interfaces of different Weft versions may discard each other's messages. */
static void report_versions(const struct fabric_map *map, FILE *out)
{
	for (uint32_t i = 1; i < map->devices; i++) {
		const struct mapper_reply *facts = &map->device[i].facts;

		if (map->device[i].present && facts->version != map->device[0].facts.version)
			fprintf(out, "%s %s: runs a different version of Weft than the mapper\n",
				facts->kind == MAPPER_HOST ? "host" : "switch", facts->name);
	}
}

/* Returns the lines of the report, or NULL if out of memory. */
static char *compare(const struct fabric_map *map, const struct topology *expected)
{
	struct error error;
	struct topology *found = fabric_map_found(map, &error);
	char *lines = NULL;
	size_t bytes;
	FILE *out = found != NULL ? open_memstream(&lines, &bytes) : NULL;

	if (out != NULL) {
		miscabling_report(found, expected, out);
		report_versions(map, out);
	}
	topology_destroy(found);
	return out != NULL && fclose(out) == 0 ? lines : NULL;
}

static void drop_oldest(struct control_plane *plane)
{
	free(plane->messages[0].text);
	plane->messages_count--;
	memmove(plane->messages, plane->messages + 1,
		plane->messages_count * sizeof(plane->messages[0]));
}

char *control_plane_message(struct control_plane *plane, bool *warning)
{
	char *text;

	if (plane->messages_count == 0)
		return NULL;
	text = plane->messages[0].text;
	*warning = plane->messages[0].warning;
	plane->messages[0].text = NULL;
	drop_oldest(plane);
	return text;
}

/* Takes ownership of 'text'; NULL is ignored. */
static void queue_message(struct control_plane *plane, bool warning, char *text)
{
	if (text == NULL)
		return;
	if (plane->messages_count == CONTROL_MESSAGES_MAX)
		drop_oldest(plane);
	plane->messages[plane->messages_count++] = (struct control_message){text, warning};
}

static void announce(struct control_plane *plane, const char *host, const char *lines)
{
	const char *name = plane->config.announce;
	char *text = NULL;
	int bytes;

	if (name == NULL)
		return;
	if (lines[0] == '\0')
		bytes = asprintf(&text, "%s: %s: the fabric is as expected\n", name, host);
	else
		bytes = asprintf(
			&text, "%s: %s: the fabric is not as expected:\n%s", name, host, lines);
	queue_message(plane, false, bytes < 0 ? NULL : text);
}

/* Reports differences that have changed since the last report. */
static void check_cabling(
	struct control_plane *plane, struct control_mapper *mapper, const char *host)
{
	char *lines;

	if (plane->config.expect == NULL)
		return;
	lines = compare(&mapper->mapper.map, plane->config.expect);
	if (lines == NULL)
		return;
	if (mapper->miscabled == NULL || strcmp(lines, mapper->miscabled) != 0)
		announce(plane, host, lines);
	free(mapper->miscabled);
	mapper->miscabled = lines;
}

void control_mapper_compare(struct control_plane *plane, const struct control_device *device)
{
	struct control_mapper *mapper = device->mapper;

	if (mapper_leads(&mapper->mapper) && !mapper->changing)
		check_cabling(plane, mapper, device->name);
}

static bool has_alternatives(const struct mapper_generation *generation)
{
	return generation != NULL && generation->table != NULL &&
	       generation->table->alternatives != NULL;
}

void control_mapper_fallback_reason(const struct control_plane *plane,
	const struct control_mapper *mapper, char out[CONTROL_WHY_MAX])
{
	const char *why = mapper->mapper.instead.text;
	bool idle = plane->config.adaptive && !has_alternatives(mapper_current(&mapper->mapper));

	snprintf(out, CONTROL_WHY_MAX, "%s%s", why,
		why[0] != '\0' && idle ? "; adaptive routing then has nothing to choose from" : "");
}

/* Warns once about each reason for the fallback algorithm. */
static void report_fallback(
	struct control_plane *plane, struct control_mapper *mapper, const char *host)
{
	char why[CONTROL_WHY_MAX], *text = NULL;

	control_mapper_fallback_reason(plane, mapper, why);
	if (strcmp(why, mapper->fallback_reported) == 0)
		return;
	memcpy(mapper->fallback_reported, why, sizeof(mapper->fallback_reported));
	if (why[0] == '\0')
		return;
	if (asprintf(&text, "mapper: %s: routes are computed with %s instead: %s\n", host,
		    mapper->mapper.config.fallback->name, why) >= 0)
		queue_message(plane, true, text);
}

static void settle(struct control_plane *plane, const struct control_device *device, weft_time wall)
{
	struct control_mapper *mapper = device->mapper;

	if (mapper->mapper.generation_number == mapper->settled)
		return;
	mapper->settled = mapper->mapper.generation_number;
	mapper->last_change_ps = wall - mapper->began;
	if (mapper->first_map_ps == 0)
		mapper->first_map_ps = mapper->last_change_ps;
	report_fallback(plane, mapper, device->name);
}

void control_mapper_watch(
	struct control_plane *plane, const struct control_device *device, weft_time wall)
{
	struct control_mapper *mapper = device->mapper;
	bool changing = mapper_leads(&mapper->mapper) &&
			(mapper->mapper.state != MAPPER_LEADING || mapper->mapper.stale ||
				mapper->mapper.map.changes != mapper->mapper.computed);

	if (changing && !mapper->changing)
		mapper->began = wall;
	else if (!changing && mapper->changing && mapper_leads(&mapper->mapper)) {
		settle(plane, device, wall);
		/* Also checked after changes that produced no new routes, or no routes at all. */
		check_cabling(plane, mapper, device->name);
	}
	mapper->changing = changing;
}
