/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft twin: writes the answer as text, JSON and a page. */

#include <math.h>
#include <stdlib.h>

#include "cmd_topo.h"
#include "common/output_file.h"
#include "topo/topology_levels.h"
#include "twin.h"

static void print_routes(const struct twin *twin, FILE *out)
{
	json_t *entry, *hot;

	fprintf(out, "\n%-28s %10s %10s %12s  %s\n", "routes", "connected", "deadlock",
		"uniform, max", "most loaded links at full load");
	for (size_t i = 0; (entry = json_array_get(twin->routes, i)) != NULL; i++) {
		const json_t *bound = json_object_get(entry, "uniform_bound");

		fprintf(out, "%-28s %10s %10s ",
			json_string_value(json_object_get(entry, "routes")),
			json_is_true(json_object_get(entry, "connected")) ? "yes" : "NO",
			json_is_true(json_object_get(entry, "deadlock_free")) ? "free" : "MAY");
		if (json_is_real(bound))
			fprintf(out, "%10.1f %% ", 100 * json_real_value(bound));
		else
			fprintf(out, "%12s ", "-");
		for (size_t k = 0; (hot = json_array_get(json_object_get(entry, "hot"), k)) != NULL;
			k++)
			if (k < 3)
				fprintf(out, " %s %.0f %%",
					json_string_value(json_object_get(hot, "port")),
					100 * json_real_value(json_object_get(hot, "load")));
		fputc('\n', out);
		if (json_array_size(json_object_get(entry, "cycle")) == 0)
			continue;
		fputs("  cycle:", out);
		for (size_t k = 0;
			(hot = json_array_get(json_object_get(entry, "cycle"), k)) != NULL; k++)
			fprintf(out, " %s", json_string_value(hot));
		fputc('\n', out);
	}
}

void twin_print_text(const struct twin *twin, FILE *out)
{
	const struct topology *topology = twin->topology;

	fprintf(out, "%s: %u switches, %u hosts, %u links\n", topology->name, topology->switches,
		topology->nodes, topology->links);
	if (topology_has_levels(topology))
		cmd_topo_print_levels(topology, out);
	else
		fprintf(out, "%s\n", "no levels: the topology is not a tree");
	for (uint32_t i = 0; i < twin->oddities && i < TWIN_ODDITIES_MAX; i++)
		fprintf(out, "%s\n", twin->oddity[i]);
	if (twin->oddities > TWIN_ODDITIES_MAX)
		fprintf(out, "and %u more\n", twin->oddities - TWIN_ODDITIES_MAX);
	if (twin->oddities == 0)
		fprintf(out, "%s\n", "cables: no irregularities");
	print_routes(twin, out);
	if (twin->trial != NULL)
		twin_trial_print(twin->trial, out);
	if (twin->measured != NULL)
		twin_counters_print(twin->measured, out);
}

/* --- the page --- */

#define PICTURE_WIDTH 1000
#define ROW_HEIGHT    140

struct place {
	double x, y;
};

/* Draws levels in rows, the highest on top, and other networks on a circle. */
static void place_switches(const struct topology *topology, unsigned levels, struct place *place)
{
	uint32_t count[UINT8_MAX + 1] = {0}, at[UINT8_MAX + 1] = {0};

	for (uint32_t s = 0; s < topology->switches; s++)
		count[topology->switch_at[s].stage]++;
	for (uint32_t s = 0; s < topology->switches; s++) {
		unsigned stage = topology->switch_at[s].stage;
		double part = (at[stage]++ + 0.5) / count[stage];

		place[s].x = PICTURE_WIDTH * part;
		place[s].y = ROW_HEIGHT * (levels - stage + 0.5);
		if (levels > 0)
			continue;
		place[s].x = PICTURE_WIDTH * (0.5 + 0.45 * cos(2 * M_PI * part));
		place[s].y = PICTURE_WIDTH * (0.5 + 0.45 * sin(2 * M_PI * part));
	}
}

static void draw_switches(const struct topology *topology, const struct place *place, FILE *out)
{
	for (uint32_t s = 0; s < topology->switches; s++)
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\"><title>%s</title></circle>\n",
			place[s].x, place[s].y, topology->switch_at[s].name);
}

static void draw_links(const struct twin *twin, const struct place *place, FILE *out)
{
	const struct topology *topology = twin->topology;

	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		bool slow = link->rate_bps < twin->mended->link_at[i].rate_bps;
		const struct place *a = &place[link->a.device], *b = &place[link->b.device];

		if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
			continue;
		fprintf(out,
			"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\">"
			"<title>%s:%u - %s:%u</title></line>\n",
			a->x, a->y, b->x, b->y, slow ? "slow" : "usual",
			topology_device_name(topology, link->a), link->a.port,
			topology_device_name(topology, link->b), link->b.port);
	}
}

int twin_write_page(const struct twin *twin)
{
	const struct topology *topology = twin->topology;
	const struct opensm_files *files = &twin->request->files;
	struct output_file output = {.command = "twin",
		.path = twin->request->html,
		.inputs = {twin->request->listing, files->routes, files->subnet, files->map,
			files->records, twin->request->counters[0], twin->request->counters[1]}};
	struct place *place = calloc(topology->switches + 1u, sizeof(*place));
	struct topology_level level[UINT8_MAX];
	unsigned levels;
	int result;

	if (place == NULL)
		return command_fail("twin", EXIT_NOT_ABLE, "out of memory");
	topology_levels_describe(topology, level, &levels);
	place_switches(topology, levels, place);
	result = output_file_open(&output);
	if (result == EXIT_DONE) {
		fprintf(output.file,
			"<!DOCTYPE html>\n<meta charset=\"utf-8\"><title>%s</title>\n<style>line "
			"{stroke: #999} .slow {stroke: #c00; stroke-width: 3} circle {fill: #036}"
			"</style>\n<h1>%s</h1>\n<svg viewBox=\"0 0 %d %d\" width=\"100%%\">\n",
			topology->name, topology->name, PICTURE_WIDTH,
			levels > 0 ? (int)levels * ROW_HEIGHT : PICTURE_WIDTH);
		draw_links(twin, place, output.file);
		draw_switches(topology, place, output.file);
		fputs("</svg>\n<p>Red: slower than the other cables on the same level.</p>\n<pre>\n",
			output.file);
		twin_print_text(twin, output.file);
		fputs("</pre>\n", output.file);
		result = output_file_close(&output);
	}
	free(place);
	return result;
}

void twin_print_json(const struct twin *twin)
{
	const struct topology *topology = twin->topology;
	json_t *oddities = json_array(), *document;

	for (uint32_t i = 0; i < twin->oddities && i < TWIN_ODDITIES_MAX; i++)
		json_array_append_new(oddities, json_string(twin->oddity[i]));
	document = json_pack("{s:s, s:i, s:i, s:i, s:b, s:i, s:o, s:O}", "name", topology->name,
		"switches", (int)topology->switches, "hosts", (int)topology->nodes, "links",
		(int)topology->links, "levels", topology_has_levels(topology), "irregular",
		(int)twin->oddities, "irregularities", oddities, "routes", twin->routes);
	if (twin->trial != NULL)
		json_object_set(document, "hot_spot", twin->trial);
	if (twin->measured != NULL)
		json_object_set(document, "measured", twin->measured);
	command_print_json(document, 0);
}
