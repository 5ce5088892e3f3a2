/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab: a lab of real processes. This file has the command line. */

#include "cmd_lab.h"
#include "base/option_key.h"

#include <argp.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

#define INTERVAL_MIN_PS (100 * PS_PER_MS) /* each sample queries all processes */

/* --- command line --- */

#define SNAP_BYTES_MIN 46 /* a header */
#define SNAP_BYTES_MAX 65535

enum { KEY_FILTER = 256, KEY_WHERE, KEY_SNAPLEN, KEY_COUNT, KEY_ROTATE };

#define OPTION_RUN_DIR                                                                  \
	{                                                                               \
		"run-dir", 'r', "DIR", 0, "the lab's run directory (/run/weft/NAME)", 0 \
	}

#define OPTION_MACHINE                                                                              \
	{                                                                                           \
		"machine", 'm', "NAME", 0,                                                          \
			"only this machine's part of a lab whose file has machines: the processes " \
			"here, not over ssh",                                                       \
			0                                                                           \
	}

static const struct argp_option up_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"wait", 'w', "TIME", 0, "maximum time for the links to come up (10s)", 0},
	{"process", 'p', "DEVICE", 0,
		"start only the process of this switch or host; may be repeated. The other "
		"processes run on other machines, or are still running",
		0},
	{"trust", 't', "FILE", 0,
		"accept 'eal' of this lab file, or 'ports' of this topology file, even if others can change it; may be repeated",
		0},
	{"explain", 'e', NULL, 0,
		"print the full configuration with all defaults, and the plan of processes and "
		"links as comments; start nothing",
		0},
	{"alone", 'A', NULL, 0,
		"with --machine: wait only for links between the machine's own processes; processes that are already running are not an error",
		0},
	{"restart", 'R', NULL, 0,
		"if the lab is up, take it down first, for example after the file has changed", 0},
	{"dilation", 'N', "N", 0,
		"slow the lab's clock down by the factor N so that its loops keep up, or auto; overrides the file",
		0},
	{"any-clock", 'C', NULL, 0,
		"accept machines whose time of day differs from this one's by more than a second",
		0},
	{0},
};
static const struct argp_option down_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"all", 'a', NULL, 0, "take down all labs that 'weft lab list' shows", 0},
	{"if-up", 'U', NULL, 0, "succeed even if the lab is not up", 0},
	{0},
};
static const struct argp_option list_options[] = {
	{"json", 'j', NULL, 0, "one JSON document instead of a table", 0},
	{0},
};
static const struct argp_option doctor_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"json", 'j', NULL, 0, "one JSON document instead of text", 0},
	{0},
};
static const struct argp_option status_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"json", 'j', NULL, 0, "one JSON document instead of tables", 0},
	{"wide", 'W', NULL, 0, "all links, and all counters that are not zero", 0},
	{0},
};
static const struct argp_option top_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"once", 'O', NULL, 0, "show one interval and exit", 0},
	{"json-lines", 'J', NULL, 0, "one JSON document per line and interval", 0},
	{"interval", 'i', "TIME", 0, "interval between updates (1s)", 0},
	{0},
};
static const struct argp_option metrics_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"listen", 'l', "ADDRESS:PORT", 0, "address for Prometheus (127.0.0.1:9464)", 0},
	{"once", 'O', NULL, 0, "write the metrics to standard output and exit", 0},
	{"text", 'T', NULL, 0,
		"with --once: use the older text format, which 'promtool check metrics' reads", 0},
	{0},
};
#define OPTION_NO_FAKETIME                                                                    \
	{                                                                                     \
		"no-faketime", 'F', NULL, 0,                                                  \
			"run the program in real time, although the lab's clock is slower", 0 \
	}

static const struct argp_option exec_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	OPTION_NO_FAKETIME,
	{"joined", 'G', NULL, 0, "join the words and let a shell interpret them, as ssh does", 0},
	{0},
};
static const struct argp_option program_options[] = {
	OPTION_RUN_DIR, OPTION_MACHINE, OPTION_NO_FAKETIME, {0}};
