/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up for a lab file with machines: starts the lab's part on each machine, and waits until
 * all parts are connected. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "console_commands.h"
#include "experiment/lab/lab_config.h"
#include "experiment/lab/lab_security.h"
#include "lab/cmd_lab.h"
#include "lab/lab_bundle.h"
#include "lab/lab_links.h"
#include "lab/lab_lock.h"
#include "lab/lab_query.h"
#include "lab/lab_ready.h"
#include "lab/lab_remote.h"
#include "lab/lab_snapshot.h"
#include "lab/lab_up.h"
#include "os/private_dir.h"
#include "watch/lab_collect.h"

#define COMMAND "lab up"
#define STEP_MS 100
#define WORK_MS 120000 /* time beyond --wait for a machine to start or end processes */

#define FAR_NS INT64_C(1000000000) /* more than NTP's error plus the duration of a request */

/* Captures of a lab contain the machines' time of day. Latencies do not depend on it
 * (lib/nic/clock). */

static int64_t time_of_day_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns the minimum by which the machine's clock is ahead of this one (negative: behind). Returns
 * 0 if the duration of the request could explain the difference. */
static int64_t min_ahead_ns(struct lab_remote *remote)
{
	int64_t before = time_of_day_ns(), there, after;
	struct error ignored;
	json_t *answer = lab_remote_call(remote, json_pack("{s:s}", "op", "state"), NULL, &ignored);

	after = time_of_day_ns();
	there = (int64_t)json_integer_value(json_object_get(answer, "time_ns"));
	json_decref(answer);
	if (there == 0)
		return 0;
	return there > after ? there - after : there < before ? there - before : 0;
}

/* Checks that the time of day of each machine, except those in 'spare' ([machine]), is within a
 * second of the console's. Returns 0, or -ETIME with error set, which names the first such machine
 * and the remedy. Skips machines that do not answer; returns 0 after a signal. */
static int console_check_clocks(
	const struct lab_state *state, const bool *spare, struct error *error)
{
	const struct lab_remote *first = NULL;
	int64_t first_ahead = 0;
	unsigned count = 0;
	char more[48] = "";

	for (unsigned i = 0; i < state->remotes && !lab_interrupted(); i++) {
		struct lab_remote *remote = &state->remote[i];
		int64_t ahead = spare[i] ? 0 : min_ahead_ns(remote);

		if (ahead <= FAR_NS && ahead >= -FAR_NS)
			continue;
		if (count++ == 0) {
			first = remote;
			first_ahead = ahead;
		}
	}
	if (count == 0)
		return 0;
	if (count > 1)
		snprintf(more, sizeof(more), " (also on %u more)", count - 1);
	return error_set(error, ETIME,
		"machine %s: the clock is %.1f s %s the console's%s, and captures use the clock of each machine; synchronise the clocks with NTP (apt install chrony), or add --any-clock",
		first->target.name, (double)llabs(first_ahead) / 1e9,
		first_ahead > 0 ? "ahead of" : "behind", more);
}

#define GONE_WORK_MS 60000

static bool has_machine(const struct lab *lab, const struct lab_config_machine *machine)
{
	for (unsigned i = 0; i < lab->config->machines.count; i++) {
		const struct lab_config_machine *at = &lab->config->machines.at[i];

		if (strcmp(at->name, machine->name) == 0 && strcmp(at->ssh, machine->ssh) == 0)
			return true;
	}
	return false;
}

/* Opens sessions with the machines in 'old' that are no longer in 'lab'. */
static int open_gone(
	const struct lab *old, const struct lab *lab, struct lab_state *state, const char *control)
{
	unsigned count = old->config->machines.count;

	state->remote = calloc((size_t)count + 1, sizeof(*state->remote));
	if (state->remote == NULL)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		struct lab_ssh_target target = lab_remotes_target(old, i, control);

		if (!has_machine(lab, &old->config->machines.at[i]))
			lab_remote_start(&state->remote[state->remotes++], &target, lab->plan->lab);
	}
	return 0;
}

/* Machines without a part of the lab need no command. */
static void greet(struct lab_state *state, bool *spare)
{
	for (unsigned i = 0; i < state->remotes; i++) {
		struct error ignored;
		json_t *answer =
			lab_remote_greeted(&state->remote[i], LAB_REMOTE_GREET_MS, &ignored);

		spare[i] = answer != NULL && !json_flag_of(answer, "up");
		json_decref(answer);
	}
}

