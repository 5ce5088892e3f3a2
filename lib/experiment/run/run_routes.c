/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "route/formats/route_file.h"
#include "route/route_algorithm.h"
#include "route/verify/route_verify.h"
#include "run_config.h"
#include "run_config_fields.h"

static int refuse(const struct run_config *run, struct error *error, int code, const char *format,
	...) __attribute__((format(printf, 4, 5)));

static int refuse(
	const struct run_config *run, struct error *error, int code, const char *format, ...)
{
	char text[ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	run_config_refuse(run, &run->routing.file_place, error, "routing.file: %s", text);
	return -code;
}

/* Checks again that the file matches 'routing.mode', which was set from its header, and that
 * adaptive switches can use it, because the file may have changed since. */
static int check_contents(
	const struct run_config *run, const struct route_file *file, struct error *error)
{
	bool tables = run->routing.mode == RUN_ROUTING_TABLE;

	if (tables != (file->table != NULL))
		return refuse(run, error, EINVAL,
			"%s contains %s, but must contain %s with routing.mode: %s",
			run->routing.file, tables ? "source routes" : "tables",
			tables ? "tables" : "source routes", tables ? "table" : "source");
	if (run_config_is_adaptive(run) && file->table->vc_rule != NULL)
		return refuse(run, error, EINVAL,
			"%s contains tables with VC classes, which only work with their own "
			"paths; use 'adaptive: none'",
			run->routing.file);
	return 0;
}

static int check_report(
	const struct run_config *run, const struct route_report *report, struct error *error)
{
	if (!report->connected || report->invalid > 0)
		return refuse(run, error, EINVAL,
			"%s: %s; the routes must connect all pairs of hosts", run->routing.file,
			report->evidence);
	if (!report->deadlock_free && !run->routing.may_deadlock)
		return refuse(run, error, EINVAL,
			"%s: %s; use routes that cannot deadlock, or routing.may-deadlock: true",
			run->routing.file, report->evidence);
	return 0;
}

static int verify(const struct run_config *run, const struct topology *topology,
	const struct route_file *file, struct error *error)
{
	const struct route_subject subject = {.set = file->set, .table = file->table};
	struct route_report report;
	struct error why;
	int result = route_verify(topology, &subject, 1, &report, &why);

	if (result < 0)
		return refuse(run, error, -result, "%s: %s", run->routing.file, why.text);
	result = check_report(run, &report, error);
	route_report_free(&report);
	return result;
}

int run_routes_load(const struct run_config *run, const struct topology *topology,
	struct route_file *file, struct error *error)
{
	struct error why;
	int result = route_file_load(topology, run->routing.file, file, &why);

	if (result < 0)
		return refuse(run, error, -result, "%s", why.text);
	result = check_contents(run, file, error);
	if (result == 0)
		result = verify(run, topology, file, error);
	if (result < 0)
		route_file_close(file);
	return result;
}

/* Resolves 'routing.file' and the keys that it replaces. */

static bool computes(const char *key)
{
	return strcmp(key, "algorithm") == 0 || strcmp(key, "alternatives") == 0 ||
	       strcmp(key, "granularity") == 0 || strcmp(key, "itb-hosts") == 0 ||
	       strcmp(key, "radius") == 0 || strcmp(key, "steps") == 0 ||
	       strcmp(key, "ties") == 0 || strcmp(key, "root") == 0;
}

static bool on_command_line(const struct yaml_tree_node *node)
{
	return node != NULL && node->line == 0;
}

/* Refuses a key if the other is also set, and neither replaces the other. */
static int refuse_both(const struct yaml_tree_node *first, const struct yaml_tree_node *second,
	struct error *error)
{
	return yaml_tree_refuse_key(second, error,
		"routing.%s: routing.%s is also set; use only one of them, because routes are "
		"either loaded or computed",
		second->key, first->key);
}

static int check_keys(const struct yaml_tree_node *routing, const struct yaml_tree_node *file,
	struct error *error)
{
	bool before = true; /* 'file' has not been reached */

	for (const struct yaml_tree_node *node = routing->first; node != NULL; node = node->next) {
		before = before && node != file;
		if (computes(node->key) && (on_command_line(node) || !on_command_line(file)))
			return before ? refuse_both(node, file, error)
				      : refuse_both(file, node, error);
	}
	return 0;
}

static void forget_computing(struct run_config_routing *routing)
{
	struct run_config fresh;

	run_config_default(&fresh);
	routing->algorithm = fresh.routing.algorithm;
	routing->others = 0;
	routing->alternatives = 0;
	routing->radius = 0;
	routing->root[0] = '\0';
	routing->steps = RUN_STEPS_UNSET;
	routing->ties = RUN_TIES_UNSET;
	routing->granularity = RUN_GRANULARITY_UNSET;
}

static int read_header(struct run_config_routing *routing, const struct yaml_tree_node *node,
	const struct yaml_tree_node *file, struct error *error)
{
	const struct yaml_tree_node *mode = yaml_tree_get(node, "mode");
	struct route_file_header header;
	enum run_routing_mode wanted;
	struct error why;
	char name[ROUTE_LABEL_MAX];

	if (route_file_load_header(routing->file, &header, &why) < 0)
		return yaml_tree_refuse(file, error, "routing.file: %s", why.text);
	wanted = header.tables ? RUN_ROUTING_TABLE : RUN_ROUTING_SOURCE;
	if (routing->mode != RUN_ROUTING_UNSET && routing->mode != wanted)
		return yaml_tree_refuse(mode, error, "routing.mode: %s contains %s; use '%s'",
			routing->file, header.tables ? "tables" : "source routes",
			header.tables ? "table" : "source");
	routing->mode = wanted;
	/* If the file names several algorithms, joined by '+', the first sets the selector. */
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(header.origin.algorithm, "+"),
		header.origin.algorithm);
	routing->file_algorithm = route_algorithm_find(name);
	return 0;
}

int run_config_choose_routes(
	struct run_config *config, const struct yaml_tree_node *root, struct error *error)
{
	const struct yaml_tree_node *node = yaml_tree_get(root, "routing");
	const struct yaml_tree_node *file = node != NULL ? yaml_tree_get(node, "file") : NULL;
	struct run_config_routing *routing = &config->routing;
	int result;

	if (file == NULL)
		return 0;
	if (!on_command_line(file) && on_command_line(yaml_tree_get(node, "algorithm"))) {
		free(routing->file);
		routing->file = NULL;
		return 0;
	}
	result = check_keys(node, file, error);
	if (result == 0 && config->mapper.routes == RUN_ROUTES_MAPPER)
		result = yaml_tree_refuse_key(file, error,
			"routing.file: with 'mapper.routes: mapper' the mapper computes the "
			"routes; use 'mapper.routes: static'");
	if (result < 0)
		return result;
	forget_computing(routing);
	routing->file_place = run_place_of(file);
	return read_header(routing, node, file, error);
}
