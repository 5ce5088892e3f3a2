/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft twin: from what an operator can print of a network to what its cables and routes allow. */

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "base/quantity.h"
#include "cmd_topo.h"
#include "common/output_file.h"
#include "route/formats/opensm_tables.h"
#include "route/route_algorithm.h"
#include "route/search/route_root.h"
#include "route/verify/route_verify.h"
#include "topo/topology.h"
#include "topo/topology_levels.h"
#include "twin_counters.h"
#include "twin_trial.h"

#define INPUT_MAX    ((size_t)1 << 30)
#define ODDITIES_MAX 50
/* Switches for which these take seconds. */
#define SMART_MAX    32
#define BALANCED_MAX 64
#define LAYERED_MAX  256
#define PORT_TEXT    (TOPOLOGY_NAME_MAX + 8)

static const char usage[] =
	"usage: weft twin LISTING [--routes DUMP [--subnet FILE]] [--counters FILE]...\n"
	"                 [--html PAGE] [--json]\n"
	"\n"
	"LISTING is a topology file or what 'weft topo import' reads; its format is recognised.\n"
	"DUMP are the routes in force, as for 'weft route import'. Prints what was read, the levels,\n"
	"irregular cables, the verdict on the routes, the hot links under uniform traffic, and what\n"
	"other routes and faster cables would change. PAGE gets the same with a picture.\n"
	"--counters: what perfquery -x, ibqueryerrors --data or ibdiagnet (ibdiagnet2.pm) prints, for\n"
	"measured loads beside predicted ones; given twice, the difference counts.\n"
	"Exit: 0 done, 1 the routes in force are not connected or may deadlock, 2 bad request, 3 not\n"
	"able.\n";

struct request {
	const char *listing, *routes, *subnet, *html, *counters[2];
	bool json;
};

struct twin {
	const struct request *request;
	struct topology *topology;
	struct topology *mended; /* all cables at the usual rate; NULL: they are */
	char oddity[ODDITIES_MAX][256];
	uint32_t oddities; /* more than ODDITIES_MAX are counted only */
	uint32_t slow;     /* cables */
	json_t *routes;    /* what was verified */
	struct ib_addresses addresses;
	struct twin_prediction prediction; /* by the routes in force, else the best ones */
	bool predicted;                    /* these are known */
	json_t *measured;                  /* NULL: no counters */
	json_t *trial;                     /* NULL: none */
	bool bad;
};

