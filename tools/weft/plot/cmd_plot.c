/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft plot: pictures of results, drawn by gnuplot. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "option_key.h"
#include "plot_script.h"
#include "same_file.h"

static const char usage[] =
	"usage: weft plot DIR|RESULT... --kind KIND -o FILE.png|.svg|.pdf|.gp\n"
	"                 [--where KEY=VALUE]... [--along KEY] [--unit share|flits]\n"
	"                 [--latency total|network] [--by arrival|release]\n"
	"                 [--label KEY=VALUE=TEXT]...\n"
	"                 [--size SIZE] [--font FONT] [--title TEXT]\n"
	"\n"
	"Draws sweeps (their folders) and single results (their JSON). Differing keys become curves\n"
	"with a legend; seeds become means with 95 % confidence intervals. Points whose run is\n"
	"saturated, not steady, or too short to tell are hollow.\n"
	"  --kind latency-throughput   total and network latency against accepted traffic\n"
	"  --kind throughput-load      accepted against offered traffic, points of sweeps over a\n"
	"                              load\n"
	"  --kind latency-cdf          share of messages with at most this latency\n"
	"                              (measure.latencies: true)\n"
	"  --kind completion           time of a schedule against the key along which a sweep goes\n"
	"  --kind efficiency-time      accepted traffic against time\n"
	"  --kind link-load            utilisation of every link, sorted (measure.links: true)\n"
	"  --kind blocked-time         time for which links wait for credit, sorted (the same)\n"
	"  --where KEY=VALUE           of a sweep only the points with this value\n"
	"  --along KEY                 the key that changes along a curve of latency-throughput,\n"
	"                              throughput-load or completion (default: the first that ends\n"
	"                              in 'load', else the last)\n"
	"  --unit share|flits          accepted traffic of latency-throughput: share of the hosts'\n"
	"                              links (default), or flits/ns/switch\n"
	"  --latency total|network     only this one (default: both, of latency-cdf total)\n"
	"  --by arrival|release        when a frame counts: when it arrives (default), or when its\n"
	"                              host has all frames before it\n"
	"  --label KEY=VALUE=TEXT      TEXT stands for this value in legends\n"
	"  --size SIZE                 900x600, 3.4in, 3.4x2.5in, 86x60mm\n"
	"  --font FONT                 Times, Times,9 or ,9\n"
	"  --title TEXT                instead of the kind's own; '' for none\n"
	"A .gp file is the script for gnuplot with the data in it.\n"
	"Exit: 0 done, 2 bad request, 3 not able (no gnuplot).\n";

struct request {
	struct plot_runs runs;
	struct plot_page page;
	const char *output, *along;
	const char **input;
	unsigned inputs;
	enum plot_format format;
};

static int take_where(struct plot_runs *runs, const char *text, struct fault *fault)
{
	if (strchr(text, '=') == NULL)
		return fault_set(fault, EINVAL, "--where %s: expected KEY=VALUE", text);
	if (runs->wheres == PLOT_WHERE_MAX)
		return fault_set(fault, EINVAL, "--where: at most %u of them", PLOT_WHERE_MAX);
	runs->where[runs->wheres++] = text;
	return 0;
}

static int take_label(struct plot_runs *runs, const char *text, struct fault *fault)
{
	const char *equals = strchr(text, '=');

	if (equals == NULL || equals == text || strchr(equals + 1, '=') == NULL)
		return fault_set(fault, EINVAL, "--label %s: expected KEY=VALUE=TEXT", text);
	if (runs->labels == PLOT_LABELS_MAX)
		return fault_set(fault, EINVAL, "--label: at most %u of them", PLOT_LABELS_MAX);
	runs->label[runs->labels++] = text;
	return 0;
}

static int take_kind(struct plot_runs *runs, const char *text, struct fault *fault)
{
	char kinds[FAULT_TEXT / 2];

	plot_kind_list(kinds, sizeof(kinds));
	runs->kind = text != NULL ? plot_kind_find(text) : PLOT_KIND_COUNT;
	if (runs->kind != PLOT_KIND_COUNT)
		return 0;
	return text == NULL ? fault_set(fault, EINVAL, "--kind is missing: expected %s", kinds)
			    : fault_set(fault, EINVAL, "--kind %s: expected %s", text, kinds);
}

/* The first of two words, or the second. */
static int take_word(const char *option, const char *const words[2], const char *text, bool *second,
	struct fault *fault)
{
	*second = strcmp(text, words[1]) == 0;
	if (*second || strcmp(text, words[0]) == 0)
		return 0;
	return fault_set(
		fault, EINVAL, "%s %s: expected %s or %s", option, text, words[0], words[1]);
}

#define WORDS(first, second) ((const char *const[]){first, second})

