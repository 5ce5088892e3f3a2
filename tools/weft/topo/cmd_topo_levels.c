/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft topo levels: the levels of a tree, stated in the file or found. */

#include "cmd_topo.h"

#include "topo/topology_levels.h"

static json_t *range_json(unsigned min, unsigned max)
{
	return json_pack("{s:i, s:i}", "min", (int)min, "max", (int)max);
}

static json_t *levels_json(const struct topology *topology)
{
	struct topology_level level[UINT8_MAX];
	json_t *list = json_array();
	unsigned count;

	topology_levels_describe(topology, level, &count);
	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{s:i, s:i, s:i, s:o, s:o}", "level", (int)i + 1, "switches",
				(int)level[i].switches, "hosts", (int)level[i].hosts, "links_up",
				range_json(level[i].up_min, level[i].up_max), "links_down",
				range_json(level[i].down_min, level[i].down_max)));
	return list;
}

static void print_range(unsigned min, unsigned max, const char *what, FILE *out)
{
	if (min == max)
		fprintf(out, ", %u %s", max, what);
	else
		fprintf(out, ", %u to %u %s", min, max, what);
}

void cmd_topo_print_levels(const struct topology *topology, FILE *out)
{
	struct topology_level level[UINT8_MAX];
	unsigned count;

	topology_levels_describe(topology, level, &count);
	for (unsigned i = 0; i < count; i++) {
		fprintf(out, "level %u: %u switch%s, %u host%s", i + 1, level[i].switches,
			level[i].switches == 1 ? "" : "es", level[i].hosts,
			level[i].hosts == 1 ? "" : "s");
		print_range(level[i].up_min, level[i].up_max, "up", out);
		print_range(level[i].down_min, level[i].down_max, "down per switch", out);
		fputc('\n', out);
	}
}

static int show(struct topology *topology, bool json)
{
	struct error why = {""};
	int result = topology_has_levels(topology) ? 0 : topology_levels_find(topology, &why);

	if (result == -ENOMEM)
		return command_error("topo levels", result, &why);
	if (json)
		command_print_json(json_pack("{s:b, s:o, s:o}", "ok", result == 0, "levels",
					   levels_json(topology), "reason",
					   result == 0 ? json_null() : json_string(why.text)),
			0);
	else if (result == 0)
		cmd_topo_print_levels(topology, stdout);
	else
		return command_fail("topo levels", EXIT_BAD_ANSWER, "%s", why.text);
	return result == 0 ? EXIT_DONE : EXIT_BAD_ANSWER;
}

int cmd_topo_levels(int argc, char **argv)
{
	struct topology *topology;
	struct error error;
	const char *spec;
	bool json = false;
	int result = cmd_topo_arguments(argc, argv, &spec, &json);

	if (result != EXIT_DONE)
		return result;
	topology = topology_open(spec, &error);
	if (topology == NULL)
		return command_error("topo levels", -errno, &error);
	result = show(topology, json);
	topology_destroy(topology);
	return result;
}
