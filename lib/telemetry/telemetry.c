/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "telemetry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_telemetry.h>

#include "base/arrays.h"
#include "base/name_table.h"

#define LINKS_PER_PAGE  10 /* DPDK's replies are limited to 16 KiB */
#define CLOCKS_PER_PAGE 40

enum mailbox { MAILBOX_EMPTY, MAILBOX_WRITING, MAILBOX_FULL };

struct telemetry {
	struct capture_manager *captures;
	struct telemetry_device *device;
	unsigned devices, room;
	telemetry_link_fn *link;
	const void *link_ctx;
	telemetry_clock_fn *clock;
	const void *clock_ctx;
	telemetry_wake_fn *wake;
	void *wake_ctx;
	_Atomic enum mailbox mailbox;
	char control[TELEMETRY_CONTROL_MAX];
};

/* rte_telemetry 22.11 passes no context pointer to callbacks, and a command cannot be unregistered.
 * This variable therefore points to the process's only object. */
static struct {
	pthread_mutex_t lock; /* held by every callback */
	struct telemetry *telemetry;
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Replaces libc's strtok() in the whole process. rte_telemetry 22.11 splits each request with two
 * calls, in one thread per client. libc's strtok() stores its position in one variable for all
 * threads, so one of two concurrent clients could lose its parameter or get the other's. The
 * function is not in a file of its own, because the linker takes only referenced files from an
 * archive. */
char *strtok(char *restrict text, const char *restrict separators)
{
	static _Thread_local char *rest;

	return strtok_r(text, separators, &rest);
}

static const char *class_name(enum telemetry_class class)
{
	static const char *const name[] = {TELEMETRY_CLASSES(WORD_TEXT)};

	return name[class];
}

static enum telemetry_class command_class(const char *command)
{
	const char *name = command + strlen("/weft/");
	size_t length = strcspn(name, "/");
	unsigned class;

	for (class = 0; class < TELEMETRY_CLASS_COUNT; class ++)
		if (strlen(class_name(class)) == length &&
			strncmp(class_name(class), name, length) == 0)
			break;
	return class;
}

static const struct telemetry_device *device_find(
	const struct telemetry *telemetry, enum telemetry_class class, const char *name)
{
	for (unsigned i = 0; i < telemetry->devices; i++)
		if (telemetry->device[i].class == class &&
			strcmp(telemetry->device[i].name, name) == 0)
			return &telemetry->device[i];
	return NULL;
}

static int reply_list(struct telemetry *telemetry, const char *command, const char *parameters,
	struct rte_tel_data *reply)
{
	unsigned from = parameters == NULL ? 0 : (unsigned)strtoul(parameters, NULL, 10);
	enum telemetry_class class = command_class(command);
	unsigned found = 0;

	rte_tel_data_start_array(reply, RTE_TEL_STRING_VAL);
	for (unsigned i = 0; i < telemetry->devices && found < from + TELEMETRY_LIST_MAX; i++) {
		if (telemetry->device[i].class != class)
			continue;
		if (found++ >= from)
			rte_tel_data_add_array_string(reply, telemetry->device[i].name);
	}
	return 0;
}

static int reply_stats(struct telemetry *telemetry, const char *command, const char *parameters,
	struct rte_tel_data *reply)
{
	const struct telemetry_device *device =
		parameters == NULL ? NULL
				   : device_find(telemetry, command_class(command), parameters);
	uint64_t value[TELEMETRY_COUNTERS_MAX];

	if (device == NULL)
		return -ENOENT;
	device->snapshot(device->ctx, value);
	rte_tel_data_start_dict(reply);
	for (unsigned i = 0; i < device->counters; i++)
		rte_tel_data_add_dict_u64(reply, device->counter[i], value[i]);
	return 0;
}

static struct rte_tel_data *link_data(const struct telemetry_link *link)
{
	struct rte_tel_data *data = rte_tel_data_alloc();

	if (data == NULL)
		return NULL;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "port", link->port);
	rte_tel_data_add_dict_string(data, "peer", link->peer);
	rte_tel_data_add_dict_string(data, "state", link->state);
	if (link->neighbour[0] != '\0')
		rte_tel_data_add_dict_string(data, "neighbour", link->neighbour);
	for (unsigned i = 0; i < link->counters; i++)
		rte_tel_data_add_dict_u64(data, link->counter[i], link->value[i]);
	return data;
}

