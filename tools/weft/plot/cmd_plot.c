/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft plot: pictures of results, drawn by gnuplot. */

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "plot_script.h"

static const char usage[] =
	"usage: weft plot DIR|RESULT... --kind KIND -o FILE.png|.svg|.pdf|.gp\n"
	"                 [--where KEY=VALUE]... [--along KEY] [--unit share|flits]\n"
	"\n"
	"Draws sweeps (their folders) and single results (their JSON). Differing keys become "
	"curves\n"
	"with a legend; seeds become means with 95 % confidence intervals.\n"
	"  --kind latency-throughput   total and network latency against accepted traffic\n"
	"  --kind throughput-load      accepted against offered traffic, points of sweeps over a "
	"load\n"
	"  --kind efficiency-time      accepted traffic against time\n"
	"  --kind link-load            utilisation of every link, sorted (measure.links: true)\n"
	"  --kind blocked-time         time for which links wait for credit, sorted (the same)\n"
	"  --where KEY=VALUE           of a sweep only the points with this value\n"
	"  --along KEY                 the key that changes along a curve of latency-throughput\n"
	"                              (default: the first that ends in 'load', else the last)\n"
	"  --unit share|flits          accepted traffic of latency-throughput: share of the "
	"hosts'\n"
	"                              links (default), or flits/ns/switch\n"
	"A .gp file is the script for gnuplot with the data in it.\n"
	"Exit: 0 done, 2 bad request, 3 not able (no gnuplot).\n";

enum { OPTION_KIND = 256, OPTION_WHERE, OPTION_ALONG, OPTION_UNIT };

struct request {
	struct plot_runs runs;
	const char *output, *along;
	const char **input;
	unsigned inputs;
	enum plot_format format;
};

static int fail(int result, const struct fault *fault)
{
	return command_fail("plot", fault_exit_code(result), "%s", fault->text);
}

static int take_where(struct plot_runs *runs, const char *text, struct fault *fault)
{
	if (strchr(text, '=') == NULL)
		return fault_set(fault, EINVAL, "--where %s: expected KEY=VALUE", text);
	if (runs->wheres == PLOT_WHERE_MAX)
		return fault_set(fault, EINVAL, "--where: at most %u of them", PLOT_WHERE_MAX);
	runs->where[runs->wheres++] = text;
	return 0;
}

static int take_option(struct request *request, int option, const char *value, struct fault *fault)
{
	switch (option) {
	case 1:
		request->input[request->inputs++] = value;
		return 0;
	case OPTION_KIND:
		request->runs.kind = plot_kind_find(value);
		if (request->runs.kind == PLOT_KIND_COUNT)
			return fault_set(fault, EINVAL,
				"--kind %s: expected latency-throughput, throughput-load, "
				"efficiency-time, link-load or blocked-time",
				value);
		return 0;
	case OPTION_WHERE:
		return take_where(&request->runs, value, fault);
	case OPTION_ALONG:
		request->along = value;
		return 0;
	case OPTION_UNIT:
		if (strcmp(value, "share") != 0 && strcmp(value, "flits") != 0)
			return fault_set(
				fault, EINVAL, "--unit %s: expected share or flits", value);
		request->runs.flits = value[0] == 'f';
		return 0;
	case 'o':
		request->output = value;
		request->format = plot_format_find(value);
		return 0;
	default:
		return fault_set(fault, EINVAL, "'weft plot --help' lists the options");
	}
}

static int parse(struct request *request, int argc, char **argv, struct fault *fault)
{
	static const struct option options[] = {
		{"kind", required_argument, NULL, OPTION_KIND},
		{"where", required_argument, NULL, OPTION_WHERE},
		{"along", required_argument, NULL, OPTION_ALONG},
		{"unit", required_argument, NULL, OPTION_UNIT},
		{NULL, 0, NULL, 0},
	};
	int option, result = 0;

	request->runs.kind = PLOT_KIND_COUNT;
	while (result == 0 && (option = getopt_long(argc, argv, "-o:", options, NULL)) != -1)
		result = take_option(request, option, optarg, fault);
	while (result == 0 && optind < argc)
		request->input[request->inputs++] = argv[optind++];
	if (result < 0)
		return result;
	if (request->inputs == 0)
		return fault_set(fault, EINVAL, "which results? A sweep's folder or a JSON file");
	if (request->runs.kind == PLOT_KIND_COUNT)
		return fault_set(fault, EINVAL,
			"--kind is missing: expected latency-throughput, throughput-load, "
			"efficiency-time, link-load or blocked-time");
	if (request->output == NULL || request->format == PLOT_FORMAT_COUNT)
		return fault_set(fault, EINVAL,
			"-o %s: expected a file that ends in .png, .svg, .pdf or .gp",
			request->output != NULL ? request->output : "is missing");
	return 0;
}

static int plot(struct request *request, struct fault *fault)
{
	struct plot_curves curves = {.curves = 0};
	int result = 0;

	for (unsigned i = 0; i < request->inputs && result == 0; i++)
		result = plot_runs_add(&request->runs, request->input[i], fault);
	if (result == 0)
		result = plot_runs_check(&request->runs, fault);
	if (result == 0)
		result = plot_curves_make(&curves, &request->runs, request->along, fault);
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
	return result < 0 ? fail(result, &fault) : EXIT_DONE;
}
