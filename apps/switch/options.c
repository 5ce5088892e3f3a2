/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "adaptive_routing.h"
#include "fault.h"
#include "frame.h"
#include "option_key.h"
#include "program.h"
#include "quantity.h"
#include "switch.h"
#include "switch_part.h"

const char *argp_program_version = "weft-switch " WEFT_VERSION;

#define LCORE_CPUS_MAX  1024
#define LCORES_EXPECTED "1 to 16, or a list of CPUs such as 2,3 or 2-5"

_Static_assert(SWITCH_PARTS_MAX == 16, "as the text says");

enum {
	KEY_NAME = 256,
	KEY_VCS,
	KEY_BUFFER,
	KEY_ADAPTIVE,
	KEY_PEER,
	KEY_MTU,
	KEY_DESCRIPTORS,
	KEY_HELLO,
	KEY_WATCHDOG,
	KEY_DURATION,
	KEY_FRAMES,
	KEY_SEED_FRAMES,
	KEY_FRAME_BYTES,
	KEY_YIELD,
	KEY_PCAP,
	KEY_LCORES,
};

#define S struct switch_options
static const struct argp_option list[] = {
	{NULL, 0, NULL, 0, "The switch:", 1},
	{"name", KEY_NAME, "NAME", 0, "Its name (s0); its ports are NAME:0, NAME:1, …", 0},
	{"vcs", KEY_VCS, "N", 0, "Virtual channels, 1 to 16 (1); SL i goes to VC i mod N", 0},
	{"buffer", KEY_BUFFER, "SIZE", 0,
		"Buffer of an input port, shared equally by its VCs (128KiB)", 0},
	{"no-voq", OPTION_CLEAR(S, voq), NULL, 0,
		"One queue per input and VC instead of one per output", 0},
	{"table", OPTION_TEXT(S, table), "FILE|modulo:HOSTS", 0,
		"Where frames without a route go: lines 'DESTINATION PORT', or destination d of "
		"HOSTS leaves by port d mod ports",
		0},
	{"topology", OPTION_TEXT(S, topology), "TOPO", 0,
		"The topology in which --name is a switch, a generator or a file: --table is then a "
		"route file with tables, as 'weft route compute --tables' writes it",
		0},
	{"adaptive", KEY_ADAPTIVE, "MODE", 0,
		"For measurements, with --table modulo: each port leads to all HOSTS; with several "
		"VCs the last one is the adapted-flow channel ('none': as without the option). MODE is "
		"one of ",
		0},
	{"watchdog", KEY_WATCHDOG, "TIME|off", 0,
		"Discards what could not move for this long (50ms)", 0},
	{NULL, 0, NULL, 0, "Its ports:", 2},
	{"peer", KEY_PEER, "weft|open[:PORT,PORT...]", 0,
		"What is at the other end: devices that keep credits (weft), or, at all or some ports, "
		"something that does not speak Weft's link protocol (open)",
		0},
	{"hello", KEY_HELLO, "TIME", 0, "Interval of hellos; three missed: link down (10ms)", 0},
	{"mtu", KEY_MTU, "SIZE", 0, "Greatest payload of a frame (4KiB)", 0},
	{"descriptors", KEY_DESCRIPTORS, "N", 0, "Receive and transmit descriptors (1024)", 0},
	{NULL, 0, NULL, 0, "The run:", 3},
	{"duration", KEY_DURATION, "TIME", 0, "Ends by itself after this time", 0},
	{"frames", KEY_FRAMES, "N", 0, "Ends by itself after about this many frames", 0},
	{"yield", KEY_YIELD, "auto|always|never", 0,
		"Whether an idle loop leaves its core to others; auto: if it shares it", 0},
	{"lcores", KEY_LCORES, "N|CPUS", 0,
		"Cores among which the ports are divided (1), or a list such as 2,3 or 2-3 of the "
		"CPUs that they are pinned to; EAL's -l pins, too",
		0},
	{"pcap", KEY_PCAP, "PORT=FILE", 0,
		"Captures a port, or all, from the start on (pcapng); can be repeated", 0},
	{"json", OPTION_SET(S, json), NULL, 0, "Result as one JSON document", 0},
	{"no-sandbox", OPTION_CLEAR(S, sandbox), NULL, 0,
		"Does not restrict the running program to the system calls that it needs", 0},
	{NULL, 0, NULL, 0, "Measuring:", 4},
	{"seed-frames", KEY_SEED_FRAMES, "N", 0,
		"Sends N data frames, routed by the table, into each port when its link is up", 0},
	{"frame-bytes", KEY_FRAME_BYTES, "B", 0, "Their length without FCS (60)", 0},
	{"profile", OPTION_SET(S, profile), NULL, 0, "Tells how the loop's time is spent", 0},
	{NULL, 0, NULL, 0, NULL, 0},
};
#undef S

