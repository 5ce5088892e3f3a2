/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "options.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option_key.h"
#include "base/quantity.h"
#include "virtual/parallel/ranks.h"

enum { KEY_SET = 256, KEY_PCAP, KEY_LCORES, KEY_SNAPLEN, KEY_WORKERS, KEY_MPI, KEY_LIVE };

const char *argp_program_version = "weft-fabric " WEFT_VERSION;

static const struct argp_option argp_options[] = {
	{"clock", OPTION_TEXT(struct options, clock), "CLOCK", 0,
		"virtual or real; overrides the run file", 0},
	{"dilation", OPTION_TEXT(struct options, dilation), "N", 0,
		"slow the real clock down by a factor of N, or auto; overrides the run file", 0},
	{"set", KEY_SET, "KEY=VALUE", 0,
		"change a key of the run file, such as switch.buffer=64KiB", 0},
	{"json", OPTION_TEXT(struct options, json), "FILE", 0,
		"write the result ('-': standard output)", 0},
	{"csv", OPTION_TEXT(struct options, csv), "FILE", 0,
		"write the samples ('-': standard output)", 0},
	{"flows", OPTION_TEXT(struct options, flows), "FILE", 0,
		"write a line for each flow of pattern flows ('-': standard output)", 0},
	{"pcap", KEY_PCAP, "PORT=FILE", 0,
		"capture a port such as s0:1, or all, into a pcapng file", 0},
	{"filter", OPTION_TEXT(struct options, filter), "EXPRESSION", 0,
		"capture only frames with a packet of a TAP that matches (pcap-filter(7))", 0},
	{"where", OPTION_TEXT(struct options, where), "WORDS", 0,
		"capture only matching frames: vc=1,2 kind=data,credit src=h0 dst=h3 dropped", 0},
	{"rotate", OPTION_TEXT(struct options, rotate), "SIZE|TIME[,FILES]", 0,
		"start a new file of a capture after 100MB or 60s, and keep the last FILES", 0},
	{"snaplen", KEY_SNAPLEN, "BYTES", 0, "bytes to keep of each captured frame (default: all)",
		0},
	{"lcores", KEY_LCORES, "N", 0, "poll loops (default 1)", 0},
	{"workers", KEY_WORKERS, "N", 0, "threads of a run on the virtual clock (default 1)", 0},
	{"mpi", KEY_MPI, NULL, 0, "run as one of the processes that mpirun started for this file",
		0},
	{"live", KEY_LIVE, "FD", 0, "write each sample to this file descriptor, for weft run --web",
		0},
	{"quiet", 'q', NULL, 0, "no table, no progress", 0},
	{0},
};

static void add_capture(struct options *options, const char *text, struct argp_state *state)
{
	const char *equals = strchr(text, '=');
	size_t length = equals != NULL ? (size_t)(equals - text) : 0;

	if (length == 0 || length >= sizeof(options->capture[0].port) || equals[1] == '\0')
		argp_error(state, "--pcap %s: expected PORT=FILE, such as s0:1=link.pcapng", text);
	if (options->captures == OPTIONS_CAPTURES_MAX)
		argp_error(state, "more than %d --pcap options", OPTIONS_CAPTURES_MAX);
	memcpy(options->capture[options->captures].port, text, length);
	options->capture[options->captures++].path = equals + 1;
}

static unsigned parse_number(
	const char *option, const char *text, unsigned low, unsigned high, struct argp_state *state)
{
	uint64_t value;

	if (!quantity_number(text, low, high, &value))
		argp_error(
			state, "--%s %s: expected a number from %u to %u", option, text, low, high);
	return (unsigned)value;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_SET:
		if (options->sets == OPTIONS_SETS_MAX)
			argp_error(state, "more than %d --set options", OPTIONS_SETS_MAX);
		options->set[options->sets++] = argument;
		return 0;
	case KEY_PCAP:
		add_capture(options, argument, state);
		return 0;
	case KEY_LCORES:
		options->lcores = parse_number("lcores", argument, 1, 64, state);
		return 0;
	case KEY_WORKERS:
		options->workers = parse_number("workers", argument, 1, 256, state);
		return 0;
	case KEY_SNAPLEN:
		options->snap_bytes = parse_number("snaplen", argument, 46, 65535, state);
		return 0;
	case KEY_LIVE:
		options->live = (int)parse_number("live", argument, 3, INT_MAX, state);
		return 0;
	case KEY_MPI:
		options->mpi = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->run_file != NULL)
			argp_error(state, "only one run file is allowed; found a second: '%s'",
				argument);
		options->run_file = argument;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a run file is required");
		return EINVAL;
	default:
		return option_key_store(options, key, argument) ? 0 : ARGP_ERR_UNKNOWN;
	}
}

/* Needed before the options are parsed. */
static bool is_rank(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--mpi") == 0)
			return true;
	return ranks_were_started("weft-fabric");
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse,
		.args_doc = "RUN.yaml",
		.doc = "Runs a whole fabric of emulated switches and interfaces in one process.\v"
		       "Arguments before a '--' go to DPDK's EAL. The run file is described in "
		       "docs/reference/run-file.md; 'weft run' calls this program.",
	};

	FILE *out = stdout, *errors = stderr, *nowhere = NULL;

	memset(options, 0, sizeof(*options));
	/* All ranks have the same command line, so only rank 0 reports errors in it. If a program
	 * started by mpirun runs weft-fabric itself, the environment is a rank's, but the run is
	 * not a rank. */
	if (ranks_of_environment() != 0 && is_rank(argc, argv))
		nowhere = fopen("/dev/null", "w");
	if (nowhere != NULL)
		stdout = stderr = nowhere;
	program_parse(&argp, 0, argc, argv, options);
	stdout = out;
	stderr = errors;
	if (nowhere != NULL)
		fclose(nowhere);
}