static int take_latency(struct plot_runs *runs, const char *text, struct fault *fault)
{
	bool network;
	int result = take_word("--latency", WORDS("total", "network"), text, &network, fault);

	runs->latency = network ? PLOT_LATENCY_NETWORK : PLOT_LATENCY_TOTAL;
	return result;
}

static int take_option(struct request *request, int option, const char *value, struct fault *fault)
{
	switch (option) {
	case 1:
		request->input[request->inputs++] = value;
		return 0;
	case 'k':
		return take_kind(&request->runs, value, fault);
	case 'w':
		return take_where(&request->runs, value, fault);
	case 'u':
		return take_word(
			"--unit", WORDS("share", "flits"), value, &request->runs.flits, fault);
	case 'l':
		return take_latency(&request->runs, value, fault);
	case 'b':
		return take_word(
			"--by", WORDS("arrival", "release"), value, &request->runs.released, fault);
	case 't':
		return take_label(&request->runs, value, fault);
	case 's':
		return plot_page_set_size(&request->page, value, fault);
	case 'f':
		return plot_page_set_font(&request->page, value, fault);
	case 'o':
		request->output = value;
		request->format = plot_format_find(value);
		return 0;
	default:
		if (option_key_store(request, option, value))
			return 0;
		return fault_set(fault, EINVAL, "'weft plot --help' lists the options");
	}
}

/* Checks the options together, after the last of them. */
static int check(struct request *request, struct fault *fault)
{
	if (request->inputs == 0)
		return fault_set(fault, EINVAL, "which results? A sweep's folder or a JSON file");
	if (request->runs.kind == PLOT_KIND_COUNT)
		return take_kind(&request->runs, NULL, fault);
	if (request->runs.latency != PLOT_LATENCY_BOTH &&
		request->runs.kind != PLOT_LATENCY_THROUGHPUT &&
		request->runs.kind != PLOT_LATENCY_CDF)
		return fault_set(
			fault, EINVAL, "--latency goes with latency-throughput and latency-cdf");
	if (request->output == NULL || request->format == PLOT_FORMAT_COUNT)
		return fault_set(fault, EINVAL,
			"-o %s: expected a file that ends in .png, .svg, .pdf or .gp",
			request->output != NULL ? request->output : "is missing");
	return 0;
}

static int parse(struct request *request, int argc, char **argv, struct fault *fault)
{
	static const struct option options[] = {
		{"kind", required_argument, NULL, 'k'},
		{"where", required_argument, NULL, 'w'},
		{"along", required_argument, NULL, OPTION_TEXT(struct request, along)},
		{"unit", required_argument, NULL, 'u'},
		{"latency", required_argument, NULL, 'l'},
		{"by", required_argument, NULL, 'b'},
		{"label", required_argument, NULL, 't'},
		{"size", required_argument, NULL, 's'},
		{"font", required_argument, NULL, 'f'},
		{"title", required_argument, NULL, OPTION_TEXT(struct request, page.title)},
		{NULL, 0, NULL, 0},
	};
	int option, result = 0;

	request->runs.kind = PLOT_KIND_COUNT;
	argv[0] = (char *)"weft plot"; /* begins the messages of getopt_long() */
	while (result == 0 && (option = getopt_long(argc, argv, "-o:", options, NULL)) != -1)
		result = take_option(request, option, optarg, fault);
	while (result == 0 && optind < argc)
		request->input[request->inputs++] = argv[optind++];
	return result == 0 ? check(request, fault) : result;
}

static int plot(struct request *request, struct fault *fault)
{
	struct plot_curves curves = {.curves = 0};
	int result = 0;

	for (unsigned i = 0; i < request->inputs && result == 0; i++)
		result = same_file_refuse(request->output, request->input[i], fault);
	for (unsigned i = 0; i < request->inputs && result == 0; i++)
		result = plot_runs_add(&request->runs, request->input[i], fault);
	if (result == 0)
		result = plot_runs_check(&request->runs, fault);
	if (result == 0)
		result = plot_curves_make(&curves, &request->runs, request->along, fault);
	curves.page = request->page;
	if (result == 0)
		result = plot_draw(&curves, request->output, fault);
	plot_curves_fini(&curves);
	return result;
}

int cmd_plot(int argc, char **argv)
{
	struct request request = {.inputs = 0};
	struct fault fault;
	int result;

	if (argc < 2 || command_wants_help(argc, argv)) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_BAD_REQUEST : EXIT_DONE;
	}
	request.input = calloc((size_t)argc, sizeof(*request.input));
	if (request.input == NULL)
		return command_fail("plot", EXIT_NOT_ABLE, "no memory");
	result = parse(&request, argc, argv, &fault);
	if (result == 0)
		result = plot(&request, &fault);
	plot_runs_fini(&request.runs);
	free(request.input);
	return result < 0 ? command_fault("plot", result, &fault) : EXIT_DONE;
}
