/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab set: rate, delay and faults of a cable, while the lab runs. */

#include "cmd_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "credit_cover.h"
#include "lab_query.h"
#include "quantity.h"

#define COMMAND     "lab set"
#define STEP_MS     2
#define PATIENCE_MS 3000
#define PORT_MAX    (TOPOLOGY_NAME_MAX + 8)

enum knob { KNOB_RATE, KNOB_DELAY, KNOB_CORRUPT, KNOB_CREDIT_LOSS, KNOBS };

/* Name on the command line, and the counter of the link that shows it. */
static const struct knob_info {
	const char *name, *counter;
	enum quantity_kind kind;
	bool of_device; /* on links without a rate and a delay */
} knobs[KNOBS] = {
	[KNOB_RATE] = {"rate", "paced_bps", QUANTITY_RATE, true},
	[KNOB_DELAY] = {"delay", "delay_ps", QUANTITY_TIME, true},
	[KNOB_CORRUPT] = {"corrupt", "corrupt_ppm", QUANTITY_SHARE, false},
	[KNOB_CREDIT_LOSS] = {"credit-loss", "credit_loss_ppm", QUANTITY_SHARE, false},
};

struct setting {
	const struct lab *lab;
	const struct lab_state *state;
	const struct topology_link *link;
	bool timed; /* the file has its rate and delay */
	bool given[KNOBS], reset;
	uint64_t value[KNOBS];
	uint64_t now[KNOBS]; /* of the end that was set last */
};

/* --- the command line --- */

static const struct knob_info *find_knob(const char *text, size_t length)
{
	for (unsigned i = 0; i < KNOBS; i++)
		if (strlen(knobs[i].name) == length && strncmp(knobs[i].name, text, length) == 0)
			return &knobs[i];
	return NULL;
}

/* As the file has them. */
static void take_file(struct setting *setting)
{
	const struct run_config *run = &setting->lab->config->run;

	setting->value[KNOB_RATE] = setting->timed ? setting->link->rate_bps : 0;
	setting->value[KNOB_DELAY] = setting->timed ? setting->link->delay_ps : 0;
	setting->value[KNOB_CORRUPT] = run->faults.corrupt_ppm;
	setting->value[KNOB_CREDIT_LOSS] = run->faults.credit_loss_ppm;
	setting->reset = true;
}

static int read_word(struct setting *setting, const char *text, struct fault *fault)
{
	const char *equals = strchr(text, '=');
	const struct knob_info *info =
		equals != NULL ? find_knob(text, (size_t)(equals - text)) : NULL;
	uint64_t value;

	if (info == NULL)
		return fault_set(fault, EINVAL,
			"'%s': expected reset, or rate=, delay=, corrupt= or credit-loss= with a "
			"value",
			text);
	if (quantity_parse(info->kind, equals + 1, &value) < 0 ||
		(info->kind == QUANTITY_SHARE && value > QUANTITY_WHOLE_PPM) ||
		(info->kind == QUANTITY_RATE && value == 0))
		return fault_set(
			fault, EINVAL, "'%s': expected %s", text, quantity_expected(info->kind));
	setting->given[info - knobs] = true;
	setting->value[info - knobs] = value;
	return 0;
}

static int read_words(
	struct setting *setting, const struct lab_arguments *arguments, struct fault *fault)
{
	int result = 0;

	if (arguments->words == 2 && strcmp(arguments->word[1], "reset") == 0) {
		take_file(setting);
		return 0;
	}
	for (unsigned i = 1; i < arguments->words && result == 0; i++)
		result = read_word(setting, arguments->word[i], fault);
	return result;
}

static int find_link(struct setting *setting, const char *name, struct fault *fault)
{
	const struct topology *topology = setting->lab->topology;
	struct topology_port port;

	if (topology_find_port(topology, name, &port) == 0)
		setting->link = topology_link_at(topology, port);
	if (setting->link == NULL)
		return fault_set(fault, EINVAL,
			"%s: no cable is there in %s, expected a port such as s0:1", name,
			setting->lab->path);
	setting->timed = lab_plan_is_timed(
		setting->lab->plan, (uint32_t)(setting->link - topology->link_at));
	return 0;
}

/* --- orders --- */

/* The end of the link at this port, as its process shows it. The caller's reference. */
static json_t *ask_end(struct lab_connection *connection, const char *port, struct fault *fault)
{
	json_t *links = lab_ask_links(connection, fault), *link, *found = NULL;
	size_t index;

	json_array_foreach(links, index, link)
	{
		if (strcmp(lab_text(link, "port"), port) == 0)
			found = json_incref(link);
	}
	json_decref(links);
	if (links != NULL && found == NULL)
		fault_set(fault, EPROTO, "%s: its process does not show it", port);
	return found;
}

