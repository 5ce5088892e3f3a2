/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab: a lab of real processes. The command line, and functions shared by the subcommands. */

#include "cmd_lab.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lab_kept.h"
#include "lab_spawn.h"
#include "quantity.h"

#define PATIENCE_MS 5000

/* --- command line --- */

#define OPTION_RUN_DIR                                                                        \
	{                                                                                     \
		"run-dir", 'r', "DIR", 0, "where the lab keeps its files (/run/weft/NAME)", 0 \
	}

static const struct argp_option up_options[] = {
	OPTION_RUN_DIR,
	{"wait", 'w', "TIME", 0, "how long the links may take to come up (10s)", 0},
	{"process", 'p', "DEVICE", 0,
		"start only the process that holds this switch or host; may be repeated. The "
		"others run on other machines, or are up and this one has ended",
		0},
	{"trust", 't', "FILE", 0,
		"obey 'eal' of this lab file, or 'ports' of this topology file, although others can "
		"change it; may be repeated",
		0},
	{"explain", 'e', NULL, 0,
		"print the whole configuration, every default included, and the plan of processes "
		"and links as comments, and start nothing",
		0},
	{"restart", 'R', NULL, 0,
		"take the lab down first if it is up, as after a change of the file", 0},
	{0},
};
static const struct argp_option down_options[] = {
	OPTION_RUN_DIR,
	{"all", 'a', NULL, 0, "every lab of this user that 'weft lab list' shows", 0},
	{0},
};
static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "one JSON document instead of a table", 0},
	{0},
};
static const struct argp_option status_options[] = {
	OPTION_RUN_DIR,
	{"json", 'j', NULL, 0, "one JSON document instead of tables", 0},
	{0},
};
static const struct argp_option run_options[] = {
	OPTION_RUN_DIR,
	{"duration", 'd', "TIME", 0,
		"how long traffic is sent (default: measure.duration of the file)", 0},
	{"json", 'o', "FILE", 0, "write the result ('-': standard output)", 0},
	{0},
};
static const struct argp_option capture_options[] = {
	OPTION_RUN_DIR,
	{"output", 'o', "FILE", 0, "write here instead of standard output", 0},
	{0},
};

static const struct argp_option map_options[] = {
	OPTION_RUN_DIR,
	{"output", 'o', "FILE", 0,
		"write here; the ending gives the format: a topology file (.yaml, .yml), graphviz "
		"(.dot, .gv), or the JSON document (.json)",
		0},
	{"dot", 'D', NULL, 0, "for graphviz, instead of a topology file", 0},
	{"json", 'j', NULL, 0, "one JSON document: mapper, epoch, differences, topology", 0},
	{0},
};
static const struct argp_option link_options[] = {OPTION_RUN_DIR, {0}};

static const struct part {
	const char *name;
	enum weft_exit (*run)(const struct lab_arguments *arguments);
	const struct argp_option *options;
	const char *arguments, *doc;
} parts[] = {
	{"up", cmd_lab_up, up_options, "LAB.yaml",
		"Starts the processes of a lab and waits until all links are up."},
	{"list", cmd_lab_list, list_options, "",
		"Shows the labs of this user that are up, and the files they were started from."},
	{"status", cmd_lab_status, status_options, "LAB",
		"Shows processes, links and counters. Exit 1: a process or link is down."},
	{"run", cmd_lab_run, run_options, "LAB",
		"Sends the traffic of the lab file and shows what arrived. Exit 1: frames were "
		"lost, duplicated or out of order."},
	{"capture", cmd_lab_capture, capture_options, "LAB PORT",
		"Captures a port such as s0:1 as pcapng until interrupted:\n"
		"weft lab capture LAB s0:1 | wireshark -k -i -"},
	{"map", cmd_lab_map, map_options, "LAB",
		"Writes the topology that the mapper has found, and its differences to the expected "
		"one. Exit 1: there are differences."},
	{"link", cmd_lab_link, link_options, "LAB PORT down|up",
		"Cuts the cable at a port such as s0:1, or restores it."},
	{"down", cmd_lab_down, down_options, "LAB",
		"Ends the processes of a lab and removes its files, sockets and namespace. A lab "
		"that is not up is no error."},
};