static void add_oddity(struct twin *twin, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void add_oddity(struct twin *twin, const char *format, ...)
{
	va_list args;

	if (twin->oddities < ODDITIES_MAX) {
		va_start(args, format);
		vsnprintf(twin->oddity[twin->oddities], sizeof(twin->oddity[0]), format, args);
		va_end(args);
	}
	twin->oddities++;
}

/* --- cables --- */

static unsigned links_up(const struct topology *topology, uint32_t at)
{
	struct topology_port port = {DEVICE_SWITCH, at, 0}, peer;
	unsigned up = 0;

	for (; port.port < topology->switch_at[at].ports; port.port++)
		up += topology_peer(topology, port, &peer) && peer.kind == DEVICE_SWITCH &&
		      topology->switch_at[peer.device].stage > topology->switch_at[at].stage;
	return up;
}

/* The value that occurs most often among the links up of a level's switches. */
static unsigned usual_links_up(const struct topology *topology, unsigned stage)
{
	uint32_t count[TOPOLOGY_PORTS_MAX + 1] = {0};
	unsigned usual = 0;

	for (uint32_t s = 0; s < topology->switches; s++)
		if (topology->switch_at[s].stage == stage)
			count[links_up(topology, s)]++;
	for (unsigned up = 0; up <= TOPOLOGY_PORTS_MAX; up++)
		usual = count[up] >= count[usual] ? up : usual;
	return usual;
}

static void find_uneven(struct twin *twin)
{
	const struct topology *topology = twin->topology;
	struct topology_level level[UINT8_MAX];
	unsigned levels;

	topology_levels_describe(topology, level, &levels);
	for (unsigned stage = 1; stage < levels; stage++) {
		unsigned usual = usual_links_up(topology, stage);

		for (uint32_t s = 0; s < topology->switches; s++) {
			unsigned up = links_up(topology, s);

			if (topology->switch_at[s].stage == stage && up != usual)
				add_oddity(twin,
					"%s has %u link%s up, the usual number on level %u is %u",
					topology->switch_at[s].name, up, up == 1 ? "" : "s", stage,
					usual);
		}
	}
}

/* The lower level of a cable, 0 for one to a host: cables of one class are compared. */
static unsigned class_of(const struct topology *topology, const struct topology_link *link)
{
	unsigned a, b;

	if (link->a.kind == DEVICE_HOST || link->b.kind == DEVICE_HOST)
		return 0;
	a = topology->switch_at[link->a.device].stage;
	b = topology->switch_at[link->b.device].stage;
	return a < b ? a : b;
}

struct rate {
	unsigned class;
	uint64_t rate_bps;
};

static int compare_rates(const void *a, const void *b)
{
	const struct rate *x = a, *y = b;

	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return (x->rate_bps > y->rate_bps) - (x->rate_bps < y->rate_bps);
}

/* usual[class]: the rate that most cables of the class have. */
static int find_usual_rates(const struct topology *topology, uint64_t usual[UINT8_MAX + 1])
{
	struct rate *rate = calloc(topology->links + 1u, sizeof(*rate));
	uint32_t max = 0, run = 0;

	if (rate == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->links; i++)
		rate[i] = (struct rate){
			class_of(topology, &topology->link_at[i]), topology->link_at[i].rate_bps};
	qsort(rate, topology->links, sizeof(*rate), compare_rates);
	for (uint32_t i = 0; i < topology->links; i++) {
		if (i == 0 || rate[i].class != rate[i - 1].class)
			max = run = 0;
		else if (rate[i].rate_bps != rate[i - 1].rate_bps)
			run = 0;
		if (++run >= max) {
			max = run;
			usual[rate[i].class] = rate[i].rate_bps;
		}
	}
	free(rate);
	return 0;
}

static int find_slow(struct twin *twin)
{
	const struct topology *topology = twin->topology;
	uint64_t usual[UINT8_MAX + 1] = {0};
	char a[PORT_TEXT], b[PORT_TEXT], rate[QUANTITY_TEXT], expected[QUANTITY_TEXT];

	twin->mended = topology_copy(topology);
	if (twin->mended == NULL || find_usual_rates(topology, usual) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i];
		uint64_t wanted = usual[class_of(topology, link)];

		if (link->rate_bps >= wanted)
			continue;
		twin->slow++;
		twin->mended->link_at[i].rate_bps = wanted;
		topology_port_name(topology, link->a, a, sizeof(a));
		topology_port_name(topology, link->b, b, sizeof(b));
		quantity_format(QUANTITY_RATE, link->rate_bps, rate);
		quantity_format(QUANTITY_RATE, wanted, expected);
		add_oddity(twin, "the cable from %s to %s has %s, the usual rate there is %s", a, b,
			rate, expected);
	}
	return 0;
}

/* --- routes --- */

static json_t *hot_json(const struct topology *topology, const struct route_report *report)
{
	json_t *list = json_array();
	char name[PORT_TEXT];

	for (unsigned i = 0; i < report->uniform.hot_channels; i++) {
		topology_port_name(topology, report->uniform.hot[i].from, name, sizeof(name));
		json_array_append_new(list,
			json_pack("{s:s, s:f}", "port", name, "load", report->uniform.hot[i].load));
	}
	return list;
}

static json_t *cycle_json(const struct topology *topology, const struct route_report *report)
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
			report.deadlock_free, "cycle", cycle_json(topology, &report),
			"uniform_bound",
			report.uniform.known ? json_real(report.uniform.bound) : json_null(), "hot",
			hot_json(topology, &report)));
	route_report_free(&report);
	return 0;
}

