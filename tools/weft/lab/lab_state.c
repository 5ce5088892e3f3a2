/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab_query.h"
#include "os/atomic_file.h"
#include "os/private_dir.h"

#define STATE_FILE   "state"
#define STATE_FORMAT "weft-lab-state/1"
#define STARTING     "starting\n"
#define PATH_BYTES   512

#define DEATH_MS      1000
#define DEATH_STEP_MS 2

static void state_path(const char *dir, char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/" STATE_FILE, dir);
}

/* --- processes --- */

/* Reads the state letter and start time of a process. Returns false if it does not exist. */
static bool read_process(pid_t pid, char *letter, uint64_t *start)
{
	char path[64], text[1024];
	unsigned long threads;
	const char *at;
	size_t length;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	/* The name, in parentheses, may contain anything. */
	at = strrchr(text, ')');
	if (at == NULL || sscanf(at,
				  ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
				  "%*s %*s %*s %lu %*s %" SCNu64,
				  letter, &threads, start) != 3)
		return false;
	/* After SIGKILL, the main thread may end first, while the others still hold the process's
	 * files. */
	if (*letter == 'Z' && threads > 1)
		*letter = 'R';
	return true;
}

#define FRESH_MS 100 /* one answer covers all processes of a machine */

static bool is_alive_there(const struct lab_record *record)
{
	struct lab_remote *remote = record->remote;
	uint64_t now = lab_now_ms();
	struct error ignored;

	if (lab_remote_is_broken(remote))
		return false;
	if (remote->alive == NULL || now - remote->alive_ms > FRESH_MS) {
		json_decref(remote->alive);
		remote->alive =
			lab_remote_call(remote, json_pack("{s:s}", "op", "alive"), NULL, &ignored);
		remote->alive_ms = now;
	}
	return json_flag_of(remote->alive, record->name);
}

bool lab_record_alive(const struct lab_record *record)
{
	uint64_t start;
	char letter;

	if (record->remote != NULL)
		return is_alive_there(record);
	return read_process(record->pid, &letter, &start) && start == record->start &&
	       letter != 'Z' && letter != 'X';
}

bool lab_record_stopped(const struct lab_record *record)
{
	uint64_t start;
	char letter;

	return record->remote == NULL && read_process(record->pid, &letter, &start) &&
	       (letter == 'T' || letter == 't');
}

bool lab_record_dies(const struct lab_record *record)
{
	uint64_t until = lab_now_ms() + DEATH_MS;

	while (lab_record_alive(record)) {
		if (lab_now_ms() >= until)
			return false;
		lab_sleep_ms(DEATH_STEP_MS);
	}
	return true;
}

uint64_t lab_record_cpu_ns(const struct lab_record *record)
{
	unsigned long long user = 0, system = 0;
	char path[64], line[1024], *rest = NULL;
	FILE *file;

	if (record->remote != NULL)
		return record->cpu_ns;
	if (!lab_record_alive(record))
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)record->pid);
	file = fopen(path, "re");
	/* The name in parentheses may contain anything; utime and stime start 12 fields after
	 * it. */
	if (file != NULL && fgets(line, sizeof(line), file) != NULL)
		rest = strrchr(line, ')');
	if (rest != NULL &&
		sscanf(rest + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu", &user,
			&system) != 2)
		user = system = 0;
	if (file != NULL)
		fclose(file);
	return (user + system) * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK));
}

unsigned lab_state_count_alive(const struct lab_state *state)
{
	unsigned alive = 0;

	for (unsigned i = 0; i < state->processes; i++)
		alive += lab_record_alive(&state->process[i]);
	return alive;
}

void lab_record_log(
	const struct lab_state *state, const struct lab_record *record, char *out, size_t size)
{
	snprintf(out, size, "%s/%s.log", state->dir, record->name);
}

/* Returns the record with this name, or a new one; NULL if out of memory. */
static struct lab_record *place_for(struct lab_state *state, const char *name)
{
	struct lab_record *more;

	for (unsigned i = 0; i < state->processes; i++)
		if (strcmp(state->process[i].name, name) == 0)
			return &state->process[i];
	more = realloc(state->process, (state->processes + 1) * sizeof(*state->process));
	if (more == NULL)
		return NULL;
	state->process = more;
	more[state->processes] = (struct lab_record){.pid = 0};
	return &more[state->processes++];
}

int lab_state_add(struct lab_state *state, const struct lab_record *record)
{
	struct lab_record *place = place_for(state, record->name);
	unsigned restarts;
	char letter;

	if (place == NULL)
		return -ENOMEM;
	restarts = place->pid != 0 ? place->restarts + 1 : 0;
	*place = *record;
	place->restarts = restarts;
	if (!read_process(record->pid, &letter, &place->start))
		place->start = 0;
	return 0;
}