static void refuse(struct argp_state *state, const char *option, const char *arg, const char *why)
{
	argp_failure(state, EXIT_BAD_REQUEST, 0, "%s '%s': expected %s", option, arg, why);
}

static uint64_t number(struct argp_state *state, const char *option, const char *arg, uint64_t min,
	uint64_t max, const char *expected)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(arg, &end, 10);
	if (errno != 0 || end == arg || *end != '\0' || arg[0] == '-' || value < min || value > max)
		refuse(state, option, arg, expected);
	return value;
}

static uint64_t quantity(struct argp_state *state, const char *option, const char *arg,
	enum quantity_kind kind, uint64_t min, uint64_t max, const char *range)
{
	uint64_t value = 0;

	if (quantity_parse(kind, arg, &value) < 0)
		refuse(state, option, arg, quantity_expected(kind));
	if (value < min || value > max)
		refuse(state, option, arg, range);
	return value;
}

static const struct adaptive_mode *find_mode(struct argp_state *state, const char *arg)
{
	const struct adaptive_mode *mode = adaptive_mode_find(arg);
	char hint[WORD_LIST_HINT];

	if (mode == NULL) {
		word_list_hint(&adaptive_modes, arg, hint);
		argp_failure(state, EXIT_BAD_REQUEST, 0, "--adaptive %s: expected %s", arg, hint);
	}
	return mode;
}

static bool parse_switch(
	struct switch_options *options, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_NAME:
		if (arg[0] == '\0' || strlen(arg) > 31 || strpbrk(arg, ":,/ ") != NULL)
			refuse(state, "--name", arg, "1 to 31 characters without ':', ',', '/'");
		options->name = arg;
		return true;
	case KEY_VCS:
		options->vcs = (uint8_t)number(state, "--vcs", arg, 1, FRAME_VCS_MAX, "1 to 16");
		return true;
	case KEY_BUFFER:
		options->buffer_bytes = (uint32_t)quantity(state, "--buffer", arg, QUANTITY_SIZE,
			FRAME_BLOCK_BYTES, 1u << 30, "64B to 1024MiB");
		return true;
	case KEY_ADAPTIVE:
		options->adaptive = find_mode(state, arg);
		return true;
	case KEY_WATCHDOG:
		options->watchdog_ps =
			strcmp(arg, "off") == 0
				? WEFT_TIME_NEVER
				: quantity(state, "--watchdog", arg, QUANTITY_TIME, PS_PER_MS,
					  3600 * PS_PER_S, "off, or 1ms to 3600s");
		return true;
	default:
		return false;
	}
}

/* "weft", "open", "open:0,3". */
static uint64_t parse_peer(struct argp_state *state, const char *arg)
{
	const char *at = arg + strlen("open");
	uint64_t ports = 0;

	if (strcmp(arg, "weft") == 0)
		return 0;
	if (strcmp(arg, "open") == 0)
		return UINT64_MAX;
	if (strncmp(arg, "open:", 5) != 0)
		refuse(state, "--peer", arg, "weft, open or open:PORT,PORT...");
	while (*at != '\0') {
		char *end;
		unsigned long port = strtoul(at + 1, &end, 10);

		if (end == at + 1 || at[1] == '-' || port >= SWITCH_PORTS_MAX ||
			(*end != ',' && *end != '\0'))
			refuse(state, "--peer", arg, "ports from 0 to 63 after 'open:'");
		ports |= BIT64(port);
		at = end;
	}
	return ports;
}