static int reply_links(struct telemetry *telemetry, const char *command, const char *parameters,
	struct rte_tel_data *reply)
{
	unsigned from = parameters == NULL ? 0 : (unsigned)strtoul(parameters, NULL, 10);

	/* Keyed by number: 22.11 has no arrays of objects, and port names are not valid keys. */
	rte_tel_data_start_dict(reply);
	for (unsigned i = 0; i < LINKS_PER_PAGE && telemetry->link != NULL; i++) {
		struct telemetry_link link = {.state = "", .counters = 0};
		struct rte_tel_data *data;
		char number[16];

		if (!telemetry->link(telemetry->link_ctx, from + i, &link))
			break;
		data = link_data(&link);
		if (data == NULL)
			return -ENOMEM;
		snprintf(number, sizeof(number), "%u", from + i);
		rte_tel_data_add_dict_container(reply, number, data, 0);
	}
	return 0;
}

static struct rte_tel_data *clock_data(const struct telemetry_clock *clock)
{
	struct rte_tel_data *data = rte_tel_data_alloc();

	if (data == NULL)
		return NULL;
	rte_tel_data_start_dict(data);
	rte_tel_data_add_dict_string(data, "at", clock->at);
	rte_tel_data_add_dict_string(data, "of", clock->of);
	rte_tel_data_add_dict_int(data, "known", clock->known);
	rte_tel_data_add_dict_u64(data, "local_ns", clock->local_ns);
	rte_tel_data_add_dict_u64(data, "remote_ns", clock->remote_ns);
	rte_tel_data_add_dict_u64(data, "bound_ns", clock->bound_ns);
	rte_tel_data_add_dict_int(data, "drift_ppb", clock->drift_ppb);
	rte_tel_data_add_dict_int(data, "drift_bound_ppb", clock->drift_bound_ppb);
	rte_tel_data_add_dict_u64(data, "samples", clock->samples);
	rte_tel_data_add_dict_u64(data, "steps", clock->steps);
	return data;
}

static int reply_clocks(struct telemetry *telemetry, const char *command, const char *parameters,
	struct rte_tel_data *reply)
{
	uint64_t at = parameters == NULL ? 0 : strtoull(parameters, NULL, 10);

	rte_tel_data_start_dict(reply);
	for (unsigned i = 0; i < CLOCKS_PER_PAGE && telemetry->clock != NULL; i++, at++) {
		struct telemetry_clock clock = {.at = ""};
		struct rte_tel_data *data;
		char number[32];

		if (!telemetry->clock(telemetry->clock_ctx, &at, &clock))
			break;
		data = clock_data(&clock);
		if (data == NULL)
			return -ENOMEM;
		snprintf(number, sizeof(number), "%llu", (unsigned long long)at);
		rte_tel_data_add_dict_container(reply, number, data, 0);
	}
	return 0;
}

/* 'bound_ns' is the largest bound; 'at' and 'of' are its hosts. */
static int reply_clocks_total(struct telemetry *telemetry, const char *command,
	const char *parameters, struct rte_tel_data *reply)
{
	struct telemetry_clock clock = {.at = ""}, worst = {.at = "", .of = ""};
	uint64_t pairs = 0, known = 0, steps = 0;

	for (uint64_t at = 0;
		telemetry->clock != NULL && telemetry->clock(telemetry->clock_ctx, &at, &clock);
		at++) {
		pairs++;
		known += clock.known;
		steps += clock.steps;
		if (clock.known && clock.bound_ns >= worst.bound_ns)
			worst = clock;
		clock = (struct telemetry_clock){.at = ""};
	}
	rte_tel_data_start_dict(reply);
	rte_tel_data_add_dict_u64(reply, "pairs", pairs);
	rte_tel_data_add_dict_u64(reply, "known", known);
	rte_tel_data_add_dict_u64(reply, "steps", steps);
	rte_tel_data_add_dict_u64(reply, "bound_ns", worst.bound_ns);
	rte_tel_data_add_dict_string(reply, "at", worst.at);
	rte_tel_data_add_dict_string(reply, "of", worst.of);
	return 0;
}

static int reply_result(
	struct rte_tel_data *reply, int result, const struct error *error, const char *text)
{
	char line[ERROR_TEXT + 16];

	if (result < 0)
		snprintf(line, sizeof(line), "error: %s", error->text);
	else
		snprintf(line, sizeof(line), "ok%s%s", text[0] != '\0' ? " " : "", text);
	rte_tel_data_string(reply, line);
	return 0;
}

