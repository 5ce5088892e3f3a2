/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_run_reports.h"

#include <stdio.h>

/* Timeouts for frames in flight at the end of traffic, in the lab's time: since the last arrival;
 * and in total, after a signal. */
#define DRAIN_MS 4000
#define HURRY_MS 600

bool lab_run_is_partial(const struct lab_run *run)
{
	return run->state.processes < run->lab.plan->processes;
}

/* --- orders --- */

/* Stops querying this process: its counts are left out, and the run is incomplete. */
static void give_up(struct lab_run *run, unsigned i, const char *why)
{
	struct lab_run_asked *asked = &run->asked[i];

	if (asked->why[0] == '\0')
		snprintf(asked->why, sizeof(asked->why), "%s %s", run->state.process[i].name, why);
	lab_disconnect(&asked->connection);
}

bool lab_run_lost(struct lab_run *run, unsigned i)
{
	if (run->asked[i].connection.fd >= 0 && lab_record_alive(&run->state.process[i]))
		return false;
	give_up(run, i, "is gone, and its counts are lost");
	return true;
}

unsigned lab_run_count_left(struct lab_run *run)
{
	unsigned left = 0;

	for (unsigned i = 0; i < run->state.processes; i++)
		left += !lab_run_lost(run, i);
	return left;
}

/* Gives up a process that does not answer, such as a stopped one. */
static void give_up_silent(
	struct lab_run *run, unsigned i, const char *what, const struct error *error)
{
	char why[ERROR_TEXT + 64];

	/* A killed process may need seconds to end, but it closes its sockets immediately. */
	if (!lab_run_lost(run, i))
		lab_record_dies(&run->state.process[i]);
	if (lab_run_lost(run, i))
		return;
	snprintf(why, sizeof(why), "%s, and its counts are missing: %s", what, error->text);
	give_up(run, i, why);
}

void lab_run_order(struct lab_run *run, const char *text)
{
	unsigned count = 0;

	for (unsigned i = 0; i < run->state.processes; i++)
		if (!lab_run_lost(run, i)) {
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
			give_up_silent(run, i, "does not respond to commands", &one->error);
	}
}

int lab_run_load(struct lab_run *run, struct error *error)
{
	for (unsigned i = 0; i < run->state.processes; i++) {
		const char *message;
		json_t *answer;

		if (lab_run_lost(run, i))
			continue;
		answer = lab_control_json(&run->asked[i].connection, &run->state.process[i],
			run->state.dir, "traffic load", error);
		message = json_string_value(json_object_get(answer, "error"));
		if (answer == NULL)
			return -EPROTO;
		if (message != NULL)
			error_set(error, EINVAL, "%s: %s", run->state.process[i].name, message);
		json_decref(answer);
		if (message != NULL)
			return -EINVAL;
	}
	return 0;
}

/* --- reports --- */

static int add_part(const struct lab_run *run, unsigned i, struct run_result *into,
	const json_t *part, struct error *error)
{
	return run_result_add_part(into, part) == 0
		       ? 0
		       : error_set(error, EPROTO, "%s: the report is not a valid part of a result",
				 run->state.process[i].name);
}

/* Returns the report of a process, without the samples unless 'whole'; NULL without an answer. */
static json_t *ask_part(struct lab_run *run, unsigned i, bool whole)
{
	struct lab_connection *connection = &run->asked[i].connection;
	const struct lab_record *record = &run->state.process[i];
	struct error error;
	json_t *part;

	if (lab_run_lost(run, i))
		return NULL;
	part = whole ? lab_control_report(connection, record, run->state.dir, &error)
		     : lab_control_json(connection, record, run->state.dir, "counts", &error);
	if (part == NULL)
		give_up_silent(run, i, "does not report", &error);
	return part;
}

uint64_t lab_run_now_ms(const struct lab_run *run)
{
	return lab_now_ms() / run->lab.config->run.dilation;
}

bool lab_run_is_sending(struct lab_run *run)
{
	uint64_t sending = 0;

	for (unsigned i = 0; i < run->state.processes; i++) {
		json_t *part = ask_part(run, i, false);

		sending += json_count_of(part, "sending");
		json_decref(part);
	}
	return sending > 0;
}