static bool parse_ports(
	struct switch_options *options, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_PEER:
		options->open_ports = parse_peer(state, arg);
		return true;
	case KEY_HELLO:
		options->hello_ps = quantity(state, "--hello", arg, QUANTITY_TIME, 100 * PS_PER_US,
			60 * PS_PER_S, "100us to 60s");
		return true;
	case KEY_MTU:
		options->mtu_bytes = (uint32_t)quantity(
			state, "--mtu", arg, QUANTITY_SIZE, 64, FRAME_PAYLOAD_MAX, "64B to 9000B");
		return true;
	case KEY_DESCRIPTORS:
		options->descriptors =
			(uint16_t)number(state, "--descriptors", arg, 32, 16384, "32 to 16384");
		return true;
	default:
		return false;
	}
}

/* How many CPUs a list such as "0,2-3" has; 0: it is none. */
static unsigned count_cpus(const char *text)
{
	unsigned count = 0;

	do {
		unsigned long first, last;
		char *end;

		if (*text < '0' || *text > '9')
			return 0;
		first = last = strtoul(text, &end, 10);
		if (*end == '-' && end[1] >= '0' && end[1] <= '9')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= LCORE_CPUS_MAX || (*end != ',' && *end != '\0'))
			return 0;
		count += (unsigned)(last - first + 1);
		text = end + (*end == ',');
		if (*end == ',' && *text == '\0')
			return 0;
	} while (*text != '\0');
	return count;
}

static void parse_lcores(struct switch_options *options, const char *arg, struct argp_state *state)
{
	bool is_list = strpbrk(arg, ",-") != NULL;

	options->lcore_cpus = is_list ? arg : NULL;
	options->lcores = is_list ? count_cpus(arg)
				  : (unsigned)number(state, "--lcores", arg, 1, SWITCH_PARTS_MAX,
					    LCORES_EXPECTED);
	if (options->lcores == 0 || options->lcores > SWITCH_PARTS_MAX)
		refuse(state, "--lcores", arg, LCORES_EXPECTED);
}

static bool parse_run(struct switch_options *options, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_DURATION:
		options->duration_ps = quantity(state, "--duration", arg, QUANTITY_TIME, 0,
			WEFT_TIME_NEVER / 2, "less than 100 days");
		return true;
	case KEY_FRAMES:
		options->frames = number(state, "--frames", arg, 1, UINT64_MAX - 1, "a number");
		return true;
	case KEY_YIELD:
		if (!poll_yield_parse(arg, &options->yield))
			refuse(state, "--yield", arg, "auto, always or never");
		return true;
	case KEY_LCORES:
		parse_lcores(options, arg, state);
		return true;
	case KEY_PCAP:
		if (strchr(arg, '=') == NULL || options->pcaps == SWITCH_OPTIONS_PCAPS)
			refuse(state, "--pcap", arg, "PORT=FILE, 16 times at most");
		options->pcap[options->pcaps++] = arg;
		return true;
	default:
		return false;
	}
}

static bool parse_measuring(
	struct switch_options *options, int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case KEY_SEED_FRAMES:
		options->seed_frames = (uint32_t)number(
			state, "--seed-frames", arg, 0, 1u << 20, "a number up to 1048576");
		return true;
	case KEY_FRAME_BYTES:
		options->frame_bytes = (uint32_t)number(state, "--frame-bytes", arg,
			FRAME_BYTES_MIN, FRAME_BYTES_MAX, "60 to 9118");
		return true;
	default:
		return false;
	}
}