static const struct argp_option mpirun_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	OPTION_NO_FAKETIME,
	{"record", 'Q', "FILE", 0,
		"record the messages and computing times of the ranks as a GOAL schedule", 0},
	{"fabric", 'B', "tcp|weft", 0,
		"use TCP over the hosts' interfaces, or endpoints through libfabric (default: "
		"endpoints if the lab has any)",
		0},
	{0},
};
static const struct argp_option host_options[] = {OPTION_RUN_DIR, OPTION_MACHINE, {0}};
static const struct argp_option web_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"listen", 'l', "ADDRESS:PORT", 0, "address of the page (127.0.0.1:9465)", 0},
	{"why", 'Y', "FILE", 0,
		"output of 'weft why --json'; the page shows its packets as waterfalls", 0},
	{"interval", 'i', "TIME", 0, "interval between updates (1s)", 0},
	{0},
};
static const struct argp_option run_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"duration", 'd', "TIME", 0,
		"how long to send traffic (default: measure.duration of the file)", 0},
	{"set", 's', "KEY=VALUE", 0,
		"change a key of 'traffic' or 'measure', or 'seed', for this run, such as "
		"traffic.0.load=30%; may be repeated",
		0},
	{"json", 'o', "FILE", 0, "write the result ('-': standard output)", 0},
	{0},
};
static const struct argp_option capture_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"output", 'o', "FILE", 0, "write here instead of standard output", 0},
	{"filter", KEY_FILTER, "EXPRESSION", 0,
		"capture only frames whose TAP packet matches, such as 'icmp and host 10.87.0.3' "
		"(pcap-filter(7))",
		0},
	{"where", KEY_WHERE, "WORDS", 0,
		"capture only matching frames: 'vc=1,2 kind=data,credit src=h0 dst=h3 dropped'", 0},
	{"snaplen", KEY_SNAPLEN, "BYTES", 0, "number of bytes to keep of each frame (all)", 0},
	{"count", KEY_COUNT, "N", 0, "stop after N frames", 0},
	{"duration", 'd', "TIME", 0, "stop after this time on the lab's clock", 0},
	{"rotate", KEY_ROTATE, "SIZE|TIME[,FILES]", 0,
		"start a new file after 100MB or 60s, for example, and keep the last FILES", 0},
	{0},
};

#define X(name, key, value, text) {#name, key, value, 0, text, 0},
static const struct argp_option replay_options[] = {
	OPTION_RUN_DIR, OPTION_MACHINE, LAB_REPLAY_OPTIONS(X){0}};
#undef X
static const struct argp_option apply_options[] = {
	OPTION_RUN_DIR,
	{"dry-run", 'n', NULL, 0, "print the changes without making them", 0},
	{"wait", 'w', "TIME", 0, "maximum time for new links and routes to come up (10s)", 0},
	{0},
};
static const struct argp_option map_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"output", 'o', "FILE", 0,
		"write here; the suffix selects the format: a topology file (.yaml, .yml), graphviz "
		"(.dot, .gv), or the JSON document (.json)",
		0},
	{"dot", 'D', NULL, 0, "write a graphviz file instead of a topology file", 0},
	{"json", 'j', NULL, 0, "one JSON document: mapper, epoch, differences, topology", 0},
	{0},
};
static const struct argp_option export_options[] = {
	OPTION_RUN_DIR,
	{"containerlab", 'L', NULL, 0,
		"write a containerlab topology file: one container per device, one veth pair per link",
		0},
	{"output", 'o', "FILE.clab.yml", 0,
		"write here, with the containers' files in FILE.files "
		"(NAME.clab.yml)",
		0},
	{0},
};
static const struct argp_option route_options[] = {
	OPTION_RUN_DIR,
	OPTION_MACHINE,
	{"json", 'j', NULL, 0, "one JSON document: epoch, mapper, paths", 0},
	{0},
};
static const struct argp_option link_options[] = {OPTION_RUN_DIR, OPTION_MACHINE, {0}};

#define EXIT_OF_PROGRAM "the program's exit code; 2 invalid request, 3 not possible on this machine"

