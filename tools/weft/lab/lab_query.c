/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_query.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "os/telemetry_client.h"

#define STOPPED_MS 3000 /* a stopped process may continue, but usually it does not answer */

static int connect_there(struct lab_connection *connection, struct error *error)
{
	int code;
	json_t *answer = lab_remote_call(connection->remote,
		json_pack("{s:s,s:s}", "op", "connect", "prefix", connection->prefix), &code,
		error);

	connection->fd = answer != NULL ? connection->remote->fd : -1;
	if (answer == NULL)
		return code;
	json_decref(answer);
	return 0;
}

int lab_connect(
	struct lab_connection *connection, const struct lab_record *record, struct error *error)
{
	connection->prefix = record->prefix;
	connection->remote = record->remote;
	if (record->remote != NULL)
		return connect_there(connection, error);
	connection->patience_ms = lab_record_stopped(record) ? STOPPED_MS : LAB_FOLLOW_MS;
	connection->fd = telemetry_client_open(record->prefix, connection->patience_ms, error);
	return connection->fd < 0 ? connection->fd : 0;
}

void lab_disconnect(struct lab_connection *connection)
{
	if (connection->remote == NULL)
		telemetry_client_close(connection->fd);
	connection->fd = -1;
}

static int send_there(
	const struct lab_connection *connection, const char *command, struct error *error)
{
	return lab_remote_send(connection->remote,
		json_pack("{s:s,s:s,s:s}", "op", "call", "prefix", connection->prefix, "command",
			command),
		error);
}

/* The answer to send_there(). */
static int receive_there(
	const struct lab_connection *connection, char *reply, size_t size, struct error *error)
{
	int code;
	json_t *answer = lab_remote_receive(connection->remote, LAB_REMOTE_CALL_MS, &code, error);

	if (answer == NULL)
		return code;
	snprintf(reply, size, "%s", lab_text(answer, "reply"));
	json_decref(answer);
	return 0;
}

static int call(struct lab_connection *connection, const char *command, char *reply, size_t size,
	struct error *error)
{
	int result;

	if (connection->remote == NULL) {
		result = telemetry_client_call(
			connection->fd, command, reply, size, connection->patience_ms, error);
		if (result == -EPIPE || result == -ECONNRESET)
			lab_disconnect(connection);
		return result;
	}
	if (send_there(connection, command, error) < 0)
		return -EHOSTUNREACH;
	return receive_there(connection, reply, size, error);
}

/* Returns the value in a telemetry reply, the caller's reference, or NULL with error set. */
static json_t *value_of(const struct lab_connection *connection, const char *command,
	const char *reply, struct error *error)
{
	json_t *document, *value;
	json_error_t json_error;

	document = json_loads(reply, 0, &json_error);
	if (document == NULL) {
		error_set(error, EPROTO, "%s: %s: the answer is not JSON: %s", connection->prefix,
			command, json_error.text);
		return NULL;
	}
	/* {"/weft/…": VALUE} */
	value = json_incref(json_object_iter_value(json_object_iter(document)));
	json_decref(document);
	if (value == NULL || json_is_null(value)) {
		json_decref(value);
		error_set(error, EPROTO, "%s: does not answer %s", connection->prefix, command);
		return NULL;
	}
	return value;
}

json_t *lab_ask(struct lab_connection *connection, const char *command, struct error *error)
{
	static char reply[TELEMETRY_REPLY_MAX];

	if (call(connection, command, reply, sizeof(reply), error) < 0)
		return NULL;
	return value_of(connection, command, reply, error);
}

/* Judges the answer to a command, and takes its reference; NULL: there already is a fault. */
static int judge_order(const struct lab_connection *connection, json_t *value, char *answer,
	size_t size, struct error *error)
{
	const char *text = json_string_value(value);
	int result = 0;

	if (value == NULL)
		return -EPROTO;
	if (text == NULL || strncmp(text, "ok", 2) != 0)
		result = error_set(error, EINVAL, "%s: %s", connection->prefix,
			text != NULL ? text : "the answer is not text");
	else if (answer != NULL)
		snprintf(answer, size, "%s", text[2] == ' ' ? text + 3 : "");
	json_decref(value);
	return result;
}

int lab_order(struct lab_connection *connection, const char *command, char *answer, size_t size,
	struct error *error)
{
	return judge_order(connection, lab_ask(connection, command, error), answer, size, error);
}

/* Number of names on each page of a list except the last (lib/telemetry/telemetry.h). */
#define LIST_PAGE 500