static int verify_in_force(struct twin *twin, struct error *error)
{
	const struct request *request = twin->request;
	struct topology_import import = {.strict = false};
	struct opensm_tables_input input = {
		.origin = request->routes, .subnet_origin = request->subnet};
	struct route_table *table = NULL;
	char *text, *subnet = NULL;
	int result;

	text = file_text_read(request->routes, INPUT_MAX, &input.length, error);
	if (text != NULL && request->subnet != NULL)
		subnet = file_text_read(request->subnet, INPUT_MAX, &input.subnet_length, error);
	input.text = text;
	input.subnet = subnet;
	if (text != NULL && (subnet != NULL || request->subnet == NULL))
		table = opensm_tables_read(twin->topology, &input, &import, error);
	result = table != NULL ? verify(twin, "in force", twin->topology,
					 &(struct route_subject){.table = table}, true, error)
			       : -errno;
	route_table_destroy(table);
	free(text);
	free(subnet);
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

/* Shortest paths in layers of VCs, if at most VC_RULE_CLASSES_MAX are enough. */
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
		fprintf(stderr, "weft twin: %s; it is not tried\n", error->text);
	return result == -EINVAL ? 0 : result;
}

/* Algorithms that fit the network and take seconds. */
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

/* --- output --- */

static void print_routes(const struct twin *twin, FILE *out)
{
	json_t *entry, *hot;
	size_t i, k;

	fprintf(out, "\n%-28s %10s %10s %12s  %s\n", "routes", "connected", "deadlock",
		"uniform, max", "most loaded links at full load");
	json_array_foreach(twin->routes, i, entry)
	{
		const json_t *bound = json_object_get(entry, "uniform_bound");

		fprintf(out, "%-28s %10s %10s ",
			json_string_value(json_object_get(entry, "routes")),
			json_is_true(json_object_get(entry, "connected")) ? "yes" : "NO",
			json_is_true(json_object_get(entry, "deadlock_free")) ? "free" : "MAY");
		if (json_is_real(bound))
			fprintf(out, "%10.1f %% ", 100 * json_real_value(bound));
		else
			fprintf(out, "%12s ", "-");
		json_array_foreach(json_object_get(entry, "hot"), k, hot) if (k < 3)
			fprintf(out, " %s %.0f %%", json_string_value(json_object_get(hot, "port")),
				100 * json_real_value(json_object_get(hot, "load")));
		fputc('\n', out);
		if (json_array_size(json_object_get(entry, "cycle")) == 0)
			continue;
		fputs("  cycle:", out);
		json_array_foreach(json_object_get(entry, "cycle"), k, hot)
			fprintf(out, " %s", json_string_value(hot));
		fputc('\n', out);
	}
}

static void print_text(const struct twin *twin, FILE *out)
{
	const struct topology *topology = twin->topology;

	fprintf(out, "%s: %u switches, %u hosts, %u links\n", topology->name, topology->switches,
		topology->nodes, topology->links);
	if (topology_has_levels(topology))
		cmd_topo_print_levels(topology, out);
	else
		fprintf(out, "%s\n", "no levels: it is not a tree");
	for (uint32_t i = 0; i < twin->oddities && i < ODDITIES_MAX; i++)
		fprintf(out, "%s\n", twin->oddity[i]);
	if (twin->oddities > ODDITIES_MAX)
		fprintf(out, "and %u more\n", twin->oddities - ODDITIES_MAX);
	if (twin->oddities == 0)
		fprintf(out, "%s\n", "cables: nothing irregular");
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

/* Levels in rows, the highest on top; other networks on a circle. */
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

static int write_page(const struct twin *twin)
{
	const struct topology *topology = twin->topology;
	struct output_file output = {.command = "twin",
		.path = twin->request->html,
		.inputs = {twin->request->listing, twin->request->routes, twin->request->subnet,
			twin->request->counters[0], twin->request->counters[1]}};
	struct place *place = calloc(topology->switches + 1u, sizeof(*place));
	struct topology_level level[UINT8_MAX];
	unsigned levels;
	int result;

	if (place == NULL)
		return command_fail("twin", EXIT_NOT_ABLE, "no memory");
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
		fputs("</svg>\n<p>Red: slower than the other cables of its level.</p>\n<pre>\n",
			output.file);
		print_text(twin, output.file);
		fputs("</pre>\n", output.file);
		result = output_file_close(&output);
	}
	free(place);
	return result;
}

