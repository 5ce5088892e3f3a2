/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd_lab.h"
#include "experiment/run/run_config.h"
#include "lab_mapping.h"
#include "lab_query.h"
#include "lab_remotes.h"
#include "lab_slow_time.h"
#include "lab_snapshot.h"
#include "lab_spawn.h"
#include "lab_state.h"
#include "os/atomic_file.h"
#include "topo/topology_hosts.h"

/* Opens the running lab, for all commands of 'weft lab'. */

const struct lab_record *lab_record_of(
	const struct lab *lab, const struct lab_state *state, const char *device)
{
	int process = lab_plan_find(lab->plan, device);

	for (unsigned i = 0; i < state->processes && process >= 0; i++)
		if (strcmp(state->process[i].name, lab->plan->process[process].name) == 0)
			return &state->process[i];
	return NULL;
}

/* Loads the processes on this machine. Returns 0, or -errno with error set; -ENOENT: the lab is not
 * up. */
static int load_here(const struct lab *lab, const struct lab_target *target,
	struct lab_state *state, struct error *error)
{
	int result = lab_state_load(state, lab->plan->run_dir, error);

	if (result < 0 || target->by_name)
		return result;
	result = lab_snapshot_check(lab, error);
	if (result < 0)
		lab_state_free(state);
	return result;
}

/* Loads the processes on all machines. Unreachable machines are reported and skipped. */
static int load_there(
	const struct lab *lab, const char *command, struct lab_state *state, struct error *error)
{
	unsigned broken;
	int result = lab_snapshot_check(lab, error);

	*state = (struct lab_state){.processes = 0};
	if (result == 0)
		result = lab_remotes_open(lab, state, error);
	if (result < 0)
		return result;
	broken = lab_remotes_send(state, command);
	if (broken < state->remotes && lab_remotes_up(state) > 0)
		return 0;
	result = broken == state->remotes
			 ? error_set(error, EHOSTUNREACH, "no machine of lab %s can be reached",
				   lab->plan->lab)
			 : -ENOENT;
	lab_state_free(state);
	return result;
}

/* '-o' must not name a file from which the lab was made. */
static int check_output(const struct lab_arguments *arguments, const struct lab *lab,
	const struct lab_target *target, struct error *error)
{
	char source[PATH_MAX];
	int result = run_files_refuse(&lab->config->run, arguments->output, error);

	if (result < 0 || !target->by_name)
		return result;
	lab_snapshot_source(target->dir, source, sizeof(source));
	return same_file_refuse(arguments->output, source, error);
}

enum weft_exit lab_open_running(const struct lab_arguments *arguments, const char *command,
	struct lab *lab, struct lab_state *state)
{
	struct lab_target target;
	struct error error;
	int result = lab_snapshot_open(arguments, lab, &target, &error);
	enum weft_exit code;

	if (result < 0)
		return command_error(command, result, &error);
	result = check_output(arguments, lab, &target, &error);
	if (result < 0) {
		lab_close(lab);
		return command_error(command, result, &error);
	}
	result = target.console ? load_there(lab, command, state, &error)
				: load_here(lab, &target, state, &error);
	if (result == 0)
		return EXIT_DONE;
	if (result == -ENOENT)
		code = command_fail(command, EXIT_BAD_ANSWER,
			"lab %s is not up; 'weft lab up %s' starts it", lab->plan->lab,
			arguments->file);
	else
		code = command_fail(command, result == -EINVAL ? EXIT_BAD_REQUEST : EXIT_NOT_ABLE,
			"%s", error.text);
	lab_close(lab);
	return code;
}

enum weft_exit lab_with_running(
	const struct lab_arguments *arguments, const char *command, lab_running_fn *work)
{
	struct lab_state state;
	struct lab lab;
	enum weft_exit code = lab_open_running(arguments, command, &lab, &state);

	if (code != EXIT_DONE)
		return code;
	code = work(arguments, &lab, &state);
	lab_state_free(&state);
	lab_close(&lab);
	return code;
}

int lab_expect_one_machine(
	const struct lab *lab, const struct lab_state *state, struct error *error)
{
	if (state->remotes == 0)
		return 0;
	return error_set(error, EINVAL,
		"lab %s runs on several machines; run this command on one of them, with --machine NAME",
		lab->plan->lab);
}

#define PROGRAMS_LISTED 8

/* Returns true if 'weft lab exec' or a similar command started the program, or one of its parents.
 */
static bool is_of_lab(const struct lab_state *state, const char *pid)
{
	char path[sizeof("/proc//environ") + NAME_MAX], *entry = NULL;
	static const char name[] = "WEFT_LAB=";
	size_t room = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	file = fopen(path, "re");
	while (file != NULL && !found && getdelim(&entry, &room, '\0', file) > 0)
		found = strncmp(entry, name, strlen(name)) == 0 &&
			strcmp(entry + strlen(name), state->dir) == 0;
	if (file != NULL)
		fclose(file);
	free(entry);
	return found;
}

