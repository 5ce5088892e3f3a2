/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab set: changes rate, delay and faults of links while the lab runs. */

#include "cmd_lab.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_links.h"
#include "lab_query.h"
#include "setup/credit_cover.h"
#include "topo/topology.h"

#define COMMAND     "lab set"
#define STEP_MS     2
#define PORT_MAX    (TOPOLOGY_NAME_MAX + 8)
#define TIME_MAX_PS (1000 * PS_PER_S)

/* On the command line. */
static const struct knob_info {
	const char *name;
	enum quantity_kind kind;
} knobs[LINK_KNOB_COUNT] = {
#define X(name, word, gauge, kind) {word, kind},
	LINK_KNOBS(X)
#undef X
};

struct setting {
	const struct lab *lab;
	const struct lab_state *state;
	char target[PORT_MAX + 1];       /* link_knobs.h */
	uint64_t value[LINK_KNOB_COUNT]; /* or LINK_KNOB_KEEP */
	bool reset;
	struct topology_link *now; /* [link]: rate and delay of the links that were set */
};

/* --- the command line --- */

static const struct knob_info *find_knob(const char *text, size_t length)
{
	for (unsigned i = 0; i < LINK_KNOB_COUNT; i++)
		if (strlen(knobs[i].name) == length && strncmp(knobs[i].name, text, length) == 0)
			return &knobs[i];
	return NULL;
}

static int read_word(struct setting *setting, const char *text, struct error *error)
{
	const char *equals = strchr(text, '=');
	const struct knob_info *info =
		equals != NULL ? find_knob(text, (size_t)(equals - text)) : NULL;
	uint64_t value;

	if (info == NULL)
		return error_set(error, EINVAL,
			"'%s': expected reset, or rate=, delay=, jitter=, loss=, corrupt=, "
			"credit-loss= or reorder= with a value",
			text);
	if (quantity_parse(info->kind, equals + 1, &value) < 0)
		return error_set(
			error, EINVAL, "'%s': expected %s", text, quantity_expected(info->kind));
	if (info->kind == QUANTITY_SHARE && value > QUANTITY_WHOLE_PPM)
		return error_set(error, EINVAL, "'%s': must be at most 100%%", text);
	if (info->kind == QUANTITY_RATE && value < TOPOLOGY_RATE_MIN_BPS)
		return error_set(error, EINVAL, "'%s': must be at least 1kbps", text);
	if (info->kind == QUANTITY_TIME && value > TIME_MAX_PS)
		return error_set(error, EINVAL, "'%s': must be at most 1000s", text);
	setting->value[info - knobs] = value;
	return 0;
}

static int read_words(
	struct setting *setting, const struct lab_arguments *arguments, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < LINK_KNOB_COUNT; i++)
		setting->value[i] = LINK_KNOB_KEEP;
	setting->reset = arguments->words == 2 && strcmp(arguments->word[1], "reset") == 0;
	for (unsigned i = 1; i < arguments->words && result == 0 && !setting->reset; i++)
		result = read_word(setting, arguments->word[i], error);
	return result;
}

static void name_end(const struct setting *setting, uint32_t end, char name[PORT_MAX])
{
	const struct topology *topology = setting->lab->topology;
	const struct topology_link *link = &topology->link_at[end / 2];

	topology_port_name(topology, end % 2 == 0 ? link->a : link->b, name, PORT_MAX);
}

static bool is_meant(const struct setting *setting, uint32_t end)
{
	char own[PORT_MAX], peer[PORT_MAX];

	name_end(setting, end, own);
	name_end(setting, end ^ 1, peer);
	return link_knobs_mean(setting->target, own, peer);
}

/* Parses a target. A host's name means the host's port. */
static int read_target(struct setting *setting, const char *text, struct error *error)
{
	const struct topology *topology = setting->lab->topology;
	size_t length = strlen(text);
	bool one_way = length > 0 && text[length - 1] == '>';
	char name[PORT_MAX];
	struct topology_port port;

	snprintf(name, sizeof(name), "%.*s", (int)(length - one_way), text);
	if (length < PORT_MAX && topology_find_port(topology, name, &port) == 0)
		topology_port_name(topology, port, name, sizeof(name));
	snprintf(setting->target, sizeof(setting->target), "%s%s", name, one_way ? ">" : "");
	for (uint32_t i = 0; i < 2 * topology->links; i++)
		if (is_meant(setting, i))
			return 0;
	return error_set(error, EINVAL,
		"%s: no such cable in %s; use all, a device's ports such as s0:*, or a port such "
		"as s0:1. With '>' after the port, only the outgoing direction changes",
		text, setting->lab->path);
}

/* --- orders --- */

static bool has_values(const struct setting *setting, uint32_t end, const json_t *shown)
{
	uint64_t planned[LINK_KNOB_COUNT], value;

	lab_links_planned(setting->lab, end / 2, planned);
	for (unsigned i = 0; i < LINK_KNOB_COUNT; i++) {
		value = setting->reset ? planned[i] : setting->value[i];
		/* A rate is stored as the time per byte. */
		if (i == LINK_KNOB_RATE && value != LINK_KNOB_KEEP)
			value = rate_of_time(byte_time_of(value));
		if (value != LINK_KNOB_KEEP && lab_links_knob(shown, i) != value)
			return false;
	}
	return true;
}