static void tell(const struct console_commands *orders, const char *lab)
{
	for (unsigned i = 0; i < orders->state->remotes; i++) {
		const char *name = orders->state->remote[i].target.name;

		if (orders->code[i] != EXIT_DONE)
			fprintf(stderr,
				"weft %s: machine %s is no longer in the file, and lab %s may still be up there; run 'weft lab down %s' on that machine\n",
				orders->command, name, lab, lab);
		else if (!orders->spare[i])
			printf("lab %s is down on machine %s, which is no longer in the file\n",
				lab, name);
	}
}

static void end_there(const struct lab *old, const struct lab *lab, const char *command)
{
	struct lab_state state = {.processes = 0};
	unsigned count = old->config->machines.count;
	bool *spare = calloc((size_t)count + 1, sizeof(*spare));
	struct console_commands orders = {.command = command,
		.state = &state,
		.spare = spare,
		.code = calloc((size_t)count + 1, sizeof(*orders.code))};
	char control[LAB_SSH_CONTROL_MAX];

	lab_remotes_control(lab, control);
	if (spare == NULL || orders.code == NULL || open_gone(old, lab, &state, control) < 0) {
		command_fail(command, EXIT_NOT_ABLE, "out of memory");
	} else {
		greet(&state, spare);
		lab_remotes_send(&state, command);
		console_command_all(&orders, json_pack("{s:s}", "op", "down"), GONE_WORK_MS);
		tell(&orders, lab->plan->lab);
	}
	lab_state_free(&state);
	free(orders.code);
	free(spare);
}

/* Ends the lab on the machines that are in the console's copy of the file (lab_snapshot.h) but no
 * longer in 'lab' with the same name and address. Prints where the lab ended and, for the remaining
 * machines, the command that ends it there. 'command' is for messages. */
static void console_prune_end(const struct lab *lab, const char *command)
{
	char path[300];
	struct error error;
	struct lab old;

	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, lab->plan->run_dir);
	if (access(path, F_OK) != 0)
		return;
	if (lab_open(&old, path, lab->plan->run_dir, &error) < 0) {
		fprintf(stderr,
			"weft %s: %s; the lab may still be up on machines that are no longer in the file\n",
			command, error.text);
		return;
	}
	end_there(&old, lab, command);
	lab_close(&old);
}

struct console {
	const struct lab_arguments *arguments;
	struct lab *lab;
	struct lab_state state;
	struct console_commands orders;
	bool *spare; /* [machine]: this call starts nothing there, so it also ends nothing */
	bool made;   /* this call created the console's folder */
	json_t *all; /* latest status document; NULL: none yet */
	uint64_t began_ms;
};

/* --- before --- */

static int check(const struct console *console, struct error *error)
{
	const struct lab_arguments *arguments = console->arguments;
	int result = lab_trust_check(console->lab, &arguments->trust, error);

	if (console->lab->config->run.dilation == RUN_DILATION_AUTO)
		return error_set(error, EINVAL,
			"%s: dilation: auto requires a lab with a single process; use a number",
			console->lab->path);
	if (arguments->only_count > 0 || arguments->alone)
		return error_set(error, EINVAL,
			"%s: the lab file has 'machines'; use --machine NAME with --process or "
			"--alone",
			console->lab->path);
	if (result == 0)
		result = lab_up_check_files(console->lab, error);
	if (result == 0 && !arguments->restart)
		result = lab_snapshot_check(console->lab, error);
	return result;
}

static int make_folder(struct console *console, struct error *error)
{
	const char *dir = console->lab->plan->run_dir;
	int result = lab_make_parents(dir, error);

	console->made = access(dir, F_OK) != 0;
	if (result == 0)
		result = private_dir_make(dir, error);
	return result == 0 && console->made ? lab_snapshot_write(console->lab, error) : result;
}

/* Returns whether a process of the lab is running on the machine. */
static bool is_alive(const struct console *console, const struct lab_remote *remote)
{
	for (unsigned i = 0; i < console->state.processes; i++)
		if (console->state.process[i].remote == remote &&
			lab_record_alive(&console->state.process[i]))
			return true;
	return false;
}

