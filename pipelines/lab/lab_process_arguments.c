/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The command line of weft-switch and weft-nic as processes of a lab. */

#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "lab_process.h"
#include "program.h"

enum {
	KEY_LAB = 256,
	KEY_RUN_DIR,
	KEY_SWITCH,
	KEY_HOST,
	KEY_LCORES,
	KEY_MAPPER,
	KEY_EXPECT,
	KEY_FABRIC_KEY
};

static const struct argp_option switch_options[] = {
	{"lab", KEY_LAB, "LAB.yaml", 0, "the lab file", 0},
	{"switch", KEY_SWITCH, "NAME", 0, "a switch to run; may be repeated", 0},
	{"run-dir", KEY_RUN_DIR, "DIR", 0, "where the lab keeps its files (/run/weft/NAME)", 0},
	{"lcores", KEY_LCORES, "N", 0, "poll loops (1)", 0},
	{"fabric-key", KEY_FABRIC_KEY, "FILE", 0, "the fabric key, in place of the lab file's", 0},
	{0},
};

static const struct argp_option nic_options[] = {
	{"lab", KEY_LAB, "LAB.yaml", 0, "the lab file", 0},
	{"host", KEY_HOST, "NAME", 0, "a host to run; may be repeated", 0},
	{"run-dir", KEY_RUN_DIR, "DIR", 0, "where the lab keeps its files (/run/weft/NAME)", 0},
	{"lcores", KEY_LCORES, "N", 0, "poll loops (1)", 0},
	{"mapper", KEY_MAPPER, "MODE", 0,
		"auto, always or never: whether these hosts may be the mapper", 0},
	{"expect", KEY_EXPECT, "TOPO", 0,
		"a topology file or generator: print how the fabric differs from it", 0},
	{"fabric-key", KEY_FABRIC_KEY, "FILE", 0, "the fabric key, in place of the lab file's", 0},
	{0},
};

static unsigned parse_lcores(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < 1 || value > 64)
		argp_error(state, "--lcores %s: expected a number from 1 to 64", text);
	return (unsigned)value;
}

static void check(const struct lab_process_options *options, struct argp_state *state)
{
	if (options->lab_file == NULL)
		argp_error(state, "--lab FILE is needed");
	if (options->devices == 0)
		argp_error(state, "at least one %s is needed",
			options->nics ? "--host NAME" : "--switch NAME");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct lab_process_options *options = state->input;

	switch (key) {
	case KEY_LAB:
		options->lab_file = text;
		return 0;
	case KEY_RUN_DIR:
		options->run_dir = text;
		return 0;
	case KEY_SWITCH:
	case KEY_HOST:
		if (options->devices == LAB_PROCESS_DEVICES_MAX)
			argp_error(state, "at most %d devices", LAB_PROCESS_DEVICES_MAX);
		options->device[options->devices++] = text;
		return 0;
	case KEY_LCORES:
		options->lcores = parse_lcores(text, state);
		return 0;
	case KEY_MAPPER:
		options->mapper = text;
		return 0;
	case KEY_EXPECT:
		options->expect = text;
		return 0;
	case KEY_FABRIC_KEY:
		options->key = text;
		return 0;
	case ARGP_KEY_END:
		check(options, state);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s': nothing but options expected", text);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool lab_process_asked_for(int argc, char **argv)
{
	for (int i = program_separator(argc, argv) + 1; i < argc; i++)
		if (strcmp(argv[i], "--lab") == 0 || strncmp(argv[i], "--lab=", 6) == 0)
			return true;
	return false;
}

void lab_process_parse(
	struct lab_process_options *options, const char *program, bool nics, int argc, char **argv)
{
	const struct argp argp = {
		.options = nics ? nic_options : switch_options,
		.parser = parse,
		.doc = nics ? "Runs emulated network interfaces of a lab: traffic sources and "
			      "sinks, and TAP edges.\v"
			      "Arguments before a '--' go to DPDK's EAL. 'weft lab up' starts this "
			      "program; weft-nic(8) and docs/labs.md tell more."
			    : "Runs emulated switches of a lab.\v"
			      "Arguments before a '--' go to DPDK's EAL. 'weft lab up' starts this "
			      "program; weft-switch(8) and docs/labs.md tell more.",
	};
	int first = program_separator(argc, argv);
	char *separator = argv[first];

	*options = (struct lab_process_options){
		.program = program, .nics = nics, .argc = argc, .argv = argv};
	argp_err_exit_status = EXIT_BAD_REQUEST;
	argv[first] = (char *)program;
	argp_parse(&argp, argc - first, argv + first, ARGP_IN_ORDER, NULL, options);
	argv[first] = separator;
}