/* Parses PORT,PATH and starts a capture. */
static int start_capture(const struct telemetry *telemetry, const char *parameters,
	const struct capture_filter *filter, struct error *error)
{
	const char *comma = parameters != NULL ? strchr(parameters, ',') : NULL;
	char port[72];

	if (telemetry->captures == NULL)
		return error_set(error, ENOTSUP, "this program does not support captures");
	if (comma == NULL || comma == parameters || comma[1] != '/' ||
		(size_t)(comma - parameters) >= sizeof(port))
		return error_set(error, EINVAL, "expected PORT,PATH with an absolute path");
	snprintf(port, sizeof(port), "%.*s", (int)(comma - parameters), parameters);
	return capture_start(telemetry->captures, port, comma + 1, filter, error);
}

static int reply_capture_start(struct telemetry *telemetry, const char *command,
	const char *parameters, struct rte_tel_data *reply)
{
	struct error error;

	return reply_result(reply, start_capture(telemetry, parameters, NULL, &error), &error, "");
}

static int reply_capture_filter(struct telemetry *telemetry, const char *command,
	const char *parameters, struct rte_tel_data *reply)
{
	const char *comma = parameters != NULL ? strchr(parameters, ',') : NULL;
	char text[CAPTURE_FILTER_TEXT] = "";
	struct capture_filter filter;
	struct error error;
	int result;

	if (comma != NULL && (size_t)(comma - parameters) < sizeof(text))
		memcpy(text, parameters, (size_t)(comma - parameters));
	result = capture_filter_read(&filter, text)
			 ? start_capture(telemetry, comma + 1, &filter, &error)
			 : error_set(&error, EINVAL, "expected FILTER,PORT,PATH");
	return reply_result(reply, result, &error, "");
}

static int reply_capture_stop(struct telemetry *telemetry, const char *command,
	const char *parameters, struct rte_tel_data *reply)
{
	struct capture_counts counts = {0};
	struct error error;
	char text[96];
	int result;

	if (telemetry->captures == NULL)
		result = error_set(&error, ENOTSUP, "this program does not support captures");
	else if (parameters == NULL)
		result = error_set(&error, EINVAL, "expected PORT or all");
	else
		result = capture_stop(telemetry->captures, parameters, &counts, &error);
	snprintf(text, sizeof(text), "offered %llu dropped %llu",
		(unsigned long long)counts.offered, (unsigned long long)counts.dropped);
	return reply_result(reply, result, &error, text);
}

static int mailbox_put(struct telemetry *telemetry, const char *text, struct error *error)
{
	enum mailbox empty = MAILBOX_EMPTY;

	if (text == NULL || strlen(text) >= TELEMETRY_CONTROL_MAX)
		return error_set(error, EINVAL, "expected a command of 1 to %d characters",
			TELEMETRY_CONTROL_MAX - 1);
	if (!atomic_compare_exchange_strong(&telemetry->mailbox, &empty, MAILBOX_WRITING))
		return error_set(error, EBUSY, "the previous command has not been processed yet");
	strcpy(telemetry->control, text);
	atomic_store(&telemetry->mailbox, MAILBOX_FULL);
	if (telemetry->wake != NULL)
		telemetry->wake(telemetry->wake_ctx);
	return 0;
}

static int reply_control(struct telemetry *telemetry, const char *command, const char *parameters,
	struct rte_tel_data *reply)
{
	struct error error;

	return reply_result(reply, mailbox_put(telemetry, parameters, &error), &error, "");
}

bool telemetry_control_poll(struct telemetry *telemetry, char text[TELEMETRY_CONTROL_MAX])
{
	if (atomic_load_explicit(&telemetry->mailbox, memory_order_acquire) != MAILBOX_FULL)
		return false;
	strcpy(text, telemetry->control);
	atomic_store_explicit(&telemetry->mailbox, MAILBOX_EMPTY, memory_order_release);
	return true;
}

typedef int reply_fn(struct telemetry *telemetry, const char *command, const char *parameters,
	struct rte_tel_data *reply);

struct command {
	const char *path;
	reply_fn *reply;
	const char *help;
};