void lab_state_drop(struct lab_state *state, const char *name)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < state->processes; i++)
		if (strcmp(state->process[i].name, name) != 0)
			state->process[kept++] = state->process[i];
	state->processes = kept;
}

int lab_state_add_netns(struct lab_state *state, const char *netns)
{
	char(*more)[LAB_NETNS_MAX];

	for (unsigned i = 0; i < state->netns_count; i++)
		if (strcmp(state->netns[i], netns) == 0)
			return 0;
	more = realloc(state->netns, (state->netns_count + 1) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	state->netns = more;
	snprintf(more[state->netns_count++], LAB_NETNS_MAX, "%s", netns);
	return 0;
}

/* --- the file --- */

static int make_parent(const char *path, struct error *error)
{
	int result = access(path, F_OK) == 0 ? 0 : private_dir_check_way(path, error);

	if (result == 0 && mkdir(path, 0700) != 0 && errno != EEXIST)
		result =
			error_set(error, errno, "%s: cannot be created: %s", path, strerror(errno));
	return result;
}

int lab_make_parents(const char *dir, struct error *error)
{
	char path[PATH_BYTES];
	int result = 0;

	snprintf(path, sizeof(path), "%s", dir);
	for (char *slash = strchr(path + 1, '/'); result == 0 && slash != NULL;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		result = make_parent(path, error);
		*slash = '/';
	}
	return result;
}

int lab_state_create(struct lab_state *state, const char *dir, struct error *error)
{
	int result = lab_make_parents(dir, error);

	*state = (struct lab_state){.starting = true};
	snprintf(state->dir, sizeof(state->dir), "%s", dir);
	if (result == 0 && mkdir(dir, 0700) != 0)
		result = error_set(error, errno, "%s: cannot be created: %s", dir, strerror(errno));
	if (result < 0)
		return result;
	result = private_dir_check(dir, error);
	if (result == 0)
		result = lab_state_save(state, error);
	if (result < 0)
		rmdir(dir);
	return result;
}

int lab_state_save(const struct lab_state *state, struct error *error)
{
	char path[PATH_BYTES];
	struct atomic_file file = {.path = path};
	int result;

	state_path(state->dir, path);
	result = atomic_file_open(&file, error);
	if (result < 0)
		return result;
	fprintf(file.file, "%s\n%s", STATE_FORMAT, state->starting ? STARTING : "");
	for (unsigned i = 0; i < state->netns_count; i++)
		fprintf(file.file, "netns %s\n", state->netns[i]);
	if (state->uplink[0] != '\0')
		fprintf(file.file, "uplink %s\n", state->uplink);
	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];

		fprintf(file.file, "process %s %s %s %ld %" PRIu64 " %u\n", record->name,
			record->program, record->prefix, (long)record->pid, record->start,
			record->restarts);
	}
	return atomic_file_close(&file, error);
}

static int load_line(struct lab_state *state, const char *line)
{
	struct lab_record record = {.pid = 0}, *place;
	char netns[LAB_NETNS_MAX];
	long pid;

	if (strcmp(line, STARTING) == 0) {
		state->starting = true;
		return 0;
	}
	if (sscanf(line, "netns %63s", netns) == 1)
		return lab_state_add_netns(state, netns);
	if (sscanf(line, "uplink %15s", state->uplink) == 1)
		return 0;
	if (sscanf(line, "process %63s %31s %127s %ld %" SCNu64 " %u", record.name, record.program,
		    record.prefix, &pid, &record.start, &record.restarts) < 5)
		return -EINVAL;
	record.pid = (pid_t)pid;
	place = place_for(state, record.name);
	if (place == NULL)
		return -ENOMEM;
	*place = record;
	return 0;
}

bool lab_state_exists(const char *dir)
{
	char path[PATH_BYTES];

	state_path(dir, path);
	return access(path, F_OK) == 0;
}

int lab_state_load(struct lab_state *state, const char *dir, struct error *error)
{
	char path[PATH_BYTES], line[512];
	/* The owner of the folder determines which processes and files its state may name. */
	int result = private_dir_check(dir, error);
	FILE *file;

	*state = (struct lab_state){.processes = 0};
	if (result < 0)
		return result;
	snprintf(state->dir, sizeof(state->dir), "%s", dir);
	state_path(dir, path);
	file = fopen(path, "re");
	if (file == NULL)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	if (fgets(line, sizeof(line), file) == NULL || strcmp(line, STATE_FORMAT "\n") != 0)
		result = -EINVAL;
	while (result == 0 && fgets(line, sizeof(line), file) != NULL)
		result = load_line(state, line);
	fclose(file);
	if (result == 0)
		return 0;
	lab_state_free(state);
	return error_set(error, -result, "%s: not the state of a lab: %s", path, strerror(-result));
}

static const char *const state_names[] = {STATE_FILE, STATE_FILE ".*", NULL};