static uint64_t shown(const json_t *end, enum knob knob)
{
	return (uint64_t)json_integer_value(json_object_get(end, knobs[knob].counter));
}

/* A rate is kept as the time of a byte. */
static uint64_t as_shown(enum knob knob, uint64_t value)
{
	return knob == KNOB_RATE ? rate_of_time(ps_per_byte(value)) : value;
}

static bool has_values(const json_t *end, const uint64_t value[KNOBS])
{
	for (unsigned i = 0; i < KNOBS; i++)
		if (shown(end, i) != as_shown(i, value[i]))
			return false;
	return true;
}

/* The loop does it in its next iterations. */
static int wait_for(struct lab_connection *connection, const char *port,
	const uint64_t value[KNOBS], struct fault *fault)
{
	for (uint64_t until = lab_now_ms() + PATIENCE_MS; lab_now_ms() < until;) {
		json_t *end = ask_end(connection, port, fault);
		bool done = end != NULL && has_values(end, value);

		json_decref(end);
		if (end == NULL)
			return -EPROTO;
		if (done)
			return 0;
		lab_sleep_ms(STEP_MS);
	}
	return fault_set(fault, ETIMEDOUT, "%s: its process does not follow the order", port);
}

static void print_values(
	const struct setting *setting, const char *port, const uint64_t value[KNOBS])
{
	char text[QUANTITY_TEXT];

	printf("%s:", port);
	for (unsigned i = 0; i < KNOBS; i++) {
		quantity_format(knobs[i].kind, value[i], text);
		if (!knobs[i].of_device || setting->timed || value[i] != 0)
			printf(" %s=%s", knobs[i].name, text);
	}
	putchar('\n');
}

static int order_end(struct setting *setting, struct lab_connection *connection, const char *port,
	struct fault *fault)
{
	json_t *end = ask_end(connection, port, fault);
	uint64_t value[KNOBS];
	char text[PORT_MAX + 128];
	int result;

	if (end == NULL)
		return -EPROTO;
	for (unsigned i = 0; i < KNOBS; i++)
		value[i] = setting->reset || setting->given[i] ? setting->value[i] : shown(end, i);
	json_decref(end);
	snprintf(text, sizeof(text), "set %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, port,
		value[KNOB_RATE], value[KNOB_DELAY], value[KNOB_CORRUPT], value[KNOB_CREDIT_LOSS]);
	result = lab_control(connection, text, fault);
	if (result == 0)
		result = wait_for(connection, port, value, fault);
	if (result == 0)
		print_values(setting, port, value);
	memcpy(setting->now, value, sizeof(setting->now));
	return result;
}

/* Both directions; an end on another machine is set there. */
static int order(struct setting *setting, struct fault *fault)
{
	const struct topology *topology = setting->lab->topology;
	const struct topology_port ends[2] = {setting->link->a, setting->link->b};
	unsigned done = 0;
	int result = 0;

	for (unsigned i = 0; i < 2 && result == 0; i++) {
		const struct lab_record *record = lab_record_of(setting->lab, setting->state,
			ends[i].kind == DEVICE_SWITCH ? topology->switch_at[ends[i].device].name
						      : topology->host_at[ends[i].device].name);
		struct lab_connection connection;
		char port[PORT_MAX];

		if (record == NULL || !lab_record_alive(record))
			continue;
		topology_port_name(topology, ends[i], port, sizeof(port));
		result = lab_connect(&connection, record, fault);
		if (result < 0)
			break;
		result = order_end(setting, &connection, port, fault);
		lab_disconnect(&connection);
		done += result == 0;
	}
	if (result == 0 && done == 0)
		return fault_set(fault, ENODEV, "neither process of this link runs here");
	return result;
}

enum weft_exit cmd_lab_set(const struct lab_arguments *arguments)
{
	struct setting setting = {.link = NULL};
	struct lab_state state;
	struct fault fault;
	struct lab lab;
	enum weft_exit opened = lab_open_running(arguments, COMMAND, &lab, &state);
	int result;

	if (opened != EXIT_DONE)
		return opened;
	setting.lab = &lab;
	setting.state = &state;
	result = find_link(&setting, arguments->word[0], &fault);
	if (result == 0)
		result = read_words(&setting, arguments, &fault);
	if (result == 0)
		result = order(&setting, &fault);
	if (result == 0)
		credit_cover_link(&lab.config->run, lab.topology, setting.link,
			setting.now[KNOB_RATE], setting.now[KNOB_DELAY], credit_cover_warn,
			(void *)(uintptr_t) "weft lab set");
	lab_state_free(&state);
	lab_close(&lab);
	return result < 0 ? command_fail(COMMAND, fault_exit_code(result), "%s", fault.text)
			  : EXIT_DONE;
}