/* Prints the end, and records its link's current values for the warnings. */
static void report_end(struct setting *setting, uint32_t end, const json_t *shown)
{
	struct topology_link *link = &setting->now[end / 2];

	link->rate_bps = lab_links_knob(shown, LINK_KNOB_RATE);
	link->delay_ps = lab_links_knob(shown, LINK_KNOB_DELAY);
	printf("%s:", lab_text(shown, "port"));
	lab_links_print_knobs(shown, stdout);
	putchar('\n');
}

/* Returns the index of the end in the topology, or UINT32_MAX if the target does not include it. */
static uint32_t find_end(const struct setting *setting, const json_t *shown)
{
	const struct topology *topology = setting->lab->topology;
	const struct topology_link *link = NULL;
	struct topology_port port;
	uint32_t end;

	if (topology_find_port(topology, lab_text(shown, "port"), &port) == 0)
		link = topology_link_at(topology, port);
	if (link == NULL)
		return UINT32_MAX;
	end = 2 * (uint32_t)(link - topology->link_at);
	end += link->a.kind != port.kind || link->a.device != port.device ||
	       link->a.port != port.port;
	return is_meant(setting, end) ? end : UINT32_MAX;
}

/* Returns the number of the process's ends whose values do not match the command yet, or
 * -EPROTO with error set. 'done': prints each end in the target. */
static int look(
	struct setting *setting, struct lab_connection *connection, bool done, struct error *error)
{
	json_t *links = lab_ask_links(connection, error), *shown;
	int waiting = 0;

	if (links == NULL)
		return -EPROTO;
	for (size_t i = 0; (shown = json_array_get(links, i)) != NULL; i++) {
		uint32_t end = find_end(setting, shown);

		if (end == UINT32_MAX)
			continue;
		waiting += !has_values(setting, end, shown);
		if (done)
			report_end(setting, end, shown);
	}
	json_decref(links);
	return waiting;
}

static int order_process(
	struct setting *setting, const struct lab_record *record, struct error *error)
{
	uint64_t until = lab_now_ms() + LAB_FOLLOW_MS;
	struct lab_connection connection;
	char text[PORT_MAX + 32 * LINK_KNOB_COUNT];
	int result = lab_connect(&connection, record, error), length, waiting = 1;

	if (result < 0)
		return result;
	length = snprintf(
		text, sizeof(text), "set %s%s", setting->target, setting->reset ? " file" : "");
	for (unsigned i = 0; i < LINK_KNOB_COUNT && !setting->reset; i++)
		length += setting->value[i] == LINK_KNOB_KEEP
				  ? snprintf(text + length, sizeof(text) - (size_t)length, " -")
				  : snprintf(text + length, sizeof(text) - (size_t)length,
					    " %" PRIu64, setting->value[i]);
	result = lab_control(&connection, text, error);
	/* The loop applies the change in its next iterations. */
	while (result == 0 && waiting > 0) {
		waiting = look(setting, &connection, false, error);
		if (waiting < 0)
			result = waiting;
		else if (waiting > 0 && lab_now_ms() >= until)
			result = error_set(
				error, ETIMEDOUT, "%s did not execute the command", record->name);
		else if (waiting > 0)
			lab_sleep_ms(STEP_MS);
	}
	if (result == 0 && look(setting, &connection, true, error) < 0)
		result = -EPROTO;
	lab_disconnect(&connection);
	return result;
}

static bool has_end(const struct setting *setting, const struct lab_record *record)
{
	const struct topology *topology = setting->lab->topology;

	for (uint32_t i = 0; i < 2 * topology->links; i++) {
		const struct topology_link *link = &topology->link_at[i / 2];

		if (is_meant(setting, i) &&
			lab_record_of(setting->lab, setting->state,
				topology_device_name(topology, i % 2 == 0 ? link->a : link->b)) ==
				record)
			return true;
	}
	return false;
}

/* Skips ends whose process has ended or is on another machine. */
static int order(struct setting *setting, struct error *error)
{
	unsigned done = 0;
	int result = 0;

	for (unsigned i = 0; i < setting->state->processes && result == 0; i++) {
		const struct lab_record *record = &setting->state->process[i];

		if (!lab_record_alive(record) || !has_end(setting, record))
			continue;
		result = order_process(setting, record, error);
		done++;
	}
	if (result == 0 && done == 0)
		return error_set(error, ENODEV, "%s: no process with these links is running here",
			setting->target);
	return result;
}

static enum weft_exit set_links(
	const struct lab_arguments *arguments, const struct lab *lab, const struct lab_state *state)
{
	struct setting setting = {.lab = lab,
		.state = state,
		.now = calloc(lab->topology->links + 1u, sizeof(*setting.now))};
	void *prefix = (void *)(uintptr_t) "weft lab set";
	struct error error;
	int result = setting.now == NULL ? error_set(&error, ENOMEM, "out of memory") : 0;

	if (result == 0)
		result = read_target(&setting, arguments->word[0], &error);
	if (result == 0)
		result = read_words(&setting, arguments, &error);
	if (result == 0)
		result = order(&setting, &error);
	if (result == 0) {
		credit_cover_links(
			&lab->config->run, lab->topology, setting.now, credit_cover_warn, prefix);
		lab_links_warn_delay(lab, setting.now, credit_cover_warn, prefix);
	}
	free(setting.now);
	return result < 0 ? command_error(COMMAND, result, &error) : EXIT_DONE;
}

enum weft_exit cmd_lab_set(const struct lab_arguments *arguments)
{
	return lab_with_running(arguments, COMMAND, set_links);
}
