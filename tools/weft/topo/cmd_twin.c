/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft twin: shows what the cables and routes of a network allow, based on listings that an
 * operator can print. */

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd_topo.h"
#include "route/route_algorithm.h"
#include "route/search/route_root.h"
#include "route/verify/route_verify.h"
#include "topo/topology.h"
#include "topo/topology_levels.h"
#include "twin.h"

/* Numbers of switches up to which these algorithms take seconds. */
#define SMART_MAX    32
#define BALANCED_MAX 64
#define LAYERED_MAX  256

static const char usage[] =
	"usage: weft twin LISTING [--routes DUMP [--subnet FILE]\n"
	"                 [--sl2vl FILE [--path-records FILE]]]\n"
	"                 [--counters FILE]... [--html PAGE] [--json]\n"
	"\n"
	"LISTING is a topology file, or a file that 'weft topo import' reads; its format\n"
	"is detected. DUMP and the files after it contain the routes in use, as for 'weft\n"
	"route import'. Prints the size, the levels, irregular cables, the verdict on the\n"
	"routes, the most loaded links under uniform traffic, and what other routes and\n"
	"faster cables would change. PAGE receives the same information with a picture.\n"
	"--counters reads the output of perfquery -x, ibqueryerrors --data or ibdiagnet\n"
	"(ibdiagnet2.pm) and shows measured next to predicted loads. Given twice, it uses\n"
	"the difference.\n"
	"Exit: 0 success, 1 the routes in use are not connected or may deadlock, 2\n"
	"invalid request, 3 not possible on this machine.\n";

static json_t *hot_json(const struct topology *topology, const struct route_report *report)
{
	json_t *list = json_array();
	char name[TWIN_PORT_TEXT];

	for (unsigned i = 0; i < report->uniform.hot_channels; i++) {
		topology_port_name(topology, report->uniform.hot[i].from, name, sizeof(name));
		json_array_append_new(list,
			json_pack("{s:s, s:f}", "port", name, "load", report->uniform.hot[i].load));
	}
	return list;
}

json_t *cmd_topo_cycle_json(const struct topology *topology, const struct route_report *report)
{
	char name[2 * TOPOLOGY_NAME_MAX];
	json_t *list = json_array();

	for (uint32_t i = 0; i < report->cycle_length; i++) {
		route_report_channel_name(topology, report, i, name, sizeof(name));
		json_array_append_new(list, json_string(name));
	}
	return list;
}

static int verify(struct twin *twin, const char *name, const struct topology *topology,
	const struct route_subject *subject, bool in_force, struct error *error)
{
	struct route_report report;
	int result = route_verify(topology, subject, 1, &report, error);

	if (result < 0)
		return result;
	twin->bad |= in_force && !route_report_good(&report);
	if (!twin->predicted) {
		free(twin->prediction.load);
		twin->prediction = (struct twin_prediction){name, report.uniform.load};
		report.uniform.load = NULL;
	}
	json_array_append_new(twin->routes,
		json_pack("{s:s, s:b, s:b, s:b, s:o, s:o, s:o}", "routes", name, "in_force",
			in_force, "connected", report.connected, "deadlock_free",
			report.deadlock_free, "cycle", cmd_topo_cycle_json(topology, &report),
			"uniform_bound",
			report.uniform.known ? json_real(report.uniform.bound) : json_null(), "hot",
			hot_json(topology, &report)));
	route_report_free(&report);
	return 0;
}

static int verify_in_force(struct twin *twin, struct error *error)
{
	struct topology_import import = {
		.note = command_note, .context = (void *)(uintptr_t) "twin"};
	struct route_file file;
	int result = opensm_files_read(
		&twin->request->files, twin->topology, &twin->addresses, &import, &file, error);

	if (result < 0)
		return result;
	result = verify(twin, "in force", twin->topology,
		&(struct route_subject){
			.table = file.set == NULL ? file.table : NULL, .set = file.set},
		true, error);
	route_file_close(&file);
	return result;
}

static int try_algorithm(struct twin *twin, const struct topology *topology,
	const struct route_algorithm *algorithm, const char *name, struct error *error)
{
	struct route_options options = {.seed = 1};
	struct route_subject subject = {NULL, NULL};
	struct route_table *table = NULL;
	struct route_set *set = NULL;
	int result = algorithm->label == NULL
			     ? 0
			     : route_root_find(topology, algorithm, NULL, 1, &options.root, error);

	if (result == 0 && algorithm->tables != NULL)
		table = route_compute_table(topology, algorithm, &options, &result, error);
	else if (result == 0)
		set = route_compute(topology, algorithm, &options, &result, error);
	subject.table = table;
	subject.set = set;
	if (result == 0)
		result = verify(twin, name, topology, &subject, false, error);
	route_table_destroy(table);
	route_set_destroy(set);
	return result;
}

/* Tries shortest paths in layers of VCs, if VC_RULE_CLASSES_MAX layers are sufficient. */
static int try_layered(
	struct twin *twin, const struct route_algorithm *algorithm, struct error *error)
{
	struct route_options options = {.seed = 1};
	int result;
	struct route_set *set = route_compute(twin->topology, algorithm, &options, &result, error);
	const struct vc_rule *rule = set != NULL ? route_set_vc_rule(set) : NULL;
	char name[64];

