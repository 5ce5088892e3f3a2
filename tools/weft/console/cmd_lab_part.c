/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab part: the machine's side of a console session (lab_remote.h). Reads requests from
 * standard input, one JSON object per line, and writes an answer to each to standard output. It
 * needs no access control: a user who can start this program can also start all others. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/cmd_lab.h"
#include "lab/lab_bundle.h"
#include "lab/lab_lock.h"
#include "lab/lab_state.h"
#include "os/private_dir.h"
#include "os/telemetry_client.h"
#include "part_child.h"
#include "watch/lab_collect.h"

#define TELEMETRY_MS 3000
#define ANSWER_FILE  (64u << 20)

/* A telemetry connection; fd -1: closed. */
struct line {
	char prefix[128];
	int fd;
};

struct part {
	char lab[LAB_NAME_MAX], machine[LAB_NAME_MAX];
	char dir[256]; /* run directory */
	bool up;       /* 'state' is valid */
	struct lab_state state;
	struct line *line;
	unsigned lines;
	struct lab_lock lock;
	bool done; /* accept no further requests */
	int code;  /* exit code if 'done' is set */
};

static json_t *failed(int result, const struct error *error)
{
	return json_pack("{s:s,s:i}", "error", error->text, "errno", -result);
}

static json_t *refused(const char *why)
{
	return json_pack("{s:s,s:i}", "error", why, "errno", EINVAL);
}

/* --- state --- */

static void load(struct part *part)
{
	struct error ignored;

	if (part->up)
		lab_state_free(&part->state);
	part->up = lab_state_load(&part->state, part->dir, &ignored) == 0;
}

static json_t *describe(const struct part *part)
{
	json_t *list = json_array();
	struct timespec now;

	for (unsigned i = 0; part->up && i < part->state.processes; i++) {
		const struct lab_record *record = &part->state.process[i];

		json_array_append_new(
			list, json_pack("{s:s,s:I,s:b,s:I,s:i}", "name", record->name, "pid",
				      (json_int_t)record->pid, "alive", lab_record_alive(record),
				      "cpu_ns", (json_int_t)lab_record_cpu_ns(record), "restarts",
				      (int)record->restarts));
	}
	clock_gettime(CLOCK_REALTIME, &now);
	return json_pack("{s:s,s:b,s:s,s:I,s:o}", "version", WEFT_VERSION, "up", part->up, "dir",
		part->dir, "time_ns", (json_int_t)now.tv_sec * 1000000000 + now.tv_nsec,
		"processes", list);
}

static bool is_name(const char *name)
{
	return name[0] != '\0' && name[0] != '-' && strlen(name) < LAB_NAME_MAX &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789-_.")] == '\0' &&
	       name[0] != '.';
}

static json_t *do_open(struct part *part, const json_t *request)
{
	const char *version = lab_text(request, "version");
	char labs[RUNTIME_DIR_MAX];
	struct error error;

	if (strcmp(version, WEFT_VERSION) != 0)
		return failed(error_set(&error, ENOTSUP,
				      "weft is version " WEFT_VERSION
				      " there and %s here; install the same version on both",
				      version),
			&error);
	if (!is_name(lab_text(request, "lab")) || !is_name(lab_text(request, "machine")))
		return refused("the names of a lab and a machine are required");
	snprintf(part->lab, sizeof(part->lab), "%s", lab_text(request, "lab"));
	snprintf(part->machine, sizeof(part->machine), "%s", lab_text(request, "machine"));
	runtime_dir_labs(labs);
	snprintf(part->dir, sizeof(part->dir), "%s/%s", labs, part->lab);
	load(part);
	return describe(part);
}

static json_t *do_state(struct part *part, const json_t *request)
{
	load(part);
	return describe(part);
}

static const struct lab_record *find_record(const struct part *part, const json_t *request)
{
	for (unsigned i = 0; part->up && i < part->state.processes; i++)
		if (strcmp(part->state.process[i].name, lab_text(request, "process")) == 0)
			return &part->state.process[i];
	return NULL;
}

static json_t *do_alive(struct part *part, const json_t *request)
{
	json_t *answer = json_object();

	for (unsigned i = 0; part->up && i < part->state.processes; i++)
		json_object_set_new(answer, part->state.process[i].name,
			json_boolean(lab_record_alive(&part->state.process[i])));
	return answer;
}

/* Returns the document of 'weft lab status --json' for this machine; with "clocks" in the request,
 * also the clock pairs. */