/* Collects the counts of all processes. Returns how many of them are sending. */
static uint64_t collect_before(struct lab_run *run)
{
	uint64_t sending = 0;

	for (unsigned i = 0; i < run->state.processes; i++) {
		json_decref(run->asked[i].before);
		run->asked[i].before = ask_part(run, i, false);
		sending += json_count_of(run->asked[i].before, "sending");
	}
	return sending;
}

int lab_run_collect_quiet(struct lab_run *run, struct error *error)
{
	uint64_t until = lab_run_now_ms(run) + LAB_RUN_DRAIN_MOST_MS;

	if (collect_before(run) == 0)
		return 0;
	lab_run_order(run, "traffic stop");
	while (collect_before(run) > 0) {
		if (lab_run_now_ms(run) >= until || lab_interrupted())
			return error_set(
				error, EBUSY, "traffic from an earlier run is still being sent");
		lab_sleep_ms(LAB_RUN_LOOK_MS);
	}
	return 0;
}

/* Returns the longest stall during the traffic or before it, because the process may have been
 * stopped when the start command arrived. */
static uint64_t stall_of(const json_t *before, const json_t *part)
{
	uint64_t stall = json_count_of(part, "stall_ns");
	uint64_t absent = run_result_minus(
		json_count_of(part, "absent_ns"), json_count_of(before, "absent_ns"));

	return absent > stall ? absent : stall;
}

/* Sums over the processes that answer, now and before. */
static int collect(struct lab_run *run, bool whole, struct error *error)
{
	int result = 0;

	run_result_free(run->before);
	run_result_free(run->result);
	for (unsigned i = 0; i < run->state.processes && result == 0; i++) {
		json_t *part = ask_part(run, i, whole);

		if (part == NULL || run->asked[i].before == NULL) {
			json_decref(part);
			continue;
		}
		run->asked[i].stall_ns = stall_of(run->asked[i].before, part);
		result = add_part(run, i, run->result, part, error);
		if (result == 0)
			result = add_part(run, i, run->before, run->asked[i].before, error);
		json_decref(part);
	}
	return result;
}

static int collect_fresh(struct lab_run *run, bool whole, struct error *error)
{
	int result = collect(run, whole, error);

	if (result == 0)
		run_result_subtract(run->result, run->before);
	return result;
}

/* Returns the number of messages that arrived twice; 0 if unknown, because hosts that are not
 * queried sent some of them. */
static uint64_t surplus(struct lab_run *run)
{
	return lab_run_is_partial(run) || lab_run_count_left(run) < run->state.processes
		       ? 0
		       : run_result_surplus(run->result, run->before);
}

/* Processes start when their loops receive the command, so on a busy machine some end later than
 * others. Until all have ended, equal counts prove nothing. */
static bool is_settled(struct lab_run *run, uint64_t since_arrival_ms)
{
	if (run->result->sending > 0)
		return false;
	return (run_result_under_way(run->result) == 0 && surplus(run) == 0) ||
	       since_arrival_ms >= DRAIN_MS;
}

/* Hosts are queried one after the other, so a program's message may be counted as received but not
 * yet as sent. */
int lab_run_collect_drained(struct lab_run *run, struct error *error)
{
	/* Programs behind TAPs, and hosts on other machines, may keep sending. */
	bool endless = lab_run_is_partial(run) || run->lab.config->run.edges.count > 0;
	uint64_t began = lab_run_now_ms(run), arrived = began, now = began, delivered;
	int result = collect_fresh(run, false, error), pause = LAB_RUN_STEP_MS;

	while (result == 0 && !is_settled(run, now - arrived) &&
		now - began < (lab_interrupted() ? HURRY_MS : LAB_RUN_DRAIN_MOST_MS)) {
		uint64_t before = run->result->messages.delivered;

		lab_sleep_ms(pause);
		pause = pause < LAB_RUN_LOOK_MS ? 2 * pause : LAB_RUN_LOOK_MS;
		result = collect_fresh(run, false, error);
		now = lab_run_now_ms(run);
		if (!endless && run->result->messages.delivered != before)
			arrived = now;
	}
	delivered = run->result->messages.delivered;
	if (result == 0)
		result = collect_fresh(run, true, error);
	/* Messages that arrived since then may have been sent after their source was queried. */
	if (result == 0)
		run->result->duplicated += run_result_minus(
			surplus(run), run_result_minus(run->result->messages.delivered, delivered));
	return result;
}