/* Decisions with the state of all outputs need one core (docs/lcores.md). */
static void check_lcores(const struct switch_options *options, struct argp_state *state)
{
	if (options->lcores == 1)
		return;
	if (!options->voq)
		argp_failure(state, EXIT_BAD_REQUEST, 0,
			"--no-voq: needs one lcore; expected no --lcores %u", options->lcores);
	if (options->adaptive != NULL && options->adaptive->name != NULL &&
		strcmp(options->adaptive->name, "none") != 0)
		argp_failure(state, EXIT_BAD_REQUEST, 0,
			"--adaptive %s: needs one lcore; expected no --lcores %u",
			options->adaptive->name, options->lcores);
}

static void check_all(const struct switch_options *options, struct argp_state *state)
{
	uint32_t room = FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + options->mtu_bytes;

	check_lcores(options, state);
	if (options->buffer_bytes / FRAME_BLOCK_BYTES / options->vcs < frame_blocks(room))
		argp_failure(state, EXIT_BAD_REQUEST, 0,
			"--buffer: %u bytes for %u VCs do not hold one frame of --mtu %u in each",
			options->buffer_bytes, options->vcs, options->mtu_bytes);
	if (options->seed_frames > 0 && options->table == NULL)
		argp_failure(
			state, EXIT_BAD_REQUEST, 0, "--seed-frames: needs a --table to route them");
	if (options->topology != NULL &&
		(options->table == NULL || strncmp(options->table, "modulo:", 7) == 0))
		argp_failure(state, EXIT_BAD_REQUEST, 0,
			"--topology: needs a --table FILE, which holds the tables of its switches");
	if (options->adaptive != NULL &&
		(options->table == NULL || strncmp(options->table, "modulo:", 7) != 0))
		argp_failure(
			state, EXIT_BAD_REQUEST, 0, "--adaptive: goes with --table modulo:HOSTS");
	if (options->frame_bytes > room)
		argp_failure(state, EXIT_BAD_REQUEST, 0,
			"--frame-bytes %u: more than --mtu %u lets through", options->frame_bytes,
			options->mtu_bytes);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct switch_options *options = state->input;

	if (key == ARGP_KEY_ARG)
		argp_failure(state, EXIT_BAD_REQUEST, 0,
			"'%s': nothing but options expected; EAL's go before '--'", arg);
	if (key == ARGP_KEY_END)
		check_all(options, state);
	if (option_key_store(options, key, arg) || parse_switch(options, key, arg, state) ||
		parse_ports(options, key, arg, state) || parse_run(options, key, arg, state) ||
		parse_measuring(options, key, arg, state))
		return 0;
	return ARGP_ERR_UNKNOWN;
}

/* The modes come after what the option's help says. argp frees what is not 'text'. */
static char *complete_help(int key, const char *text, void *input)
{
	char modes[WORD_LIST_HINT], *complete;

	word_list_hint(&adaptive_modes, NULL, modes);
	if (key != KEY_ADAPTIVE || asprintf(&complete, "%s%s", text, modes) < 0)
		return (char *)(uintptr_t)text;
	return complete;
}

void switch_options_parse(struct switch_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = list,
		.parser = parse_option,
		.help_filter = complete_help,
		.doc = "An emulated switch on DPDK ports: port i is the i-th port that DPDK knows.\v"
		       "usage with EAL options: weft-switch EAL_OPTION... -- OPTION...\n"
		       "for example: weft-switch --vdev net_memif0,role=server -- --table t.txt",
	};

	*options = (struct switch_options){
		.name = "s0",
		.vcs = 1,
		.buffer_bytes = 128 * 1024,
		.voq = true,
		.sandbox = true,
		.mtu_bytes = 4096,
		.descriptors = 1024,
		.hello_ps = 10 * PS_PER_MS,
		.watchdog_ps = 50 * PS_PER_MS,
		.duration_ps = WEFT_TIME_NEVER,
		.frames = UINT64_MAX,
		.frame_bytes = FRAME_BYTES_MIN,
		.yield = POLL_YIELD_AUTO,
		.lcores = 1,
	};
	program_parse(&argp, 0, argc, argv, options);
}