/* Returns all pages of a list of devices; NULL with error set on failure. */
static json_t *ask_names(struct lab_connection *connection, const char *class, struct error *error)
{
	json_t *names, *page = NULL;
	char command[160];

	snprintf(command, sizeof(command), "/weft/%s/list", class);
	names = lab_ask(connection, command, error);
	for (size_t all = LIST_PAGE; names != NULL && json_array_size(names) == all;
		all += LIST_PAGE) {
		snprintf(command, sizeof(command), "/weft/%s/list,%zu", class, all);
		page = lab_ask(connection, command, error);
		if (page == NULL) {
			json_decref(names);
			return NULL;
		}
		json_array_extend(names, page);
		json_decref(page);
	}
	return names;
}

int lab_ask_class(
	struct lab_connection *connection, const char *class, json_t *into, struct error *error)
{
	json_t *names = ask_names(connection, class, error), *name;
	char command[160];

	if (names == NULL)
		return -EPROTO;
	for (size_t i = 0; (name = json_array_get(names, i)) != NULL; i++) {
		json_t *stats;

		snprintf(command, sizeof(command), "/weft/%s/stats,%s", class,
			json_string_value(name));
		stats = lab_ask(connection, command, error);
		if (stats == NULL) {
			json_decref(names);
			return -EPROTO;
		}
		json_object_set_new(into, json_string_value(name), stats);
	}
	json_decref(names);
	return 0;
}

const char *lab_text(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value != NULL ? value : "";
}

json_t *lab_row(const json_t *list, const char *member, const char *text)
{
	json_t *row;

	for (size_t i = 0; (row = json_array_get(list, i)) != NULL; i++) {
		if (strcmp(lab_text(row, member), text) == 0)
			return row;
	}
	return NULL;
}

size_t lab_append_page(json_t *into, json_t *page)
{
	size_t before = json_array_size(into);
	const char *key;
	json_t *value;

	json_array_extend(into, page);
	json_object_foreach(page, key, value)
		json_array_append(into, value);
	return json_array_size(into) - before;
}

json_t *lab_ask_links(struct lab_connection *connection, struct error *error)
{
	json_t *links = json_array(), *page;
	char command[64];
	size_t count;

	do {
		snprintf(command, sizeof(command), "/weft/links,%zu", json_array_size(links));
		page = lab_ask(connection, command, error);
		if (page == NULL) {
			json_decref(links);
			return NULL;
		}
		count = lab_append_page(links, page);
		json_decref(page);
	} while (count > 0);
	return links;
}

#define STEP_MS       5
#define REPORT_MS     5000  /* time for a process to create a file */
#define WRITING_MS    60000 /* time to write it */
#define ORDER_TRIES   400
#define CONTROL_BYTES (LAB_CONTROL_PATH + 64)

void lab_sleep_ms(int ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};

	nanosleep(&time, NULL);
}

uint64_t lab_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void write_control(char command[CONTROL_BYTES], const char *text)
{
	snprintf(command, CONTROL_BYTES, "/weft/control,%s", text);
}

/* Returns true if the loop has not read its previous command yet. */
static bool is_busy(int result, const struct error *error)
{
	return result < 0 && strstr(error->text, "has not been processed") != NULL;
}

int lab_control(struct lab_connection *connection, const char *text, struct error *error)
{
	char command[CONTROL_BYTES];
	int result = 0;

	write_control(command, text);
	for (unsigned i = 0; i < ORDER_TRIES; i++) {
		result = lab_order(connection, command, NULL, 0, error);
		if (!is_busy(result, error))
			break;
		lab_sleep_ms(STEP_MS);
	}
	return result;
}

static void obey_there(struct lab_obedience *one, const char *command)
{
	static char reply[TELEMETRY_REPLY_MAX];
	json_t *value = NULL;

	if (one->result == 0 &&
		receive_there(one->connection, reply, sizeof(reply), &one->error) == 0)
		value = value_of(one->connection, command, reply, &one->error);
	one->result = judge_order(one->connection, value, NULL, 0, &one->error);
}

void lab_control_all(struct lab_obedience *all, unsigned count, const char *text)
{
	char command[CONTROL_BYTES];

	write_control(command, text);
	for (unsigned i = 0; i < count; i++)
		if (all[i].connection->remote != NULL)
			all[i].result = send_there(all[i].connection, command, &all[i].error);
	for (unsigned i = 0; i < count; i++)
		if (all[i].connection->remote == NULL)
			all[i].result = lab_control(all[i].connection, text, &all[i].error);
	for (unsigned i = 0; i < count; i++)
		if (all[i].connection->remote != NULL)
			obey_there(&all[i], command);
	/* Retried only when no answer of a session is outstanding. */
	for (unsigned i = 0; i < count; i++)
		if (is_busy(all[i].result, &all[i].error))
			all[i].result = lab_control(all[i].connection, text, &all[i].error);
}

