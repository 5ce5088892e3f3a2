/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The command line of weft-switch, weft-nic and weft-fabric as processes of a lab. */

#include <stdlib.h>
#include <string.h>

#include "base/option_key.h"
#include "base/quantity.h"
#include "lab_process.h"
#include "program.h"

enum { KEY_DEVICE = 256, KEY_LCORES, KEY_TRUST, KEY_CALIBRATE };

#define S struct lab_process_options
#define OPTIONS_SHARED                                                                                    \
	{"lab", OPTION_TEXT(S, lab_file), "LAB.yaml", 0, "the lab file", 0},                              \
		{"run-dir", OPTION_TEXT(S, run_dir), "DIR", 0,                                            \
			"the lab's run directory (/run/weft/NAME)", 0},                                   \
		{"trust", KEY_TRUST, "FILE", 0,                                                           \
			"accept 'eal' and 'ports' of this file even if others can change it; repeatable", \
			0},                                                                               \
		{"lcores", KEY_LCORES, "N", 0, "poll loops (1; for a whole lab one per CPU)", 0},         \
	{                                                                                                 \
		"fabric-key", OPTION_TEXT(S, key), "FILE", 0,                                             \
			"the fabric key, instead of the lab file's", 0                                    \
	}

static const struct argp_option switch_options[] = {
	{"switch", KEY_DEVICE, "NAME", 0, "a switch to run; may be repeated", 0},
	OPTIONS_SHARED,
	{0},
};

static const struct argp_option nic_options[] = {
	{"host", KEY_DEVICE, "NAME", 0, "a host to run; may be repeated", 0},
	OPTIONS_SHARED,
	{"mapper", OPTION_TEXT(S, mapper), "MODE", 0,
		"auto, always or never: whether these hosts may be the mapper", 0},
	{"expect", OPTION_TEXT(S, expect), "TOPO", 0,
		"a topology file or generator: print how the fabric differs from it", 0},
	{0},
};

static const struct argp_option whole_options[] = {
	{"device", KEY_DEVICE, "NAME", 0,
		"run the devices that 'weft lab apply' added together with this one", 0},
	OPTIONS_SHARED,
	{"calibrate", KEY_CALIBRATE, NULL, 0,
		"print the dilation that 'dilation: auto' currently means on this machine, and exit",
		0},
	{"expect", OPTION_TEXT(S, expect), "TOPO", 0,
		"a topology file or generator: print how the fabric differs from it", 0},
	{0},
};
#undef S

static const struct argp_option *const options_of[] = {
	[LAB_ROLE_SWITCHES] = switch_options,
	[LAB_ROLE_HOSTS] = nic_options,
	[LAB_ROLE_WHOLE] = whole_options,
};

static const char *const doc_of[] = {
	[LAB_ROLE_SWITCHES] = "Runs emulated switches of a lab.\v"
			      "Arguments before a '--' go to DPDK's EAL. 'weft lab up' starts this "
			      "program; weft-switch(8) and docs/how-to/run-a-lab.md have more.",
	[LAB_ROLE_HOSTS] = "Runs emulated network interfaces of a lab: traffic sources and "
			   "sinks, and TAP edges.\v"
			   "Arguments before a '--' go to DPDK's EAL. 'weft lab up' starts this "
			   "program; weft-nic(8) and docs/how-to/run-a-lab.md have more.",
	[LAB_ROLE_WHOLE] = "Runs all switches and interfaces of a lab in one process.\v"
			   "Arguments before a '--' go to DPDK's EAL. 'weft lab up' starts this "
			   "program; weft-fabric(8) and docs/how-to/run-a-lab.md have more.",
};

static unsigned parse_lcores(const char *text, struct argp_state *state)
{
	uint64_t value;

	if (!quantity_number(text, 1, 64, &value))
		argp_error(state, "--lcores %s: expected a number from 1 to 64", text);
	return (unsigned)value;
}

static void check(const struct lab_process_options *options, struct argp_state *state)
{
	if (options->lab_file == NULL)
		argp_error(state, "--lab FILE is missing%s",
			options->role == LAB_ROLE_SWITCHES ? "; a single switch is a lab "
							     "of one switch"
							   : "");
	if (options->devices == 0 && options->role != LAB_ROLE_WHOLE)
		argp_error(state, "at least one %s is required",
			options->role == LAB_ROLE_HOSTS ? "--host NAME" : "--switch NAME");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct lab_process_options *options = state->input;

	switch (key) {
	case KEY_DEVICE:
		if (options->devices == LAB_PROCESS_DEVICES_MAX)
			argp_error(state, "more than %d devices", LAB_PROCESS_DEVICES_MAX);
		options->device[options->devices++] = text;
		return 0;
	case KEY_CALIBRATE:
		options->calibrates = true;
		return 0;
	case KEY_LCORES:
		options->lcores = parse_lcores(text, state);
		return 0;
	case KEY_TRUST:
		if (options->trust.count == LAB_TRUST_MAX)
			argp_error(state, "more than %d --trust options", LAB_TRUST_MAX);
		options->trust.file[options->trust.count++] = text;
		return 0;
	case ARGP_KEY_END:
		check(options, state);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'; only options are allowed", text);
		return EINVAL;
	default:
		return option_key_store(options, key, text) ? 0 : ARGP_ERR_UNKNOWN;
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
	struct lab_process_options *options, enum lab_role role, int argc, char **argv)
{
	const struct argp argp = {
		.options = options_of[role],
		.parser = parse,
		.doc = doc_of[role],
	};

	*options = (struct lab_process_options){
		.program = lab_role_program(role), .role = role, .argc = argc, .argv = argv};
	program_parse(&argp, ARGP_IN_ORDER, argc, argv, options);
}
