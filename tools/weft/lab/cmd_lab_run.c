/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab run: tells the processes to send the lab file's traffic, waits, and merges their
 * measurements. */

#include "cmd_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiment/result/run_fidelity.h"
#include "experiment/result/run_result.h"
#include "lab_lock.h"
#include "lab_remotes.h"
#include "lab_run_reports.h"
#include "os/terminal.h"

#define COMMAND "lab run"

#define CIRCLE_LOOKS 5 /* rounds of queries per search for a deadlock */

#define MAP_PS (10 * PS_PER_S) /* for a running mapper before traffic starts */

/* Searches until there is a cycle. During the run, searches only while all processes answer; the
 * search at the end queries them again and determines the result. */
static void look_for_circle(struct lab_run *run, bool at_end)
{
	if (run->circle.channels == 0 && (at_end || !run->blind))
		run->blind = !lab_circle_find(&run->lab, &run->state, &run->circle);
}

/* Returns true if the processes load traffic for this run, in place of their own. */
static bool is_loaded(const struct lab_run *run)
{
	return run->arguments->sets > 0 || run->lab.fabric != 0;
}

static void send_traffic(struct lab_run *run, weft_time duration)
{
	uint32_t dilation = run->lab.config->run.dilation;
	struct progress_line line = {.out = stderr};
	uint64_t began, looked, now;
	unsigned looks = 0;
	char text[64];

	snprintf(text, sizeof(text), "traffic start %" PRIu64 "%s", duration / PS_PER_NS,
		is_loaded(run) ? " loaded" : "");
	lab_run_order(run, text);
	began = looked = lab_run_now_ms(run);
	while ((now = lab_run_now_ms(run)) - began < duration / PS_PER_MS && !lab_interrupted()) {
		lab_sleep_ms(LAB_RUN_STEP_MS);
		if ((now - looked) * dilation < LAB_RUN_LOOK_MS)
			continue;
		looked = now;
		progress_line_show(&line, (now - began) * PS_PER_MS, duration);
		/* The lab was taken down. */
		if (lab_run_count_left(run) == 0)
			break;
		/* Returns true if the process knows the requested value precisely enough. */
		if (run->lab.config->run.measure.until.interval_ppm > 0 && !lab_run_is_sending(run))
			break;
		if (++looks % CIRCLE_LOOKS == 0)
			look_for_circle(run, false);
	}
	progress_line_wipe(&line);
	if (lab_interrupted())
		lab_run_order(run, "traffic stop");
}

/* Programs send through TAPs while the processes report, so counts may differ by a window per
 * destination. */
static uint64_t in_flight_max(const struct lab_run *run)
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
			" messages were not sent because their destinations had no route or did not answer",
			refused);
}

/* Keeps the process whose loop had the longest stall. */
static void judge_stall(struct lab_run *run, unsigned i)
{
	const char *who = run->state.process[i].name;
	uint64_t stall_ns = run->asked[i].stall_ns;

	run_result_judge_stall(run->result, who, stall_ns);
	if (stall_ns < run->result->wall.stall_ns)
		return;
	run->result->wall.stall_ns = stall_ns;
	snprintf(run->result->wall.stall_who, sizeof(run->result->wall.stall_who), "%s",
		run->state.processes == 1 ? "" : who);
}

/* If part of the lab is on another machine, messages may have arrived there. 'stopped': a signal
 * ended the traffic, or the wait for its messages. */
static void judge(struct lab_run *run, bool stopped)
{
	if (stopped)
		run_result_add_reason(run->result, true, RUN_REASON_SIGNAL);
	if (run->state.processes > 0 && lab_run_count_left(run) == 0)
		run_result_add_reason(run->result, false, "the lab was taken down");
	for (unsigned i = 0; i < run->state.processes; i++) {
		if (!lab_run_lost(run, i)) {
			judge_stall(run, i);
			continue;
		}
		run_result_add_reason(run->result, false, "%s", run->asked[i].why);
		run->result->wall.process_ended |= !lab_record_alive(&run->state.process[i]);
	}
	judge_refused(run);
	run_fidelity_judge(
		run->result, &run->lab.config->run.fidelity, run->lab.config->run.dilation);
	if (run->result->sending > 0 && !stopped)
		run_result_add_reason(run->result, false,
			"%" PRIu64
			" processes did not end their traffic within %d s after the end of the run",
			run->result->sending, LAB_RUN_DRAIN_MOST_MS / 1000);
	if (!lab_run_is_partial(run) && !stopped)
		run_result_judge_under_way(run->result, in_flight_max(run));
}