static int open_all(struct console *console, struct error *error)
{
	int result = lab_remotes_open(console->lab, &console->state, error);

	if (result < 0)
		return result;
	console->orders = (struct console_commands){.command = COMMAND,
		.state = &console->state,
		.code = calloc((size_t)console->state.remotes + 1, sizeof(enum weft_exit))};
	console->spare = calloc((size_t)console->state.remotes + 1, sizeof(bool));
	if (console->orders.code == NULL || console->spare == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < console->state.remotes; i++) {
		const struct lab_remote *remote = &console->state.remote[i];

		console->orders.code[i] = EXIT_NOT_ABLE; /* no command was sent yet */
		console->spare[i] = lab_remote_is_broken(remote) ||
				    (!console->arguments->restart && is_alive(console, remote));
	}
	if (!console->arguments->any_clock)
		result = console_check_clocks(&console->state, console->spare, error);
	lab_remotes_send(&console->state, COMMAND);
	return result;
}

/* Opens sessions, and saves a copy of the file before any part is started. A signal before that
 * leaves everything unchanged, except on machines that are no longer in the file. */
static int prepare(struct console *console, struct error *error)
{
	int result = open_all(console, error);

	if (result == 0 && console->arguments->restart && !lab_interrupted())
		console_prune_end(console->lab, COMMAND);
	if (result < 0 || !lab_interrupted())
		return result == 0 ? lab_snapshot_write(console->lab, error) : result;
	for (unsigned i = 0; i < console->state.remotes; i++)
		console->spare[i] = true;
	return error_set(error, EINTR, "interrupted");
}

/* --- waiting --- */

static void look(struct console *console)
{
	lab_remotes_refresh(&console->state);
	json_decref(console->all);
	console->all = lab_collect(console->lab, &console->state, false);
}

/* Writes the first reason why the lab is not up. */
static void explain(const struct console *console, char *why, size_t size)
{
	json_t *elsewhere = json_object_get(console->all, "elsewhere"), *process;
	struct lab_ready ready;

	for (size_t i = 0;
		(process = json_array_get(json_object_get(console->all, "processes"), i)) != NULL;
		i++) {
		if (strcmp(lab_text(process, "state"), "running") == 0)
			continue;
		snprintf(why, size, "%s on machine %s is %s", lab_text(process, "name"),
			lab_text(process, "machine"), lab_text(process, "state"));
		return;
	}
	lab_ready_read(json_object_get(console->all, "links"), elsewhere, &ready);
	if (ready.why[0] != '\0')
		snprintf(why, size, "%s", ready.why);
	else
		snprintf(why, size, "not every device has routes: %s",
			lab_text(json_object_get(console->all, "mapping"), "why"));
}

static int wait_whole(struct console *console, struct error *error)
{
	uint64_t deadline = lab_now_ms() + lab_real_ms(console->lab, console->arguments->wait_ps);
	char why[400];

	look(console);
	while (!json_flag_of(console->all, "up")) {
		if (lab_interrupted())
			return error_set(error, EINTR, "interrupted");
		if (lab_now_ms() > deadline) {
			explain(console, why, sizeof(why));
			return error_set(error, ETIMEDOUT,
				"after %" PRIu64
				" ms %s; use a longer --wait, or end the lab with 'weft lab down %s'",
				console->arguments->wait_ps / PS_PER_MS, why,
				console->lab->plan->lab);
		}
		lab_sleep_ms(STEP_MS);
		look(console);
	}
	return 0;
}

/* --- the whole --- */

static void print_devices(const struct console *console, unsigned machine)
{
	const struct lab_config_machine *at = &console->lab->config->machines.at[machine];
	enum weft_exit code = console->orders.code[machine];

	printf("  %-12s %-24s ", at->name, at->ssh[0] != '\0' ? at->ssh : "(here)");
	for (uint32_t i = 0; i < at->devices && i < 8; i++)
		printf("%s%s", i > 0 ? ", " : "", at->device[i]);
	if (at->devices > 8)
		printf(" and %u more", at->devices - 8);
	puts(code == EXIT_DONE ? "" : ": not up");
}

static void print_summary(const struct console *console)
{
	const char *mapper = lab_text(json_object_get(console->all, "mapping"), "mapper");
	const struct topology *topology = console->lab->topology;

	printf("lab %s is up on %u of %u machines after %" PRIu64
	       " ms: %u processes, %u switches, %u hosts, %u links\n",
		console->lab->plan->lab, console_commands_done(&console->orders),
		console->state.remotes, lab_now_ms() - console->began_ms, console->state.processes,
		topology->switches, topology->nodes, topology->links);
	for (unsigned i = 0; i < console->state.remotes; i++)
		print_devices(console, i);
	if (mapper[0] != '\0')
		printf("routes computed by the mapper %s on machine %s\n", mapper,
			console->lab->config->machines
				.at[lab_machine_of(console->lab->config, mapper)]
				.name);
	lab_links_print(console->lab, NULL, stdout);
	lab_links_warn(console->lab, json_object_get(console->all, "links"));
	lab_warn_without_key(console->lab, "weft lab up", stderr);
}