static const struct part {
	struct command_part is;
	enum weft_exit (*run)(const struct lab_arguments *arguments);
	unsigned min, max; /* words after LAB */
	bool in_order;     /* options after LAB belong to a program */
} parts[] = {
	{{"up", "LAB.yaml", up_options,
		 "Starts the processes of a lab and waits until all links are up.",
		 "0 success, 1 a buffer pool was exhausted, 2 invalid request, 3 not possible on this machine"},
		cmd_lab_up},
	{{"list", "", list_options,
		 "Shows the labs of this user that are up, and the files from which they were started."},
		cmd_lab_list},
	{{"status", "LAB", status_options, "Shows processes, links and counters.",
		 "0 success, 1 a process or link is down, or switches are waiting for each other, 2 "
		 "invalid request, 3 not possible on this machine"},
		cmd_lab_status},
	{{"doctor", "LAB", doctor_options,
		 "Checks CPUs, NICs and the path MTU of links, and suggests changes.",
		 "0 success, 1 changes are suggested, 2 invalid request, 3 not possible on this machine"},
		cmd_lab_doctor},
	{{"logs", "LAB [HOST]...", host_options,
		 "Shows what the processes of a lab print: all, or only the named switches and hosts."},
		cmd_lab_logs, 0, UINT_MAX},
	{{"top", "LAB", top_options,
		 "Shows rates, stalls and losses of links and hosts, updated every second."},
		cmd_lab_top},
	{{"metrics", "LAB", metrics_options, "Serves all counters to Prometheus as OpenMetrics."},
		cmd_lab_metrics},
	{{"web", "LAB", web_options,
		 "Serves a page on this machine that draws the lab, shows its traffic, and can cut and rejoin cables."},
		cmd_lab_web},
	{{"run", "LAB", run_options, "Sends the traffic of the lab file and shows what arrived.",
		 "0 success, 1 frames were lost, duplicated or out of order, nothing was sent"
		 " or measured, switches are waiting for each other, frames were later than "
		 "'fidelity' allows, or the run is incomplete, 2 invalid request, 3 not possible on this "
		 "machine, 130 ended early by a signal"},
		cmd_lab_run},
	{{"capture", "LAB PORT...|all", capture_options,
		 "Captures ports such as s0:1 as pcapng until interrupted; 'all' captures every port on this machine.\n"
		 "weft lab capture LAB s0:1 s1:0 | wireshark -k -i -"},
		cmd_lab_capture, 1, UINT_MAX},
	{{"map", "LAB", map_options,
		 "Writes the topology that the mapper discovered, and its differences from the expected one.",
		 "0 success, 1 there are differences, 2 invalid request, 3 not possible on this machine"},
		cmd_lab_map},
	{{"link", "LAB PORT down|up", link_options,
		 "Cuts the cable at a port such as s0:1, or restores it."},
		cmd_lab_link, 2, 2},
	{{"route", "LAB HOST HOST", route_options,
		 "Shows the paths between two hosts in the tables that the mapper "
		 "distributed.",
		 "0 success, 1 there are no paths, 2 invalid request, 3 not possible on this machine"},
		cmd_lab_route, 2, 2},
	{{"set", "LAB all|s0:*|PORT[>] KEY=VALUE...|reset", host_options,
		 "Sets rate, delay, jitter, loss, corrupt, credit-loss and reorder of all links, of "
		 "the links at a device, or of the link at a port, until 'reset' or the end of the lab. "
		 "With '>' after the port, only the outgoing direction changes."},
		cmd_lab_set, 2, UINT_MAX},
	{{"clear", "LAB", host_options,
		 "Resets the counters of 'status', 'top', 'web' and 'metrics' to 0."},
		cmd_lab_clear},
	{{"apply", "LAB.yaml", apply_options,
		 "Changes a running lab to match the devices and cables of the file: adds, removes and "
		 "re-cables devices while the traffic of all others continues."},
		cmd_lab_apply},
	{{"restart", "LAB DEVICE...", host_options,
		 "Ends the processes of these switches and hosts, and starts them again."},
		cmd_lab_restart, 1, LAB_ONLY_MAX},
	{{"exec", "LAB HOST [--] COMMAND [ARGUMENT...]", exec_options,
		 "Runs a program in a host of the lab's 'edges', with its network and name.",
		 EXIT_OF_PROGRAM},
		cmd_lab_exec, 2, UINT_MAX, true},
	{{"shell", "LAB HOST", program_options, "Starts a shell in a host of the lab's 'edges'.",
		 EXIT_OF_PROGRAM},
		cmd_lab_shell, 1, 1},
	{{"hosts", "LAB", host_options,
		 "Lists the hosts in which programs can run, as an Open MPI hostfile."},
		cmd_lab_hosts},
	{{"mpirun", "LAB [OPTION OF MPIRUN...] PROGRAM [ARGUMENT...]", mpirun_options,
		 "Runs an Open MPI program in the hosts of the lab's 'edges', such as\n"
		 "weft lab mpirun LAB -np 4 ./a.out",
		 EXIT_OF_PROGRAM},
		cmd_lab_mpirun, 1, UINT_MAX, true},
	{{"replay", "LAB FILE", replay_options,
		 "Sends the IPv4 packets of a capture (pcap, pcapng) from the hosts of the lab's "
		 "'edges' to each other, with their original timing on the lab's clock.",
		 "0 success, 1 nothing was sent or packets were dropped at a TAP, 2 invalid request, 3 "
		 "not possible on this machine, 130 interrupted"},
		cmd_lab_replay, 1, 1},
	{{"export", "LAB", export_options,
		 "Writes a lab as a topology file for another tool, and the files that it needs."},
		cmd_lab_export},
	{{"inventory", "LAB", host_options,
		 "Writes the machines of a lab file as an Ansible inventory (tools/ansible)."},
		cmd_lab_inventory},
	{{"down", "LAB", down_options,
		 "Ends the processes of a lab and removes its files, sockets and namespaces."},
		cmd_lab_down},
};