static int measure(struct lab_run *run, struct error *error)
{
	weft_time duration = run->arguments->duration_ps != WEFT_TIME_NEVER
				     ? run->arguments->duration_ps
				     : run->lab.config->run.measure.duration_ps;
	struct lab_mapper mapper;
	json_t *links;
	bool stopped;
	int result;

	if (run->lab.config->run.traffic.count == 0)
		return error_set(error, EINVAL,
			"%s: the lab file has no 'traffic' for a run to send", run->lab.path);
	if (run_config_check_samples(&run->lab.config->run.measure, duration, error) < 0)
		return -EINVAL;
	/* Messages sent before routes exist would wait, and this wait would be measured. */
	result = lab_wait_mapped(
		&run->lab, &run->state, true, lab_real_ms(&run->lab, MAP_PS), &mapper, error);
	if (result < 0)
		return result;
	result = lab_run_collect_quiet(run, error);
	if (result == 0 && is_loaded(run))
		result = lab_run_load(run, error);
	if (result < 0)
		return result;
	run->links_before = lab_run_links(run);
	send_traffic(run, duration);
	/* The processes start a little later than this program. */
	lab_sleep_ms(LAB_RUN_STEP_MS);
	look_for_circle(run, true);
	result = lab_run_collect_drained(run, error);
	stopped = lab_interrupted();
	if (result < 0)
		return result;
	if (run->result->cycles == 0 &&
		deadlock_result(&run->circle, run->lab.topology, run->result) < 0)
		return error_set(error, ENOMEM, "out of memory");
	if (run->blind)
		run_result_add_reason(run->result, false,
			"the search for a deadlock failed because a process did not answer");
	run->result->until = run->lab.config->run.measure.until;
	links = lab_run_links(run);
	run->changes = lab_run_changes(&run->lab, &run->state, run->links_before, links);
	json_decref(links);
	judge(run, stopped);
	return result;
}

static int connect_all(struct lab_run *run, struct error *error)
{
	int result = 0;

	run->before = calloc(1, sizeof(*run->before));
	run->result = calloc(1, sizeof(*run->result));
	run->asked = calloc(run->state.processes + 1, sizeof(*run->asked));
	run->obedience = calloc(run->state.processes + 1, sizeof(*run->obedience));
	run->elsewhere = lab_elsewhere(run->lab.plan, &run->state);
	if (run->obedience == NULL || run->before == NULL || run->result == NULL ||
		run->asked == NULL || run->elsewhere == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < run->state.processes; i++)
		run->asked[i].connection.fd = -1;
	for (unsigned i = 0; i < run->state.processes && result == 0; i++)
		if (lab_record_alive(&run->state.process[i]))
			result = lab_connect(
				&run->asked[i].connection, &run->state.process[i], error);
	return result;
}

static void disconnect_all(struct lab_run *run)
{
	for (unsigned i = 0; run->asked != NULL && i < run->state.processes; i++) {
		lab_disconnect(&run->asked[i].connection);
		json_decref(run->asked[i].before);
	}
	json_decref(run->elsewhere);
	json_decref(run->links_before);
	json_decref(run->changes);
	free(run->asked);
	free(run->obedience);
	if (run->before != NULL)
		run_result_free(run->before);
	if (run->result != NULL)
		run_result_free(run->result);
	free(run->before);
	free(run->result);
}

/* Returns true if a device on another machine is a host, which then has its own clock. */
static bool hosts_elsewhere(const struct lab_run *run)
{
	for (uint32_t i = 0; i < run->lab.topology->hosts; i++)
		if (lab_elsewhere_has(run->elsewhere, run->lab.topology->host_at[i].name))
			return true;
	return false;
}

static void print_elsewhere(const struct lab_run *run)
{
	if (json_array_size(run->elsewhere) == 0)
		return;
	printf("  %-22s ", "on other machines");
	lab_elsewhere_print(run->elsewhere, stdout);
	puts(run->result->hosts > 0 ? " (not in this result)"
				    : " (all hosts: this machine sends and measures nothing)");
}