/* Returns the contents of the file that the remote process wrote, as the caller's reference. */
static json_t *control_there(struct lab_connection *connection, const struct lab_record *record,
	const char *text, int patience_ms, int *code, struct error *error)
{
	struct error there;
	json_t *answer = lab_remote_call_for(connection->remote,
		json_pack("{s:s,s:s,s:s}", "op", "file", "process", record->name, "text", text),
		patience_ms, code, &there);

	if (answer == NULL && *code == -ENOSPC)
		error_set(error, ENOSPC, "machine %s: %s", connection->remote->target.name,
			there.text);
	else
		*error = there;
	return answer;
}

/* Returns 0 or -errno; a file that cannot be written completely is removed. */
static int write_temporary(char path[LAB_CONTROL_PATH], const char *text, size_t length)
{
	int fd, result = 0;

	snprintf(path, LAB_CONTROL_PATH, "/tmp/weft-answer-XXXXXX");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (length > 0 && result == 0) {
		ssize_t written = write(fd, text, length);

		if (written > 0) {
			text += written;
			length -= (size_t)written;
		} else if (written == 0 || errno != EINTR) {
			result = written == 0 ? -EIO : -errno;
		}
	}
	close(fd);
	if (result < 0)
		unlink(path);
	return result;
}

static int control_file_there(struct lab_connection *connection, const struct lab_record *record,
	const char *text, char path[LAB_CONTROL_PATH], struct error *error)
{
	int code;
	json_t *answer = control_there(connection, record, text, LAB_REMOTE_CALL_MS, &code, error);
	const char *contents = lab_text(answer, "text");

	if (answer == NULL)
		return code;
	code = write_temporary(path, contents, strlen(contents));
	json_decref(answer);
	return code < 0 ? error_set(error, -code, "%s: %s", path, strerror(-code)) : 0;
}

static json_t *control_json_there(struct lab_connection *connection,
	const struct lab_record *record, const char *text, int patience_ms, struct error *error)
{
	int code;
	json_t *answer = control_there(connection, record, text, patience_ms, &code, error), *json;
	json_error_t json_error;

	if (answer == NULL)
		return NULL;
	json = json_loads(lab_text(answer, "text"), JSON_DECODE_ANY, &json_error);
	if (json == NULL)
		error_set(error, EPROTO, "%s: %s", record->name, json_error.text);
	json_decref(answer);
	return json;
}

/* Explains why the process did not write its answer: returns -errno with error set. */
static int explain_silence(
	const struct lab_record *record, const char *dir, const char *text, struct error *error)
{
	struct statvfs disk;

	if (statvfs(dir, &disk) == 0 && disk.f_bavail == 0)
		return error_set(error, ENOSPC, "no space left in %s for the answer of %s to '%s'",
			dir, record->name, text);
	return error_set(error, ENODEV, "%s: does not answer '%s'", record->name, text);
}

int lab_control_file(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, char path[LAB_CONTROL_PATH], struct error *error)
{
	/* Gives every file of this command a different name. */
	static atomic_uint files;
	char command[LAB_CONTROL_PATH + 32], part[LAB_CONTROL_PATH + 8];
	int result;

	if (connection->remote != NULL)
		return control_file_there(connection, record, text, path, error);
	snprintf(path, LAB_CONTROL_PATH, "%s/answer-%s-%ld-%u", dir, record->name, (long)getpid(),
		atomic_fetch_add(&files, 1));
	snprintf(command, sizeof(command), "%s %s", text, path);
	result = lab_control(connection, command, error);
	snprintf(part, sizeof(part), "%s.part", path);
	for (int waited = 0; result == 0 && access(path, R_OK) != 0; waited += STEP_MS) {
		bool writes = waited < WRITING_MS && access(part, F_OK) == 0;

		/* The file may have been renamed between the two checks. */
		if (!writes && waited >= REPORT_MS && access(path, R_OK) == 0)
			break;
		if ((waited >= REPORT_MS && !writes) || !lab_record_alive(record))
			return explain_silence(record, dir, text, error);
		lab_sleep_ms(STEP_MS);
	}
	return result;
}

static json_t *control_json(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, int patience_ms, struct error *error)
{
	char path[LAB_CONTROL_PATH];
	json_error_t json_error;
	json_t *json;

	if (connection->remote != NULL)
		return control_json_there(connection, record, text, patience_ms, error);
	if (lab_control_file(connection, record, dir, text, path, error) < 0)
		return NULL;
	json = json_load_file(path, JSON_DECODE_ANY, &json_error);
	if (json == NULL)
		error_set(error, EPROTO, "%s: %s", path, json_error.text);
	unlink(path);
	return json;
}

json_t *lab_control_json(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, struct error *error)
{
	return control_json(connection, record, dir, text, LAB_REMOTE_CALL_MS, error);
}

json_t *lab_control_report(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, struct error *error)
{
	return control_json(
		connection, record, dir, "report", LAB_REMOTE_CALL_MS + WRITING_MS, error);
}
