/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* What comes of a mapper's work: how long a change took, and what is not as expected. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control_plane_state.h"
#include "miscabling.h"

static bool is_changing(const struct mapper *mapper)
{
	return mapper_leads(mapper) && (mapper->state != MAPPER_LEADING || mapper->stale ||
					       mapper->map.changes != mapper->computed);
}

/* The lines of the report; NULL without memory. */
static char *compare(const struct topology *found, const struct topology *expected)
{
	char *lines = NULL;
	size_t bytes;
	FILE *out = open_memstream(&lines, &bytes);

	if (out == NULL)
		return NULL;
	miscabling_report(found, expected, out);
	return fclose(out) == 0 ? lines : NULL;
}

static void announce(const struct control_plane *plane, const char *host, const char *lines)
{
	if (plane->config.announce == NULL)
		return;
	if (lines[0] == '\0')
		printf("%s: %s: the fabric is as expected\n", plane->config.announce, host);
	else
		printf("%s: %s: the fabric is not as expected:\n%s", plane->config.announce, host,
			lines);
	fflush(stdout);
}

/* Says only what it has not said. */
static void judge_cables(
	const struct control_plane *plane, struct control_mapper *mapper, const char *host)
{
	const struct mapper_generation *current = mapper_current(&mapper->mapper);
	char *lines;

	if (plane->config.expect == NULL || current == NULL)
		return;
	lines = compare(current->topology, plane->config.expect);
	if (lines == NULL)
		return;
	if (mapper->miscabled == NULL || strcmp(lines, mapper->miscabled) != 0)
		announce(plane, host, lines);
	free(mapper->miscabled);
	mapper->miscabled = lines;
}

/* Whoever has asked for an algorithm hears that another one is in use, and why. */
static void tell_fallback(struct control_mapper *mapper, const char *host)
{
	const char *why = mapper->mapper.instead.text;

	if (strcmp(why, mapper->told) == 0)
		return;
	memcpy(mapper->told, why, sizeof(mapper->told));
	if (why[0] != '\0')
		fprintf(stderr, "mapper: %s: routes are computed by %s, because: %s\n", host,
			mapper->mapper.config.fallback->name, why);
}

static void settle(
	const struct control_plane *plane, const struct control_device *device, weft_time wall)
{
	struct control_mapper *mapper = device->mapper;

	if (mapper->mapper.generation_number == mapper->settled)
		return;
	mapper->settled = mapper->mapper.generation_number;
	mapper->last_change_ps = wall - mapper->began;
	if (mapper->first_map_ps == 0)
		mapper->first_map_ps = mapper->last_change_ps;
	tell_fallback(mapper, device->name);
	judge_cables(plane, mapper, device->name);
}

void control_mapper_watch(
	const struct control_plane *plane, const struct control_device *device, weft_time wall)
{
	struct control_mapper *mapper = device->mapper;
	bool changing = is_changing(&mapper->mapper);

	if (changing && !mapper->changing)
		mapper->began = wall;
	else if (!changing && mapper->changing && mapper_leads(&mapper->mapper))
		settle(plane, device, wall);
	mapper->changing = changing;
}