/* Returns EXIT_DONE, or the code of the error that was printed. */
static enum weft_exit write_result(struct lab_run *run)
{
	const char *path = run->arguments->output;
	json_t *document;
	int written = -1, cause;

	run_result_set_buffer(run->result, &run->lab.config->run);
	run->result->wall.written = time(NULL);
	lab_cover_report(&run->lab, run_result_add_warning, run->result);
	if (path == NULL || strcmp(path, "-") != 0) {
		run_result_print(run->result, &run->lab.config->run, stdout);
		lab_run_changes_print(run->changes, stdout);
		print_elsewhere(run);
	}
	if (path == NULL)
		return EXIT_DONE;
	document = run_result_json(run->result, run_config_json(&run->lab.config->run));
	if (document != NULL)
		json_object_update_new(document, json_pack("{s:O,s:O}", "elsewhere", run->elsewhere,
							 "changes", run->changes));
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
		return command_fail(COMMAND, EXIT_INTERRUPTED,
			"a signal arrived before the result was written");
	return command_fail(COMMAND, EXIT_NOT_ABLE, "%s: cannot be written: %s", path,
		strerror(cause != 0 ? cause : ENOMEM));
}

/* Unsent messages are not lost: a link may have been down. If nothing at all was sent, the run has
 * no result. Messages to other machines arrived there. */
static bool nothing_was_sent(const struct run_result *result)
{
	return !result->partial && result->messages.dropped > 0 && result->messages.delivered == 0;
}

static enum weft_exit judge_exit(const struct run_result *result)
{
	return nothing_was_sent(result) || run_result_counter(result, "host_sources_failed") > 0
		       ? EXIT_BAD_ANSWER
		       : run_result_exit(result);
}

static enum weft_exit measure_and_write(struct lab_run *run)
{
	struct error error;
	enum weft_exit code;
	int result = connect_all(run, &error);
	char why[160];

	if (result == 0)
		result = measure(run, &error);
	if (result < 0) {
		output_file_discard(&run->output);
		return command_error(COMMAND, result, &error);
	}
	run->result->clocks_differ = hosts_elsewhere(run) || run->state.remotes > 1;
	run->result->partial = lab_run_is_partial(run);
	run_result_heed(run->result, lab_stop_flag());
	run_result_judge_nothing(run->result, &run->lab.config->run, run->lab.topology);
	run_result_print_reasons(run->result, "weft lab run: incomplete: ", stderr);
	if (run->result->nothing[0] != '\0')
		fprintf(stderr, "weft " COMMAND ": nothing was measured: %s\n",
			run->result->nothing);
	run_result_print_deadlock(run->result, "weft lab run: deadlock: ", stderr);
	if (run_fidelity_starved(run->result, run->lab.config->run.hello_ps, why, sizeof(why)))
		fprintf(stderr, "weft lab run: CPU starved: %s\n", why);
	code = write_result(run);
	return code == EXIT_DONE ? judge_exit(run->result) : code;
}

/* The options --set. */
static int set_traffic(struct lab_run *run, struct error *error)
{
	if (!is_loaded(run))
		return 0;
	if (run->state.remotes > 0)
		return error_set(error, EINVAL,
			"--set: lab %s is up on several machines, all of which use the lab file; change the file and run 'weft lab up --restart'",
			run->lab.plan->lab);
	return lab_run_set(&run->lab, run->arguments->set, run->arguments->sets, error);
}

/* Two runs at the same time would count each other's traffic. */
static enum weft_exit run_alone(struct lab_run *run)
{
	struct lab_lock lock = {.fd = -1};
	char dir[sizeof(run->state.dir) + 8];
	enum weft_exit code;
	struct error error;
	int result;

	snprintf(dir, sizeof(dir), "%s/run", run->state.dir);
	if (run->state.remotes > 0)
		result = lab_remotes_lock(&run->state, &error);
	else
		result = lab_lock_take(&lock, dir, "sent traffic", &error);
	if (result < 0)
		return command_error(COMMAND, result, &error);
	/* Done before traffic starts, because a run with a wrong path would be useless. */
	code = output_file_open(&run->output);
	if (code == EXIT_DONE && (result = set_traffic(run, &error)) < 0) {
		output_file_discard(&run->output);
		code = command_error(COMMAND, result, &error);
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