/* Starts the parts on the machines without waiting for their links. Returns the number of machines
 * that succeeded. */
static int send_parts(struct console *console, json_t *files)
{
	uint64_t wait_ms = console->arguments->wait_ps / PS_PER_MS;
	uint64_t real_ms = lab_real_ms(console->lab, console->arguments->wait_ps);

	if (console->arguments->restart)
		console_command_all(&console->orders, json_pack("{s:s}", "op", "down"), WORK_MS);
	if (lab_interrupted())
		return 0;
	console_command_all(&console->orders,
		json_pack("{s:s,s:O,s:I}", "op", "up", "files", files, "wait_ms",
			(json_int_t)wait_ms),
		(int)(real_ms < INT32_MAX / 2 ? real_ms : INT32_MAX / 2) + WORK_MS);
	return (int)console_commands_done(&console->orders);
}

/* Returns EXIT_DONE, or the code of the error that was printed. */
static enum weft_exit bring_up(struct console *console, json_t *files)
{
	struct error error;
	int result = prepare(console, &error);
	unsigned done;

	if (result < 0)
		return command_error(COMMAND, result, &error);
	done = (unsigned)send_parts(console, files);
	if (lab_interrupted())
		return command_fail(COMMAND, EXIT_INTERRUPTED, "interrupted");
	if (done == console->state.remotes) {
		result = wait_whole(console, &error);
		if (result < 0)
			return command_error(COMMAND, result, &error);
	}
	if (done > 0)
		print_summary(console);
	if (done < console->state.remotes)
		return command_fail(COMMAND, console_commands_code(&console->orders),
			"lab %s is not up on %u of %u machines%s", console->lab->plan->lab,
			console->state.remotes - done, console->state.remotes,
			done > 0 ? "; run 'weft lab up' again to add them" : "");
	return EXIT_DONE;
}

/* After Ctrl-C, ends what this call started. Returns true if, as far as the console can tell, no
 * part of the lab remains. */
static bool take_back(const struct console *console)
{
	unsigned spared = 0;

	lab_forget_interrupt();
	for (unsigned i = 0; i < console->state.remotes; i++)
		spared += console->spare[i];
	if (spared < console->state.remotes &&
		console_end(console->lab, console->spare) != EXIT_DONE)
		return false;
	return console->made || spared == 0;
}

/* A lab that was already up stays up, regardless of which machines were reachable. */
static void clean_up(struct console *console, enum weft_exit code)
{
	bool nothing = console->made && console->orders.code != NULL &&
		       console_commands_done(&console->orders) == 0;

	if (code == EXIT_INTERRUPTED)
		nothing = take_back(console);
	free(console->orders.code);
	free(console->spare);
	lab_state_free(&console->state);
	json_decref(console->all);
	if (nothing)
		console_forget(console->lab);
}

static enum weft_exit locked(struct console *console)
{
	struct error error;
	json_t *files = NULL;
	enum weft_exit code;
	int result = make_folder(console, &error);

	if (result == 0) {
		files = lab_bundle_make(console->lab, &error);
		result = files == NULL ? -EINVAL : 0;
	}
	code = result == 0 ? bring_up(console, files) : command_error(COMMAND, result, &error);
	json_decref(files);
	return code;
}

enum weft_exit console_up(const struct lab_arguments *arguments, struct lab *lab)
{
	struct console console = {.arguments = arguments, .lab = lab, .began_ms = lab_now_ms()};
	enum weft_exit code = EXIT_DONE;
	struct lab_lock lock;
	struct error error;
	int result = check(&console, &error);

	if (result == 0)
		result = lab_lock_take(&lock, lab->plan->run_dir, "brought up", &error);
	if (result < 0) {
		code = command_error(COMMAND, result, &error);
	} else {
		code = locked(&console);
		clean_up(&console, code);
		lab_lock_release(&lock);
	}
	lab_close(lab);
	return code;
}