static weft_time parse_time(const char *option, const char *text, struct argp_state *state)
{
	uint64_t value;

	if (quantity_parse(QUANTITY_TIME, text, &value) < 0)
		argp_error(state, "--%s %s: expected %s", option, text,
			quantity_expected(QUANTITY_TIME));
	return value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct lab_arguments *arguments = state->input;

	switch (key) {
	case 'r':
		arguments->run_dir = text;
		return 0;
	case 'w':
		arguments->wait_ps = parse_time("wait", text, state);
		return 0;
	case 'd':
		arguments->duration_ps = parse_time("duration", text, state);
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case 'o':
		arguments->output = text;
		return 0;
	case 'e':
		arguments->explain = true;
		return 0;
	case 'R':
		arguments->restart = true;
		return 0;
	case 'a':
		arguments->all = true;
		return 0;
	case 'D':
		arguments->dot = true;
		return 0;
	case 'p':
		if (arguments->only_count == LAB_ONLY_MAX)
			argp_error(state, "--process: at most %d of them", LAB_ONLY_MAX);
		arguments->only[arguments->only_count++] = text;
		return 0;
	case 't':
		if (arguments->trust.count == LAB_TRUST_MAX)
			argp_error(state, "--trust: at most %d files", LAB_TRUST_MAX);
		arguments->trust.file[arguments->trust.count++] = text;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->file == NULL)
			arguments->file = text;
		else if (arguments->link == NULL)
			arguments->link = text;
		else if (arguments->word == NULL)
			arguments->word = text;
		else
			argp_error(state, "'%s': too many arguments", text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static enum weft_exit run_part(const struct part *part, int argc, char **argv)
{
	const struct argp argp = {
		.options = part->options,
		.parser = parse,
		.args_doc = part->arguments,
		.doc = part->doc,
	};
	struct lab_arguments arguments = {
		.wait_ps = 10 * PS_PER_S,
		.duration_ps = WEFT_TIME_NEVER,
	};
	const char *second = strchr(part->arguments, ' ');
	bool wants_file, wants_link = second != NULL;
	bool wants_word = wants_link && strchr(second + 1, ' ') != NULL;
	char name[64];

	snprintf(name, sizeof(name), "weft lab %s", part->name);
	argv[0] = name;
	argp_err_exit_status = EXIT_BAD_REQUEST;
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	wants_file = part->arguments[0] != '\0' && !arguments.all;
	if ((arguments.file != NULL) != wants_file || (arguments.link != NULL) != wants_link ||
		(arguments.word != NULL) != wants_word) {
		fprintf(stderr, "usage: %s [OPTION]... %s\n", name, part->arguments);
		return EXIT_BAD_REQUEST;
	}
	return part->run(&arguments);
}

static void print_usage(FILE *out)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fprintf(out, "%s weft lab %-8s %s\n", i == 0 ? "usage:" : "      ", parts[i].name,
			parts[i].arguments);
	fputs("'weft lab PART --help' and weft-lab(1) explain more.\n", out);
}

int cmd_lab(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_BAD_REQUEST;
	}
	if (strcmp(argv[1], "--help") == 0) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(parts[i].name, argv[1]) == 0)
			return run_part(&parts[i], argc - 1, argv + 1);
	return command_fail("lab", EXIT_BAD_REQUEST,
		"'%s', expected up, list, status, run, capture, map, link or down", argv[1]);
}

/* --- signals --- */

/* Global: a signal handler can reach nothing else. */
static atomic_bool interrupted;

static void on_signal(int number)
{
	(void)number;
	atomic_store(&interrupted, true);
}

void lab_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool lab_interrupted(void)
{
	return atomic_load(&interrupted);
}

const atomic_bool *lab_stop_flag(void)
{
	return &interrupted;
}

/* --- the running lab --- */

const struct lab_record *lab_record_of(
	const struct lab *lab, const struct lab_state *state, const char *device)
{
	int process = lab_plan_find(lab->plan, device);

	for (unsigned i = 0; i < state->processes && process >= 0; i++)
		if (strcmp(state->process[i].name, lab->plan->process[process].name) == 0)
			return &state->process[i];
	return NULL;
}

/* Opens the lab file, or the one that the lab keeps. 0, or -errno and fault; -ENOENT: 'file' is
 * neither a file nor a lab that is up. */
static int open_target(
	const struct lab_arguments *arguments, struct lab *lab, bool *by_name, struct fault *fault)
{
	struct lab_target target;
	int result = lab_kept_find(arguments, &target, fault);

	*by_name = target.by_name;
	if (result < 0)
		return result;
	return lab_open(lab, target.file, target.dir[0] != '\0' ? target.dir : NULL, fault);
}

enum weft_exit lab_open_running(const struct lab_arguments *arguments, const char *command,
	struct lab *lab, struct lab_state *state)
{
	struct fault fault;
	bool by_name;
	int result = open_target(arguments, lab, &by_name, &fault);

	if (result < 0)
		return command_fail(command, fault_exit_code(result), "%s", fault.text);
	result = lab_state_load(state, lab->plan->run_dir, &fault);
	if (result == 0 && !by_name) {
		result = lab_kept_check(lab, &fault);
		if (result < 0) {
			lab_state_free(state);
			lab_close(lab);
			return command_fail(command, fault_exit_code(result), "%s", fault.text);
		}
	}
	if (result == 0)
		return EXIT_DONE;
	if (result == -ENOENT)
		command_fail(command, EXIT_BAD_ANSWER,
			"lab %s is not up; 'weft lab up %s' starts it", lab->plan->lab,
			arguments->file);
	else
		command_fail(command, EXIT_NOT_ABLE, "%s", fault.text);
	lab_close(lab);
	return result == -ENOENT ? EXIT_BAD_ANSWER : EXIT_NOT_ABLE;
}

int lab_take_down(struct lab_state *state, struct fault *fault)
{
	int killed = (int)lab_end_processes(state, PATIENCE_MS);
	int result = 0;

	for (unsigned i = 0; i < state->netns_count && result == 0; i++)
		result = lab_veth_remove(state->netns[i], fault);
	if (result == 0)
		result = lab_state_remove(state, fault);
	lab_state_free(state);
	return result < 0 ? result : killed;
}
