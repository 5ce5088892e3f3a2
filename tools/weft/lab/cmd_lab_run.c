/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab run: tells the processes to send the lab file's traffic, waits, and merges their
 * measurements. The processes count from their start, so their earlier counts are subtracted. */

#include "cmd_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_lock.h"
#include "lab_query.h"
#include "lab_remotes.h"
#include "lab_run_set.h"
#include "lab_state.h"
#include "output_file.h"
#include "progress_line.h"
#include "run_config_json.h"
#include "run_fidelity.h"
#include "run_result.h"

#define COMMAND "lab run"

#define STEP_MS       20
#define DRAIN_MS      4000 /* for what is under way when traffic ends, since the last arrival */
#define DRAIN_MOST_MS 30000
#define HURRY_MS      600   /* the same after a signal */
#define LOOK_MS       200   /* between two looks whether any process is left */
#define MAP_MS        10000 /* for a mapper that is at work when traffic is to begin */

struct asked {
	struct lab_connection connection; /* fd -1: it is asked no more */
	char why[RUN_REASON_MAX];         /* ... and why */
	json_t *before;                   /* what it had counted before */
	uint64_t away_ns;                 /* of its loops, by its last report */
};

struct lab_run {
	const struct lab_arguments *arguments;
	struct output_file output; /* of --json */
	struct lab lab;
	struct lab_state state;
	struct asked *asked;             /* [process of the state] */
	struct lab_obedience *obedience; /* room for as many */
	struct run_result *before, *result;
	json_t *elsewhere; /* devices of other machines */
};

/* Some processes run on other machines: frames that leave this one may arrive there. */
static bool partial(const struct lab_run *run)
{
	return run->state.processes < run->lab.plan->processes;
}

/* --- orders --- */

/* Asks this process no more: its counts are left out, and the run is incomplete. */
static void give_up(struct lab_run *run, unsigned i, const char *why)
{
	struct asked *asked = &run->asked[i];

	if (asked->why[0] == '\0')
		snprintf(asked->why, sizeof(asked->why), "%s %s", run->state.process[i].name, why);
	lab_disconnect(&asked->connection);
}

/* True if the process is gone, or does not answer. A process that was started again meanwhile is
 * another one, with counts of its own. */
static bool is_gone(struct lab_run *run, unsigned i)
{
	if (run->asked[i].connection.fd >= 0 && lab_record_alive(&run->state.process[i]))
		return false;
	give_up(run, i, "is gone, and with it what it has counted");
	return true;
}

/* The number of processes that still answer. */
static unsigned count_left(struct lab_run *run)
{
	unsigned left = 0;

	for (unsigned i = 0; i < run->state.processes; i++)
		left += !is_gone(run, i);
	return left;
}

/* A process that is stopped, for example, does not obey and does not report. */
static void give_up_silent(
	struct lab_run *run, unsigned i, const char *what, const struct fault *fault)
{
	char why[FAULT_TEXT + 64];

	lab_record_dies(&run->state.process[i]);
	if (is_gone(run, i))
		return;
	snprintf(why, sizeof(why), "%s, and its counts are missing: %s", what, fault->text);
	give_up(run, i, why);
}

/* At once, so that all begin together, however far away their machines are. */
static void order_all(struct lab_run *run, const char *text)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->state.processes; i++)
		if (!is_gone(run, i)) {
			run->obedience[count++] =
				(struct lab_obedience){.connection = &run->asked[i].connection};
		}
	lab_control_all(run->obedience, count, text);
	for (unsigned i = 0, at = 0; i < run->state.processes && at < count; i++) {
		const struct lab_obedience *one = &run->obedience[at];

		if (one->connection != &run->asked[i].connection)
			continue;
		at++;
		if (one->result < 0)
			give_up_silent(run, i, "does not obey", &one->fault);
	}
}

/* Has all processes load the traffic of this run, which the start asks for. */
static int load_traffic(struct lab_run *run, struct fault *fault)
{
	for (unsigned i = 0; i < run->state.processes; i++) {
		const char *error;
		json_t *answer;

		if (is_gone(run, i))
			continue;
		answer = lab_control_json(&run->asked[i].connection, &run->state.process[i],
			run->state.dir, "traffic load", fault);
		error = json_string_value(json_object_get(answer, "error"));
		if (answer == NULL)
			return -EPROTO;
		if (error != NULL)
			fault_set(fault, EINVAL, "%s: %s", run->state.process[i].name, error);
		json_decref(answer);
		if (error != NULL)
			return -EINVAL;
	}
	return 0;
}

/* --- reports --- */

static int add_part(const struct lab_run *run, unsigned i, struct run_result *into,
	const json_t *part, struct fault *fault)
{
	return run_result_add_part(into, part) == 0
		       ? 0
		       : fault_set(fault, EPROTO, "%s: what it reports is no part of a result",
				 run->state.process[i].name);
}