bool lab_state_remove_empty(const char *dir)
{
	return access(dir, F_OK) == 0 && private_dir_remove(dir, state_names + 1, NULL) == 0;
}

int lab_state_remove(const struct lab_state *state, struct error *error)
{
	/* Files in the run directory made by this program, weft-switch and weft-nic, including the
	 * suffixes that atomic_file.h adds to names. */
	static const char *const names[] = {"plan.txt*", "lab.yaml*", "machine*", "hosts*",
		"hostfile*", "memory-*", "clock*", "*.log", "l*.sock", "answer-*", "capture-*.fifo",
		"run.lock", "run.yaml*", "devices*", "cleared.json*", "orders-*", "endpoints-*",
		NULL};
	static const char *const rings[] = {"l*.ring", NULL};
	int result = private_dir_check(state->dir, NULL);

	/* A link in it may be followed only if no other user could have put it there. */
	if (result == 0)
		result = memory_dir_remove(state->dir, rings, error);
	if (result < 0 && result != -ENOENT && result != -EPERM)
		return result;
	private_dir_remove(
		state->dir, names, NULL); /* except for the state, which is still there */
	return private_dir_remove(state->dir, state_names, error);
}

void lab_state_free(struct lab_state *state)
{
	for (unsigned i = 0; i < state->remotes; i++)
		lab_remote_close(&state->remote[i]);
	free(state->remote);
	state->remote = NULL;
	state->remotes = 0;
	free(state->process);
	free(state->netns);
	state->process = NULL;
	state->netns = NULL;
	state->processes = state->netns_count = 0;
}

#define SHOWN_MAX 8

static bool holds(const struct lab_plan *plan, const struct lab_state *state, unsigned process)
{
	for (unsigned i = 0; i < state->processes; i++)
		if (strcmp(state->process[i].name, plan->process[process].name) == 0)
			return true;
	return false;
}

json_t *lab_elsewhere(const struct lab_plan *plan, const struct lab_state *state)
{
	const struct topology *topology = plan->topology;
	json_t *list = json_array();

	for (uint32_t i = 0; i < topology->switches; i++)
		if (!topology->switch_at[i].absent && !holds(plan, state, plan->switch_process[i]))
			json_array_append_new(list, json_string(topology->switch_at[i].name));
	for (uint32_t i = 0; i < topology->hosts; i++)
		if (!topology->host_at[i].absent && !holds(plan, state, plan->host_process[i]))
			json_array_append_new(list, json_string(topology->host_at[i].name));
	return list;
}

bool lab_elsewhere_has(const json_t *elsewhere, const char *device)
{
	for (size_t i = 0; i < json_array_size(elsewhere); i++)
		if (strcmp(json_string_value(json_array_get(elsewhere, i)), device) == 0)
			return true;
	return false;
}

void lab_elsewhere_print(const json_t *elsewhere, FILE *out)
{
	size_t count = json_array_size(elsewhere);

	for (size_t i = 0; i < count && i < SHOWN_MAX; i++)
		fprintf(out, "%s%s", i > 0 ? ", " : "",
			json_string_value(json_array_get(elsewhere, i)));
	if (count > SHOWN_MAX)
		fprintf(out, " and %zu more", count - SHOWN_MAX);
}

char *lab_log_read(
	const struct lab_state *state, const struct lab_record *record, struct error *error)
{
	char path[400], *text = malloc(LAB_LOG_MAX + 1);
	size_t count = 0;
	FILE *file;

	lab_record_log(state, record, path, sizeof(path));
	file = fopen(path, "re");
	if (file == NULL || text == NULL) {
		error_set(error, errno, "%s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else {
		if (fseek(file, -(long)LAB_LOG_MAX, SEEK_END) != 0)
			rewind(file);
		count = fread(text, 1, LAB_LOG_MAX, file);
		for (size_t i = 0; i < count; i++)
			if (text[i] == '\0' || (text[i] & 0x80) != 0)
				text[i] = '?';
		text[count] = '\0';
	}
	if (file != NULL)
		fclose(file);
	return text;
}

/* Returns the text after "PROGRAM: " in a line, or NULL if the line does not start with it. */
static char *behind(char *line, const char *program)
{
	size_t length = strlen(program);

	return strncmp(line, program, length) == 0 && strncmp(line + length, ": ", 2) == 0
		       ? line + length + 2
		       : NULL;
}

bool lab_log_take_error(char *log, const char *program, char error[ERROR_TEXT])
{
	char *found = NULL, *rest;

	for (char *line = log; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *text = behind(line, program);

		if (text != NULL && strncmp(text, "warning: ", 9) != 0)
			found = line;
	}
	if (found == NULL)
		return false;
	rest = found + strcspn(found, "\n");
	snprintf(error, ERROR_TEXT, "%.*s", (int)(rest - behind(found, program)),
		behind(found, program));
	rest += *rest == '\n';
	memmove(found, rest, strlen(rest) + 1);
	return true;
}