static weft_time parse_time(const char *option, const char *text, struct argp_state *state)
{
	uint64_t value;

	if (quantity_parse(QUANTITY_TIME, text, &value) < 0)
		argp_error(state, "--%s %s: expected %s", option, text,
			quantity_expected(QUANTITY_TIME));
	return value;
}

static uint64_t parse_number(
	const char *option, const char *text, uint64_t low, uint64_t high, struct argp_state *state)
{
	uint64_t value;

	if (!quantity_number(text, low, high, &value))
		argp_error(state, "--%s %s: expected a number from %" PRIu64 "%s", option, text,
			low, high == SNAP_BYTES_MAX ? " to 65535" : " on");
	return value;
}

/* Options that are only stored. */
#define TEXT(member) OPTION_TEXT(struct lab_arguments, member)
#define FLAG(member) OPTION_SET(struct lab_arguments, member)
static const struct {
	int key, place; /* option_key.h */
} stored[] = {{'r', TEXT(run_dir)}, {'m', TEXT(machine)}, {'N', TEXT(dilation)},
	{'o', TEXT(output)}, {KEY_FILTER, TEXT(filter)}, {KEY_WHERE, TEXT(where)},
	{KEY_ROTATE, TEXT(rotate)}, {'l', TEXT(listen)}, {'Q', TEXT(record)}, {'Y', TEXT(why)},
	{'j', FLAG(json)}, {'e', FLAG(explain)}, {'R', FLAG(restart)}, {'A', FLAG(alone)},
	{'C', FLAG(any_clock)}, {'a', FLAG(all)}, {'U', FLAG(if_up)}, {'D', FLAG(dot)},
	{'n', FLAG(dry_run)}, {'W', FLAG(wide)}, {'O', FLAG(once)}, {'J', FLAG(json_lines)},
	{'G', FLAG(joined)}, {'F', FLAG(no_faketime)}, {'T', FLAG(text)},
	{'L', FLAG(containerlab)}};

static error_t store(struct lab_arguments *arguments, int key, const char *text)
{
	for (unsigned i = 0; i < sizeof(stored) / sizeof(stored[0]); i++)
		if (stored[i].key == key && option_key_store(arguments, stored[i].place, text))
			return 0;
	return ARGP_ERR_UNKNOWN;
}

