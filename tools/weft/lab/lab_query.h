/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Requests to the processes of a lab through their telemetry sockets; answers are JSON. */

#include <jansson.h>

#include "base/weft_error.h"
#include "lab_state.h"

/* Time in which a process that is not stopped must answer or execute a command. It usually needs
 * microseconds; more than 3 s were observed with twenty processes competing for its CPU. */
#define LAB_FOLLOW_MS 15000

struct lab_connection {
	const char *prefix;
	int fd;          /* -1: none, or the process closed it because it is ending */
	int patience_ms; /* timeout for an answer from a process on this machine */
	struct lab_remote
		*remote; /* session with the machine, if queried from a console; else NULL */
};

/* Returns 0, or -errno with error set: -ENOENT or -ECONNREFUSED if the process does not run
 * (yet). */
int lab_connect(
	struct lab_connection *connection, const struct lab_record *record, struct error *error);
void lab_disconnect(struct lab_connection *connection);

/* Returns telemetry's value for the command "/weft/…", the caller's reference, or NULL with error
 * set. */
json_t *lab_ask(struct lab_connection *connection, const char *command, struct error *error);
/* Appends the objects of a page: DPDK 22.11 writes an array of them as {"0": {…}, "1": {…}}.
 * Returns their number. */
size_t lab_append_page(json_t *into, json_t *page);

/* Sends a command whose answer is "ok …" or "error: …". Returns 0 with the text after "ok " in
 * 'answer' (may be NULL), or -EINVAL with error set. */
int lab_order(struct lab_connection *connection, const char *command, char *answer, size_t size,
	struct error *error);

/* Adds {"s0": {counters}, …} of all devices of a class (switch, nic, port, congestion) to 'into'.
 * Returns 0, or -EPROTO with error set. */
int lab_ask_class(
	struct lab_connection *connection, const char *class, json_t *into, struct error *error);

/* Return members of an answer; "", 0 and false if the member is missing. */
const char *lab_text(const json_t *object, const char *name);

static inline uint64_t json_count_of(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static inline double json_value_of(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static inline bool json_flag_of(const json_t *object, const char *name)
{
	return json_is_true(json_object_get(object, name));
}

/* Returns the object in a list that has this text as a member, or NULL. */
json_t *lab_row(const json_t *list, const char *member, const char *text);

/* All pages of /weft/links. */
json_t *lab_ask_links(struct lab_connection *connection, struct error *error);

/* Commands to the loop of a lab process (real_fabric_serve()), and its answers in files. */

#define LAB_CONTROL_PATH 400

/* Sends the loop a command, and waits until the loop has accepted it, because it accepts one at a
 * time. Returns -EINVAL with error set. */
int lab_control(struct lab_connection *connection, const char *text, struct error *error);

/* A process that gets a command, and its answer. */
struct lab_obedience {
	struct lab_connection *connection;
	int result; /* 0, or -errno and error */
	struct error error;
};

/* Like lab_control(), for several processes, as concurrently as possible: all machines have
 * received the command before the first answer is awaited. */
void lab_control_all(struct lab_obedience *all, unsigned count, const char *text);

/* Like lab_control(), for a command that ends with a PATH: chooses a path in 'dir' and waits for
 * the file, which the caller removes. For a process on another machine, the file is created there
 * and copied to a temporary file here. Returns -ENODEV if the process ended or does not write. */
int lab_control_file(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, char path[LAB_CONTROL_PATH], struct error *error);
/* Returns the file's contents and removes it. Returns NULL with error set. */
json_t *lab_control_json(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, struct error *error);
/* Like lab_control_json(), for "report", with a longer timeout: a process with a million samples
 * needs a long time to write its report. */
json_t *lab_control_report(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, struct error *error);

/* Sleeps between two requests to a process. */
void lab_sleep_ms(int ms);
/* Monotonic time. */
uint64_t lab_now_ms(void);

/* Reports of a lab's hosts about the clocks of other machines (/weft/clocks), in two members of the
 * document of 'weft lab status --json':
 *
 *     "clocks_total"  {"pairs", "known", "steps", "bound_ns", "at", "of", "cut"}: one request to
 *                     each process
 *     "clocks"        the pairs, if there is such a list: hundreds of thousands if all hosts of two
 *                     machines talk with each other, so there is room for LAB_CLOCKS_MOST of each
 *                     machine; "cut" says that there are more */

#define LAB_CLOCKS_MOST 4000

/* An empty total. */
json_t *lab_clocks_create(void);

/* Adds the clocks of a process. Returns 0, or -EPROTO with error set. */
int lab_clocks_add(json_t *all, struct lab_connection *connection, struct error *error);

/* Adds the document of another machine. */
void lab_clocks_merge(json_t *all, const json_t *part);