/* The report of a process; NULL if it gives none. */
static json_t *ask_part(struct lab_run *run, unsigned i)
{
	struct fault fault;
	json_t *part;

	if (is_gone(run, i))
		return NULL;
	part = lab_control_json(&run->asked[i].connection, &run->state.process[i], run->state.dir,
		"report", &fault);
	if (part == NULL)
		give_up_silent(run, i, "does not report", &fault);
	return part;
}

/* Collects the counts of all processes before the run. */
static void collect_before(struct lab_run *run)
{
	for (unsigned i = 0; i < run->state.processes; i++)
		run->asked[i].before = ask_part(run, i);
}

static uint64_t part_number(const json_t *part, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(part, name));
}

/* While traffic flowed, or before: the order to begin may have found the process stopped. */
static uint64_t away_of(const json_t *before, const json_t *part)
{
	uint64_t away = part_number(part, "away_ns");
	uint64_t absent =
		run_result_minus(part_number(part, "absent_ns"), part_number(before, "absent_ns"));

	return absent > away ? absent : away;
}

/* The sums over the processes that answer, now and before. */
static int collect(struct lab_run *run, struct fault *fault)
{
	int result = 0;

	run_result_free(run->before);
	run_result_free(run->result);
	for (unsigned i = 0; i < run->state.processes && result == 0; i++) {
		json_t *part = ask_part(run, i);

		if (part == NULL || run->asked[i].before == NULL) {
			json_decref(part);
			continue;
		}
		run->asked[i].away_ns = away_of(run->asked[i].before, part);
		result = add_part(run, i, run->result, part, fault);
		if (result == 0)
			result = add_part(run, i, run->before, run->asked[i].before, fault);
		json_decref(part);
	}
	return result;
}

static int collect_fresh(struct lab_run *run, struct fault *fault)
{
	int result;

	result = collect(run, fault);
	if (result < 0)
		return result;
	run_result_take_off(run->result, run->before);
	return 0;
}

/* Messages that arrived twice; 0 if that cannot be known, because hosts that are not asked sent
 * some of them. */
static uint64_t surplus(struct lab_run *run)
{
	return partial(run) || count_left(run) < run->state.processes
		       ? 0
		       : run_result_surplus(run->result, run->before);
}

/* Collects until everything has arrived, or nothing more will. The hosts are asked one after the
 * other, so a program's message may already be counted as received but not yet as sent. */
static int collect_drained(struct lab_run *run, struct fault *fault)
{
	/* Programs behind TAPs and hosts of other machines may go on sending. */
	bool endless = partial(run) || run->lab.config->run.edges.count > 0;
	uint64_t began = lab_now_ms(), arrived = began, now = began;
	int result = collect_fresh(run, fault);

	while (result == 0 && (run_result_under_way(run->result) > 0 || surplus(run) > 0) &&
		now - arrived < DRAIN_MS &&
		now - began < (lab_interrupted() ? HURRY_MS : DRAIN_MOST_MS)) {
		uint64_t before = run->result->messages.delivered;

		lab_sleep_ms(10 * STEP_MS);
		result = collect_fresh(run, fault);
		now = lab_now_ms();
		if (!endless && run->result->messages.delivered != before)
			arrived = now;
	}
	if (result == 0)
		run->result->duplicated += surplus(run);
	return result;
}

/* --- the run --- */

static void send_traffic(struct lab_run *run, weft_time duration)
{
	struct progress_line line = {.out = stderr};
	uint64_t began, looked, now;
	char text[64];

	snprintf(text, sizeof(text), "traffic start %" PRIu64 "%s", duration / PS_PER_NS,
		run->arguments->sets > 0 ? " loaded" : "");
	order_all(run, text);
	began = looked = lab_now_ms();
	while ((now = lab_now_ms()) - began < duration / PS_PER_MS && !lab_interrupted()) {
		lab_sleep_ms(STEP_MS);
		if (now - looked < LOOK_MS)
			continue;
		looked = now;
		progress_line_tell(&line, (now - began) * PS_PER_MS, duration);
		/* The lab was taken down. */
		if (count_left(run) == 0)
			break;
	}
	progress_line_wipe(&line);
	if (lab_interrupted())
		order_all(run, "traffic stop");
}

/* Programs send through TAPs while the processes report: a window to each destination. */
static uint64_t in_flight_most(const struct lab_run *run)
{
	const struct run_config *config = &run->lab.config->run;

	return (uint64_t)config->edges.count * run->lab.topology->hosts * config->nic.window_frames;
}

static void judge_refused(struct lab_run *run)
{
	uint64_t refused = run_result_refused(run->result);

	if (refused > 0)
		run_result_add_reason(run->result, false,
			"%" PRIu64
			" messages were not sent: their destinations had no route, or did not answer",
			refused);
}