static void parse_replay(int key, const char *text, struct argp_state *state)
{
	struct lab_arguments *arguments = state->input;
#define X(name, option, value, what) [option] = #name,
	static const char *const keys[] = {LAB_REPLAY_OPTIONS(X)};
#undef X

	for (unsigned i = 0; i < arguments->replays; i++)
		if (strcmp(arguments->replay[i].key, keys[key]) == 0)
			argp_error(state, "--%s: may be given only once", keys[key]);
	arguments->replay[arguments->replays].key = keys[key];
	arguments->replay[arguments->replays++].value = text;
}

/* Options that may be repeated; their values are collected. */
static void parse_repeated(int key, const char *text, struct argp_state *state)
{
	struct lab_arguments *arguments = state->input;

	if (key == 'p') {
		if (arguments->only_count == LAB_ONLY_MAX)
			argp_error(state, "--process: may be given at most %d times", LAB_ONLY_MAX);
		arguments->only[arguments->only_count++] = text;
	} else if (key == 's') {
		if (arguments->sets == LAB_SETS_MAX)
			argp_error(state, "--set: may be given at most %d times", LAB_SETS_MAX);
		arguments->set[arguments->sets++] = text;
	} else if (key != 't') {
		parse_replay(key, text, state);
	} else {
		if (arguments->trust.count == LAB_TRUST_MAX)
			argp_error(state, "--trust: may be given at most %d times", LAB_TRUST_MAX);
		arguments->trust.file[arguments->trust.count++] = text;
	}
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct lab_arguments *arguments = state->input;

	switch (key) {
	case 'w':
		arguments->wait_ps = parse_time("wait", text, state);
		return 0;
	case 'B':
		arguments->fabric = text;
		if (strcmp(text, "weft") != 0 && strcmp(text, "tcp") != 0)
			argp_error(state, "--fabric %s: expected tcp or weft", text);
		return 0;
	case 'd':
		arguments->duration_ps = parse_time("duration", text, state);
		return 0;
	case KEY_SNAPLEN:
		parse_number("snaplen", text, SNAP_BYTES_MIN, SNAP_BYTES_MAX, state);
		arguments->snaplen = text;
		return 0;
	case KEY_COUNT:
		arguments->count = parse_number("count", text, 1, UINT64_MAX, state);
		return 0;
	case 'i':
		arguments->interval_ps = parse_time("interval", text, state);
		if (arguments->interval_ps < INTERVAL_MIN_PS)
			argp_error(state, "--interval %s: must be at least 100ms", text);
		return 0;
	case 'p':
	case 's':
	case 't':
#define X(name, option, value, what) case option:
		LAB_REPLAY_OPTIONS(X)
#undef X
		parse_repeated(key, text, state);
		return 0;
	case ARGP_KEY_ARGS:
		arguments->file = state->argv[state->next];
		arguments->word = state->argv + state->next + 1;
		arguments->words = (unsigned)(state->argc - state->next) - 1;
		return 0;
	default:
		return store(arguments, key, text);
	}
}

static const struct command_parts lab_parts = COMMAND_PARTS("lab", parts,
	"Exit: 0 success, 1 bad result, 2 invalid request, 3 not possible on this\n"
	"machine.\n"
	"See 'weft lab PART --help' and weft-lab(1) for details.\n");

static enum weft_exit run_part(const struct part *part, int argc, char **argv)
{
	struct lab_arguments arguments = {
		.wait_ps = 10 * PS_PER_S,
		.duration_ps = WEFT_TIME_NEVER,
		.interval_ps = PS_PER_S,
	};
	bool wants_file;

	command_part_parse(&lab_parts, &part->is, parse, part->in_order ? ARGP_IN_ORDER : 0, argc,
		argv, &arguments);
	wants_file = part->is.arguments[0] != '\0' && !arguments.all;
	if ((arguments.file != NULL) != wants_file || arguments.words < part->min ||
		arguments.words > part->max)
		return command_part_refuse(&lab_parts, &part->is);
	return part->run(&arguments);
}

int cmd_lab(int argc, char **argv)
{
	int code = EXIT_DONE, part;

	if (argc == 2 && strcmp(argv[1], "part") == 0)
		return cmd_lab_part();
	part = command_parts_choose(&lab_parts, argc, argv, &code);
	return part < 0 ? code : (int)run_part(&parts[part], argc - 1, argv + 1);
}