static const struct command commands[] = {
#define X(name, text)                                                    \
	{"/weft/" text "/list", reply_list,                              \
		"A page of names. Parameter: number of the first name"}, \
		{"/weft/" text "/stats", reply_stats, "Counters. Parameter: name"},
	TELEMETRY_CLASSES(X)
#undef X
		{"/weft/links", reply_links,
			"A page of links. Parameter: number of the first link"},
	{"/weft/clocks", reply_clocks,
		"A page of other clocks. Parameter: number of the first clock"},
	{"/weft/clocks/total", reply_clocks_total, "Totals over all other clocks. No parameters"},
	{"/weft/capture/start", reply_capture_start,
		"Captures a port. Parameters: port or all, absolute path"},
	{"/weft/capture/filter", reply_capture_filter,
		"Captures frames of a port that match a filter. Parameters: filter, port or all, absolute path"},
	{"/weft/capture/stop", reply_capture_stop, "Ends a capture. Parameter: port or all"},
	{"/weft/control", reply_control, "A command for the program. Parameter: its text"},
};

static int on_command(const char *path, const char *parameters, struct rte_tel_data *reply)
{
	int result = -ENODEV;

	pthread_mutex_lock(&here.lock);
	for (unsigned i = 0; i < RTE_DIM(commands) && here.telemetry != NULL; i++)
		if (strcmp(commands[i].path, path) == 0)
			result = commands[i].reply(here.telemetry, path, parameters, reply);
	pthread_mutex_unlock(&here.lock);
	return result;
}

static int register_commands(struct error *error)
{
	for (unsigned i = 0; i < RTE_DIM(commands); i++) {
		int result =
			rte_telemetry_register_cmd(commands[i].path, on_command, commands[i].help);

		if (result < 0 && result != -EEXIST)
			return error_set(error, -result,
				"%s: DPDK's telemetry refused the command: %s", commands[i].path,
				strerror(-result));
	}
	return 0;
}

struct telemetry *telemetry_create(struct capture_manager *captures, struct error *error)
{
	struct telemetry *telemetry = calloc(1, sizeof(*telemetry));
	int result = -ENOMEM;

	if (telemetry == NULL) {
		error_set(error, ENOMEM, "not enough memory for telemetry");
		goto err;
	}
	telemetry->captures = captures;
	result = register_commands(error);
	if (result < 0)
		goto err;
	pthread_mutex_lock(&here.lock);
	if (here.telemetry != NULL)
		result = error_set(error, EEXIST, "telemetry is already running");
	else
		here.telemetry = telemetry;
	pthread_mutex_unlock(&here.lock);
	if (result == 0)
		return telemetry;
err:
	free(telemetry);
	errno = -result;
	return NULL;
}

void telemetry_destroy(struct telemetry *telemetry)
{
	if (telemetry == NULL)
		return;
	pthread_mutex_lock(&here.lock);
	here.telemetry = NULL;
	pthread_mutex_unlock(&here.lock);
	free(telemetry->device);
	free(telemetry);
}

static int add_locked(struct telemetry *telemetry, const struct telemetry_device *device)
{
	if (device_find(telemetry, device->class, device->name) != NULL)
		return -EEXIST;
	if (!array_reserve(&telemetry->device, &telemetry->room, telemetry->devices + 1u,
		    sizeof(*telemetry->device)))
		return -ENOMEM;
	telemetry->device[telemetry->devices++] = *device;
	return 0;
}

int telemetry_add_device(
	struct telemetry *telemetry, const struct telemetry_device *device, struct error *error)
{
	int result = -EINVAL;

	if (device->counters <= TELEMETRY_COUNTERS_MAX && device->class < TELEMETRY_CLASS_COUNT) {
		pthread_mutex_lock(&here.lock);
		result = add_locked(telemetry, device);
		pthread_mutex_unlock(&here.lock);
	}
	return result == 0 ? 0
			   : error_set(error, -result, "%s: cannot be shown in telemetry: %s",
				     device->name, strerror(-result));
}

void telemetry_set_links(struct telemetry *telemetry, telemetry_link_fn *link, const void *ctx)
{
	pthread_mutex_lock(&here.lock);
	telemetry->link = link;
	telemetry->link_ctx = ctx;
	pthread_mutex_unlock(&here.lock);
}

void telemetry_set_clocks(struct telemetry *telemetry, telemetry_clock_fn *clock, const void *ctx)
{
	pthread_mutex_lock(&here.lock);
	telemetry->clock = clock;
	telemetry->clock_ctx = ctx;
	pthread_mutex_unlock(&here.lock);
}

void telemetry_set_wake(struct telemetry *telemetry, telemetry_wake_fn *wake, void *ctx)
{
	pthread_mutex_lock(&here.lock);
	telemetry->wake = wake;
	telemetry->wake_ctx = ctx;
	pthread_mutex_unlock(&here.lock);
}