static void print_json(const struct twin *twin)
{
	const struct topology *topology = twin->topology;
	json_t *oddities = json_array(), *document;

	for (uint32_t i = 0; i < twin->oddities && i < ODDITIES_MAX; i++)
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

static int examine(struct twin *twin)
{
	struct error error = {"no memory"};
	int result = find_slow(twin);

	find_uneven(twin);
	if (result == 0 && twin->request->routes != NULL)
		result = verify_in_force(twin, &error);
	twin->predicted = twin->prediction.load != NULL;
	if (result == 0)
		result = try_algorithms(twin, &error);
	if (result < 0)
		return command_error("twin", result, &error);
	if (twin->request->counters[0] != NULL && twin->addresses.count == 0)
		return command_fail("twin", EXIT_BAD_REQUEST,
			"no GUIDs and LIDs in %s, expected a listing of an InfiniBand network",
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
		result = write_page(twin);
		if (result != EXIT_DONE)
			return result;
	}
	if (twin->request->json)
		print_json(twin);
	else
		print_text(twin, stdout);
	return twin->bad ? EXIT_BAD_ANSWER : EXIT_DONE;
}

static int take_argument(struct request *request, int *i, int argc, char **argv)
{
	const char **option = strcmp(argv[*i], "--routes") == 0   ? &request->routes
			      : strcmp(argv[*i], "--subnet") == 0 ? &request->subnet
			      : strcmp(argv[*i], "--html") == 0   ? &request->html
			      : strcmp(argv[*i], "--counters") == 0
				      ? &request->counters[request->counters[0] != NULL]
				      : NULL;

	if (strcmp(argv[*i], "--json") == 0) {
		request->json = true;
		return EXIT_DONE;
	}
	if (option != NULL) {
		if (*i + 1 == argc)
			return command_fail(
				"twin", EXIT_BAD_REQUEST, "%s, expected a file after it", argv[*i]);
		*option = argv[++*i];
		return EXIT_DONE;
	}
	if (argv[*i][0] == '-' || request->listing != NULL)
		return command_fail("twin", EXIT_BAD_REQUEST,
			"unexpected '%s', expected LISTING [--routes DUMP] [--subnet FILE] "
			"[--counters FILE] [--html PAGE]",
			argv[*i]);
	request->listing = argv[*i];
	return EXIT_DONE;
}

int cmd_twin(int argc, char **argv)
{
	struct request request = {.listing = NULL};
	struct twin *twin = calloc(1, sizeof(*twin));
	int result =
		twin != NULL ? EXIT_DONE : (int)command_fail("twin", EXIT_NOT_ABLE, "no memory");

	if (command_wants_help(argc, argv)) {
		fputs(usage, stdout);
		free(twin);
		return EXIT_DONE;
	}
	for (int i = 1; i < argc && result == EXIT_DONE; i++)
		result = take_argument(&request, &i, argc, argv);
	if (result == EXIT_DONE && request.listing == NULL)
		result = command_fail("twin", EXIT_BAD_REQUEST, "which listing?");
	if (result == EXIT_DONE) {
		twin->request = &request;
		twin->routes = json_array();
		twin->topology =
			cmd_topo_read_listing("twin", request.listing, &twin->addresses, &result);
	}
	if (result == EXIT_DONE)
		result = examine(twin);
	if (twin != NULL) {
		json_decref(twin->routes);
		json_decref(twin->measured);
		json_decref(twin->trial);
		free(twin->addresses.at);
		free(twin->prediction.load);
		topology_destroy(twin->topology);
		topology_destroy(twin->mended);
	}
	free(twin);
	return result;
}