/* Keeps whose loop was away the longest. */
static void judge_away(struct lab_run *run, unsigned i)
{
	const char *who = run->state.process[i].name;
	uint64_t away_ns = run->asked[i].away_ns;

	run_result_judge_away(run->result, who, away_ns);
	if (away_ns < run->result->wall.away_ns)
		return;
	run->result->wall.away_ns = away_ns;
	snprintf(run->result->wall.away_who, sizeof(run->result->wall.away_who), "%s",
		run->lab.config->processes == LAB_CONFIG_PROCESSES_ONE ? "" : who);
}

/* Where a part of the lab is on another machine, messages may have arrived there. */
static void judge(struct lab_run *run)
{
	if (lab_interrupted())
		run_result_add_reason(run->result, true, RUN_REASON_SIGNAL);
	if (run->state.processes > 0 && count_left(run) == 0)
		run_result_add_reason(run->result, false, "the lab was taken down");
	for (unsigned i = 0; i < run->state.processes; i++) {
		if (is_gone(run, i))
			run_result_add_reason(run->result, false, "%s", run->asked[i].why);
		else
			judge_away(run, i);
	}
	judge_refused(run);
	if (!partial(run) && !lab_interrupted())
		run_result_judge_under_way(run->result, in_flight_most(run));
}

static int measure(struct lab_run *run, struct fault *fault)
{
	weft_time duration = run->arguments->duration_ps != WEFT_TIME_NEVER
				     ? run->arguments->duration_ps
				     : run->lab.config->run.measure.duration_ps;
	struct lab_mapper mapper;
	int result;

	if (run->lab.config->run.traffic.count == 0)
		return fault_set(
			fault, EINVAL, "%s: it has no 'traffic' to be sent", run->lab.path);
	if (run_config_check_samples(&run->lab.config->run.measure, duration, fault) < 0)
		return -EINVAL;
	/* Messages sent before there are routes would wait, and their waiting would be measured. */
	result = lab_wait_mapped(&run->lab, &run->state, true, MAP_MS, &mapper, fault);
	if (result < 0)
		return result;
	if (run->arguments->sets > 0)
		result = load_traffic(run, fault);
	if (result < 0)
		return result;
	collect_before(run);
	send_traffic(run, duration);
	/* The processes began a little later than this program. */
	lab_sleep_ms(STEP_MS);
	result = collect_drained(run, fault);
	if (result == 0)
		judge(run);
	return result;
}

static void warn_of_starvation(const struct lab_run *run)
{
	char why[160];

	if (run_fidelity_starved(run->result, run->lab.config->run.hello_ps, why, sizeof(why)))
		fprintf(stderr, "weft lab run: CPU starved: %s\n", why);
}