	snprintf(name, sizeof(name), "%s, %u VC%s", algorithm->name,
		rule != NULL ? rule->classes : 1, rule != NULL ? "s" : "");
	if (set != NULL)
		result = verify(twin, name, twin->topology, &(struct route_subject){.set = set},
			false, error);
	route_set_destroy(set);
	if (result == -EINVAL)
		fprintf(stderr, "weft twin: %s; this algorithm is skipped\n", error->text);
	return result == -EINVAL ? 0 : result;
}

/* Tries the algorithms that suit the network and take seconds. */
static int try_algorithms(struct twin *twin, struct error *error)
{
	const struct topology *topology = twin->topology;
	bool tree = topology_has_levels(topology);
	const struct route_algorithm *best = tree                              ? &route_dmodk
					     : topology->switches <= SMART_MAX ? &route_smart
									       : &route_up_down;
	int result = try_algorithm(twin, topology, &route_up_down, "ud", error);

	if (result == 0 && best != &route_up_down)
		result = try_algorithm(twin, topology, best, best->name, error);
	twin->predicted = true;
	if (result == 0 && !tree && topology->switches <= LAYERED_MAX)
		result = try_layered(twin, &route_dfsssp, error);
	if (result == 0 && !tree && topology->switches <= LAYERED_MAX)
		result = try_layered(twin, &route_lash, error);
	if (result == 0 && topology->switches <= BALANCED_MAX)
		result = try_algorithm(twin, topology, &route_bsmart_itb, "bsmart-itb", error);
	if (result == 0 && twin->slow > 0)
		result = try_algorithm(twin, twin->mended, best,
			tree ? "dmodk, slow cables replaced" : "slow cables replaced", error);
	return result;
}

static int examine(struct twin *twin)
{
	struct error error = {"out of memory"};
	int result = twin_examine_cables(twin);

	if (result == 0 && twin->request->files.routes != NULL)
		result = verify_in_force(twin, &error);
	twin->predicted = twin->prediction.load != NULL;
	if (result == 0)
		result = try_algorithms(twin, &error);
	if (result < 0)
		return command_error("twin", result, &error);
	if (twin->request->counters[0] != NULL && twin->addresses.count == 0)
		return command_fail("twin", EXIT_BAD_REQUEST,
			"%s contains no GUIDs and LIDs; use a listing of an InfiniBand network",
			twin->request->listing);
	if (twin->request->counters[0] != NULL) {
		ib_addresses_sort(&twin->addresses);
		twin->measured = twin_counters_compare(twin->topology, &twin->addresses,
			twin->request->counters, &twin->prediction, &result);
		if (result != EXIT_DONE)
			return result;
	}
	twin->trial = twin_trial_run(twin->topology);
	if (twin->request->html != NULL) {
		result = twin_write_page(twin);
		if (result != EXIT_DONE)
			return result;
	}
	if (twin->request->json)
		twin_print_json(twin);
	else
		twin_print_text(twin, stdout);
	return twin->bad ? EXIT_BAD_ANSWER : EXIT_DONE;
}

static bool take_counters(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	const char **counters = member;

	strcpy(expected, "at most two files");
	if (counters[1] != NULL)
		return false;
	counters[counters[0] != NULL] = value;
	return true;
}

static int parse(struct twin_request *request, int argc, char **argv)
{
#define S struct twin_request
	static const struct command_option options[] = {
		{"routes", 0, OPTION_TEXT(S, files.routes)},
		OPENSM_FILES_OPTIONS(S, files),
		{"counters", 0, OPTION_MEMBER(S, counters), .take = take_counters},
		{"html", 0, OPTION_TEXT(S, html)},
		{"json", 0, OPTION_SET(S, json)},
		{NULL},
	};
#undef S
	int result = command_options("twin", options, request, &argc, &argv);

	if (result != EXIT_DONE)
		return result;
	if (argc != 1)
		return command_fail("twin", EXIT_BAD_REQUEST,
			"%d arguments; expected a LISTING; see 'weft twin --help'", argc);
	if (request->files.routes == NULL &&
		(request->files.subnet != NULL || request->files.map != NULL ||
			request->files.records != NULL))
		return command_fail("twin", EXIT_BAD_REQUEST,
			"--subnet, --sl2vl and --path-records require --routes");
	request->listing = argv[0];
	return EXIT_DONE;
}

int cmd_twin(int argc, char **argv)
{
	struct twin_request request = {.listing = NULL};
	struct twin *twin;
	int result;

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	result = parse(&request, argc, argv);
	if (result != EXIT_DONE)
		return result;
	twin = calloc(1, sizeof(*twin));
	if (twin == NULL)
		return command_fail("twin", EXIT_NOT_ABLE, "out of memory");
	twin->request = &request;
	twin->routes = json_array();
	twin->topology = cmd_topo_read_listing("twin", request.listing, &twin->addresses, &result);
	if (result == EXIT_DONE)
		result = examine(twin);
	json_decref(twin->routes);
	json_decref(twin->measured);
	json_decref(twin->trial);
	free(twin->addresses.at);
	free(twin->prediction.load);
	topology_destroy(twin->topology);
	topology_destroy(twin->mended);
	free(twin);
	return result;
}