static json_t *do_collect(struct part *part, const json_t *request)
{
	char path[sizeof(part->dir) + sizeof(LAB_KEPT_FILE) + 1];
	struct error error;
	struct lab lab;
	json_t *answer;
	int result;

	load(part);
	if (!part->up)
		return json_pack("{s:b}", "down", 1);
	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, part->dir);
	result = lab_open(&lab, path, part->dir, &error);
	if (result < 0)
		return failed(result, &error);
	answer = lab_collect(&lab, &part->state, json_flag_of(request, "clocks"));
	lab_close(&lab);
	return answer;
}

/* --- telemetry --- */

static struct line *find_line(struct part *part, const char *prefix)
{
	struct line *more;

	for (unsigned i = 0; i < part->lines; i++)
		if (strcmp(part->line[i].prefix, prefix) == 0)
			return &part->line[i];
	more = realloc(part->line, (part->lines + 1) * sizeof(*more));
	if (more == NULL)
		return NULL;
	part->line = more;
	more[part->lines] = (struct line){.fd = -1};
	snprintf(more[part->lines].prefix, sizeof(more->prefix), "%s", prefix);
	return &more[part->lines++];
}

static void hang_up(struct line *line)
{
	if (line->fd >= 0)
		telemetry_client_close(line->fd);
	line->fd = -1;
}

/* Connects only to processes of this lab. */
static int dial(struct part *part, const char *prefix, struct line **line, struct error *error)
{
	bool ours = false;

	for (unsigned i = 0; part->up && i < part->state.processes; i++)
		ours |= strcmp(part->state.process[i].prefix, prefix) == 0;
	*line = ours ? find_line(part, prefix) : NULL;
	if (*line == NULL)
		return error_set(error, ENOENT, "%s: the lab has no such process there", prefix);
	if ((*line)->fd < 0)
		(*line)->fd = telemetry_client_open(prefix, TELEMETRY_MS, error);
	return (*line)->fd < 0 ? (*line)->fd : 0;
}

static json_t *do_connect(struct part *part, const json_t *request)
{
	const char *prefix = lab_text(request, "prefix");
	struct error error;
	struct line *line;
	int result;

	for (unsigned i = 0; i < part->lines; i++)
		if (strcmp(part->line[i].prefix, prefix) == 0)
			hang_up(&part->line[i]);
	result = dial(part, prefix, &line, &error);
	return result < 0 ? failed(result, &error) : json_pack("{s:b}", "connected", 1);
}

static json_t *do_call(struct part *part, const json_t *request)
{
	static char reply[TELEMETRY_REPLY_MAX];
	struct error error;
	struct line *line;
	int result = dial(part, lab_text(request, "prefix"), &line, &error);

	if (result == 0)
		result = telemetry_client_call(line->fd, lab_text(request, "command"), reply,
			sizeof(reply), TELEMETRY_MS, &error);
	if (result >= 0)
		return json_pack("{s:s}", "reply", reply);
	if (line != NULL)
		hang_up(line);
	return failed(result, &error);
}

static json_t *read_answer(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = malloc(ANSWER_FILE);
	size_t count = file != NULL && text != NULL ? fread(text, 1, ANSWER_FILE - 1, file) : 0;
	json_t *answer;

	answer = json_pack(
		"{s:o}", "text", text != NULL ? json_stringn(text, count) : json_string(""));
	if (file != NULL)
		fclose(file);
	free(text);
	return answer != NULL ? answer : refused("the process's answer is not text");
}

static json_t *do_file(struct part *part, const json_t *request)
{
	const struct lab_record *record = find_record(part, request);
	struct lab_connection connection;
	char path[LAB_CONTROL_PATH];
	struct error error;
	json_t *answer;
	int result;

	if (record == NULL)
		return refused("the lab has no such process there");
	result = lab_connect(&connection, record, &error);
	if (result < 0)
		return failed(result, &error);
	result = lab_control_file(
		&connection, record, part->state.dir, lab_text(request, "text"), path, &error);
	lab_disconnect(&connection);
	if (result < 0)
		return failed(result, &error);
	answer = read_answer(path);
	unlink(path);
	return answer;
}

/* --- work --- */

static json_t *do_log(struct part *part, const json_t *request)
{
	const struct lab_record *record = find_record(part, request);
	struct error error;
	json_t *answer;
	char *text;

	if (record == NULL)
		return refused("the lab has no such process there");
	text = lab_log_read(&part->state, record, &error);
	if (text == NULL)
		return failed(-ENOENT, &error);
	answer = json_pack("{s:s}", "text", text);
	free(text);
	return answer;
}

static json_t *do_lock(struct part *part, const json_t *request)
{
	char dir[sizeof(part->dir) + 8];
	struct error error;
	int result;

	if (part->lock.fd >= 0)
		return json_pack("{s:b}", "locked", 1);
	snprintf(dir, sizeof(dir), "%s/run", part->dir);
	result = lab_lock_take(&part->lock, dir, "sent traffic", &error);
	return result < 0 ? failed(result, &error) : json_pack("{s:b}", "locked", 1);
}