/* Weft does not end the programs of users, but without the lab they are hard to find. */
static void report_programs(const struct lab_state *state)
{
	char list[256] = "";
	unsigned programs = 0;
	struct dirent *entry;
	DIR *processes = opendir("/proc");

	while (processes != NULL && (entry = readdir(processes)) != NULL) {
		size_t used = strlen(list);

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
			atol(entry->d_name) == getpid() || !is_of_lab(state, entry->d_name))
			continue;
		if (programs++ < PROGRAMS_LISTED)
			snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
				entry->d_name);
	}
	if (processes != NULL)
		closedir(processes);
	if (programs > 0)
		command_fail("lab", EXIT_DONE,
			"%u program%s started in the lab still run%s: PID %s%s", programs,
			plural(programs, "s"), programs == 1 ? "s" : "", list,
			programs > PROGRAMS_LISTED ? ", ..." : "");
}

int lab_take_down(struct lab_state *state, struct error *error)
{
	int result = lab_uplink_remove(state->uplink, error);
	int killed = (int)lab_end_processes(state, LAB_END_MS);

	report_programs(state);
	for (unsigned i = 0; i < state->netns_count && result == 0; i++)
		result = lab_veth_remove(state->netns[i], error);
	lab_slow_time_forget(state->dir);
	if (result == 0)
		result = lab_state_remove(state, error);
	lab_state_free(state);
	return result < 0 ? result : killed;
}

#define STEP_MS 20

/* Returns the number of processes that answered, or -errno. */
static int ask_all(
	const struct lab_state *state, bool lenient, json_t *mapping, struct error *error)
{
	int answers = 0;

	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		int result = lab_mapping_add(mapping, record, state->dir, error);

		if (result < 0 && (!lenient || lab_record_alive(record)))
			return result;
		answers += result == 0;
	}
	return answers;
}

static struct lab_lead lead_of(
	const struct lab *lab, const struct lab_state *state, const json_t *mapping)
{
	json_t *elsewhere = lab_elsewhere(lab->plan, state);
	struct lab_lead lead = lab_mapping_lead(mapping, elsewhere);

	json_decref(elsewhere);
	return lead;
}

/* Returns 1 if every device has routes, 0 with the reason if not yet, or -errno. */
static int is_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	struct lab_mapper *leader, struct error *error)
{
	json_t *mapping = lab_mapping_create();
	int answers = ask_all(state, lenient, mapping, error), result = answers;
	struct lab_lead lead = lead_of(lab, state, mapping);

	if (answers >= 0)
		result = lab_mapping_done(mapping, answers == (int)lab->plan->processes,
				 topology_plane_count(lab->topology), error) &&
			 (lenient || lab_lead_lives(&lead, error));
	/* Other machines may have devices that the mapper has not discovered yet. */
	leader->short_of.text[0] = '\0';
	if (answers != (int)lab->plan->processes)
		lab_mapping_reaches(mapping, lab->topology, &leader->short_of);
	leader->elsewhere = lead.elsewhere;
	snprintf(leader->host, sizeof(leader->host), "%s", lead.host != NULL ? lead.host : "");
	leader->miscabled = (unsigned)json_array_size(
		json_object_get(lab_mapping_leader(mapping), "miscabled"));
	json_decref(mapping);
	return result;
}

int lab_wait_mapped(const struct lab *lab, const struct lab_state *state, bool lenient,
	uint64_t patience_ms, struct lab_mapper *leader, struct error *error)
{
	uint64_t began = lab_now_ms();
	struct error why = {""};
	int done;

	*leader = (struct lab_mapper){.miscabled = 0};
	if (lab->config->run.mapper.routes == RUN_ROUTES_STATIC)
		return 0;
	while ((done = is_mapped(lab, state, lenient, leader, &why)) == 0 ||
		(done == 1 && !lenient && leader->short_of.text[0] != '\0')) {
		if (lab_interrupted())
			return error_set(error, EINTR, "interrupted");
		if (lab_now_ms() - began > patience_ms && done == 1)
			return 0;
		if (lab_now_ms() - began > patience_ms)
			return error_set(
				error, ETIMEDOUT, "not every device has routes: %s", why.text);
		lab_sleep_ms(STEP_MS);
	}
	if (done < 0)
		*error = why;
	return done < 0 ? done : 0;
}

/* Adds the heads of queues that a process reports. */
static bool ask(const struct lab *lab, const struct lab_state *state,
	const struct lab_record *record, struct deadlock_heads *heads)
{
	struct lab_connection connection;
	struct error error;
	json_t *list;
	bool good;

	if (!lab_record_alive(record))
		return true;
	if (lab_connect(&connection, record, &error) < 0)
		return false;
	list = lab_control_json(&connection, record, state->dir, "waiting", &error);
	good = list != NULL && deadlock_heads_read(heads, list, lab->topology) == 0;
	json_decref(list);
	lab_disconnect(&connection);
	return good;
}

bool lab_circle_find(
	const struct lab *lab, const struct lab_state *state, struct deadlock_circle *circle)
{
	struct deadlock_heads heads[2] = {0};
	bool good = true;
	int channels = 0;

	for (unsigned look = 0; look < 2; look++)
		for (unsigned i = 0; i < state->processes && good; i++)
			good = ask(lab, state, &state->process[i], &heads[look]);
	if (good) {
		deadlock_keep_common(&heads[0], &heads[1]);
		channels = deadlock_search(
			&heads[0], lab->topology, circle->port, DEADLOCK_CIRCLE_MAX);
	}
	circle->channels = channels > 0 ? (unsigned)channels : 0;
	deadlock_heads_free(&heads[0]);
	deadlock_heads_free(&heads[1]);
	return good;
}