static int connect_all(struct lab_run *run, struct fault *fault)
{
	int result = 0;

	run->before = calloc(1, sizeof(*run->before));
	run->result = calloc(1, sizeof(*run->result));
	run->asked = calloc(run->state.processes + 1, sizeof(*run->asked));
	run->obedience = calloc(run->state.processes + 1, sizeof(*run->obedience));
	run->elsewhere = lab_elsewhere(run->lab.plan, &run->state);
	if (run->obedience == NULL || run->before == NULL || run->result == NULL ||
		run->asked == NULL || run->elsewhere == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	for (unsigned i = 0; i < run->state.processes; i++)
		run->asked[i].connection.fd = -1;
	for (unsigned i = 0; i < run->state.processes && result == 0; i++)
		if (lab_record_alive(&run->state.process[i]))
			result = lab_connect(
				&run->asked[i].connection, &run->state.process[i], fault);
	return result;
}

static void disconnect_all(struct lab_run *run)
{
	for (unsigned i = 0; run->asked != NULL && i < run->state.processes; i++) {
		lab_disconnect(&run->asked[i].connection);
		json_decref(run->asked[i].before);
	}
	json_decref(run->elsewhere);
	free(run->asked);
	free(run->obedience);
	if (run->before != NULL)
		run_result_free(run->before);
	if (run->result != NULL)
		run_result_free(run->result);
	free(run->before);
	free(run->result);
}

/* One of the devices on other machines is a host, which has its own clock. */
static bool hosts_elsewhere(const struct lab_run *run)
{
	for (uint32_t i = 0; i < run->lab.topology->hosts; i++)
		if (lab_elsewhere_has(run->elsewhere, run->lab.topology->host_at[i].name))
			return true;
	return false;
}

/* Prints the devices that are not part of the result. */
static void print_elsewhere(const struct lab_run *run)
{
	if (json_array_size(run->elsewhere) == 0)
		return;
	printf("  %-22s ", "on other machines");
	lab_elsewhere_print(run->elsewhere, stdout);
	puts(run->result->hosts > 0 ? " (not in this result)"
				    : " (all hosts: this machine sends and measures nothing)");
}

/* EXIT_DONE, or the code of the error that was printed. */
static enum weft_exit write_result(struct lab_run *run)
{
	const char *path = run->arguments->output;
	json_t *document;
	int written = -1, cause;

	run_result_set_buffer(run->result, &run->lab.config->run);
	if (path == NULL || strcmp(path, "-") != 0) {
		run_result_print(run->result, &run->lab.config->run, stdout);
		print_elsewhere(run);
	}
	if (path == NULL)
		return EXIT_DONE;
	document = run_result_json(run->result, run_config_json(&run->lab.config->run));
	if (document != NULL)
		json_object_set(document, "elsewhere", run->elsewhere);
	errno = 0;
	if (document != NULL && run->result->stop != NULL &&
		output_file_heed(&run->output, run->result->stop) < 0) {
		json_decref(document);
		document = NULL;
	}
	if (document != NULL)
		written = run_result_dump(run->result, document, run->output.file);
	cause = errno;
	json_decref(document);
	if (written == 0)
		return output_file_close(&run->output);
	output_file_discard(&run->output);
	if (run_result_is_stopped(run->result))
		return command_fail(
			COMMAND, EXIT_INTERRUPTED, "a signal came before the result was written");
	return command_fail(COMMAND, EXIT_NOT_ABLE, "%s: cannot be written: %s", path,
		strerror(cause != 0 ? cause : ENOMEM));
}

/* Unsent messages are not lost: a link may have been down. If nothing at all was sent, the run
 * has no result. */
static bool nothing_was_sent(const struct run_result *result)
{
	return result->messages.dropped > 0 && result->messages.delivered == 0;
}

static bool good(const struct lab_run *run)
{
	const struct run_result *result = run->result;

	return !nothing_was_sent(result) &&
	       (result->lost | result->duplicated | result->out_of_order) == 0 &&
	       run_result_counter(result, "host_sources_failed") == 0 &&
	       !run_result_is_broken(result);
}

static enum weft_exit measure_and_write(struct lab_run *run)
{
	struct fault fault;
	enum weft_exit code;
	int result = connect_all(run, &fault);

	if (result == 0)
		result = measure(run, &fault);
	if (result < 0) {
		output_file_discard(&run->output);
		return command_fail(COMMAND, fault_exit_code(result), "%s", fault.text);
	}
	run->result->clocks_differ = hosts_elsewhere(run) || run->state.remotes > 1;
	run_result_heed(run->result, lab_stop_flag());
	run_result_print_reasons(run->result, "weft lab run: incomplete: ", stderr);
	warn_of_starvation(run);
	code = write_result(run);
	return code == EXIT_DONE && !good(run) ? EXIT_BAD_ANSWER : code;
}

/* The options --set. */
static int set_traffic(struct lab_run *run, struct fault *fault)
{
	if (run->arguments->sets == 0)
		return 0;
	if (run->state.remotes > 0)
		return fault_set(fault, EINVAL,
			"--set: lab %s is up on several machines, and each sends what the lab file "
			"says: change the file, and 'weft lab up --restart' applies it",
			run->lab.plan->lab);
	return lab_run_set(&run->lab, run->arguments->set, run->arguments->sets, fault);
}

/* Two runs at a time would count each other's traffic. */
static enum weft_exit run_alone(struct lab_run *run)
{
	struct lab_lock lock = {.fd = -1};
	char dir[sizeof(run->state.dir) + 8];
	enum weft_exit code;
	struct fault fault;
	int result;

	snprintf(dir, sizeof(dir), "%s/run", run->state.dir);
	if (run->state.remotes > 0)
		result = lab_remotes_lock(&run->state, &fault);
	else
		result = lab_lock_take(&lock, dir, "sent traffic", &fault);
	if (result < 0)
		return command_fail(COMMAND, fault_exit_code(result), "%s", fault.text);
	/* Before traffic starts, because a run with a wrong path would be useless. */
	code = output_file_open(&run->output);
	if (code == EXIT_DONE && (result = set_traffic(run, &fault)) < 0) {
		output_file_discard(&run->output);
		code = command_fail(COMMAND, fault_exit_code(result), "%s", fault.text);
	}
	if (code == EXIT_DONE)
		code = measure_and_write(run);
	lab_lock_release(&lock);
	return code;
}

enum weft_exit cmd_lab_run(const struct lab_arguments *arguments)
{
	struct lab_run run = {
		.arguments = arguments, .output = {.command = COMMAND, .path = arguments->output}};
	enum weft_exit code = lab_open_running(arguments, COMMAND, &run.lab, &run.state);

	if (code != EXIT_DONE)
		return code;
	lab_catch_signals();
	code = run_alone(&run);
	disconnect_all(&run);
	lab_state_free(&run.state);
	lab_close(&run.lab);
	return code;
}