/* Running processes keep using the files with which they started. */
static int take_files(struct part *part, const json_t *request, struct error *error)
{
	json_t *files = json_object_get(request, "files");

	load(part);
	if (part->up && lab_state_count_alive(&part->state) > 0)
		return lab_bundle_compare(part->dir, files, error);
	return lab_bundle_write(part->dir, files, error);
}

/* Call with the lock held. The child inherits the lock, so that no other command can change the
 * files before the lab starts. */
static json_t *up_locked(struct part *part, const json_t *request, const struct lab_lock *lock)
{
	char path[sizeof(part->dir) + 32], wait[32];
	const char *const words[] = {
		"lab", "up", path, "--machine", part->machine, "--alone", "--wait", wait, NULL};
	struct error error;
	int result = take_files(part, request, &error);
	json_t *answer;

	if (result < 0)
		return failed(result, &error);
	lab_bundle_dir(part->dir, path, sizeof(path));
	strncat(path, "/lab.yaml", sizeof(path) - strlen(path) - 1);
	snprintf(wait, sizeof(wait), "%lldms",
		(long long)json_integer_value(json_object_get(request, "wait_ms")));
	answer = part_child_run(words, lock, &error);
	load(part);
	if (!part->up)
		lab_bundle_remove(part->dir, &error);
	return answer != NULL ? answer : failed(-ENOMEM, &error);
}

static json_t *do_up(struct part *part, const json_t *request)
{
	struct lab_lock lock;
	struct error error;
	json_t *answer;
	int result = lab_lock_take(&lock, part->dir, "brought up", &error);

	if (result < 0)
		return failed(result, &error);
	answer = up_locked(part, request, &lock);
	lab_lock_release(&lock);
	return answer;
}

static json_t *do_down(struct part *part, const json_t *request)
{
	const char *const words[] = {
		"lab", "down", part->lab, "--machine", part->machine, "--if-up", NULL};
	struct error error;
	json_t *answer = part_child_run(words, NULL, &error);

	load(part);
	return answer != NULL ? answer : failed(-ENOMEM, &error);
}

/* From here on, the capture is written to standard output. */
static json_t *do_capture(struct part *part, const json_t *request)
{
	static const char *const options[][2] = {
		{"filter", "--filter"}, {"where", "--where"}, {"snaplen", "--snaplen"}};
	const char *first[7 + 2 * 3] = {"lab", "capture", "--machine", part->machine};
	const char **words;
	unsigned count = 4;

	for (unsigned i = 0; i < 3; i++)
		if (json_is_string(json_object_get(request, options[i][0]))) {
			first[count++] = options[i][1];
			first[count++] = lab_text(request, options[i][0]);
		}
	first[count++] = "--";
	first[count++] = part->lab;
	words = part_child_words(first, json_object_get(request, "ports"));

	part->done = true;
	part->code = words != NULL ? part_child_pass(words) : EXIT_NOT_ABLE;
	free(words);
	return NULL;
}

static const struct {
	const char *name;
	json_t *(*run)(struct part *part, const json_t *request);
} known[] = {
	{"open", do_open},
	{"state", do_state},
	{"alive", do_alive},
	{"collect", do_collect},
	{"connect", do_connect},
	{"call", do_call},
	{"file", do_file},
	{"log", do_log},
	{"lock", do_lock},
	{"up", do_up},
	{"down", do_down},
	{"capture", do_capture},
};

static json_t *answer_to(struct part *part, const json_t *request)
{
	const char *op = lab_text(request, "op");

	if (part->lab[0] == '\0' && strcmp(op, "open") != 0)
		return refused("expected 'open' first");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, op) == 0)
			return known[i].run(part, request);
	return refused("no such request");
}

static void serve_line(struct part *part, const char *text)
{
	json_error_t error;
	json_t *request = json_loads(text, 0, &error), *answer;

	answer = json_is_object(request) ? answer_to(part, request)
					 : refused("expected a JSON object on one line");
	if (answer != NULL) {
		json_dumpf(answer, stdout, JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
	}
	json_decref(answer);
	json_decref(request);
}

enum weft_exit cmd_lab_part(void)
{
	struct part part = {.lock = {.fd = -1}, .code = EXIT_DONE};
	char *text = NULL;
	size_t room = 0;

	while (!part.done && getline(&text, &room, stdin) > 0)
		serve_line(&part, text);
	for (unsigned i = 0; i < part.lines; i++)
		hang_up(&part.line[i]);
	free(part.line);
	free(text);
	if (part.lock.fd >= 0)
		lab_lock_release(&part.lock);
	if (part.up)
		lab_state_free(&part.state);
	return (enum weft_exit)part.code;
}
