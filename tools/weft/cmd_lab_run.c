/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab run: tells the processes to send the lab file's traffic, waits, and puts together what
 * each of them measured. The processes count since they were started, so what they had counted
 * before is taken off. */

#include "cmd_lab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run_config_json.h"
#include "run_result.h"

#define STEP_MS     20
#define DRAIN_MS    4000 /* for what is under way when traffic ends */
#define REPORT_MS   5000 /* for a process to write its part */
#define ORDER_TRIES 100

struct lab_run {
	const struct lab_arguments *arguments;
	struct lab lab;
	struct lab_state state;
	struct lab_connection *connection; /* [process of the state] */
	struct run_result *before, *result;
	unsigned reports;
};

static void sleep_ms(int ms)
{
	const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L};

	nanosleep(&time, NULL);
}

/* --- orders --- */

/* The process takes one command at a time; the one before may still be waiting. */
static int order(struct lab_connection *connection, const char *text, struct fault *fault)
{
	char command[400];
	int result = 0;

	snprintf(command, sizeof(command), "/weft/control,%s", text);
	for (unsigned i = 0; i < ORDER_TRIES; i++) {
		result = lab_order(connection, command, NULL, 0, fault);
		if (result == 0 || strstr(fault->text, "has not been taken") == NULL)
			break;
		sleep_ms(STEP_MS);
	}
	return result;
}

static int order_all(struct lab_run *run, const char *text, struct fault *fault)
{
	int result = 0;

	for (unsigned i = 0; i < run->state.processes && result == 0; i++)
		result = order(&run->connection[i], text, fault);
	return result;
}

/* --- reports --- */

static json_t *wait_report(const struct lab_record *record, const char *path, struct fault *fault)
{
	json_error_t error;
	json_t *part;

	for (int waited = 0; access(path, R_OK) != 0; waited += STEP_MS) {
		if (waited >= REPORT_MS || !lab_record_alive(record)) {
			fault_set(fault, ENODEV, "%s: does not report what it measured",
				record->name);
			return NULL;
		}
		sleep_ms(STEP_MS);
	}
	part = json_load_file(path, 0, &error);
	if (part == NULL)
		fault_set(fault, EPROTO, "%s: %s", path, error.text);
	unlink(path);
	return part;
}

/* The sum over all processes. */
static int collect(struct lab_run *run, struct run_result *into, struct fault *fault)
{
	char path[400], text[440];
	int result = 0;

	run->reports++;
	for (unsigned i = 0; i < run->state.processes && result == 0; i++) {
		const struct lab_record *record = &run->state.process[i];
		json_t *part;

		snprintf(path, sizeof(path), "%s/report-%s-%ld-%u.json", run->state.dir,
			record->name, (long)getpid(), run->reports);
		snprintf(text, sizeof(text), "report %s", path);
		result = order(&run->connection[i], text, fault);
		if (result < 0)
			break;
		part = wait_report(record, path, fault);
		if (part == NULL)
			return -ENODEV;
		result = run_result_add_part(into, part);
		json_decref(part);
		if (result < 0)
			fault_set(fault, EPROTO, "%s: what it reports is no part of a result",
				record->name);
	}
	return result;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t counter_of(const struct run_result *result, const char *name)
{
	for (unsigned i = 0; i < result->counters; i++)
		if (strcmp(result->counter[i].name, name) == 0)
			return result->counter[i].value;
	return 0;
}

static void take_off_traffic(struct run_traffic *traffic, const struct run_traffic *before)
{
	traffic->injected = minus(traffic->injected, before->injected);
	traffic->delivered = minus(traffic->delivered, before->delivered);
	traffic->dropped = minus(traffic->dropped, before->dropped);
	traffic->retransmitted = minus(traffic->retransmitted, before->retransmitted);
}

/* Traffic sources begin anew with each run; programs' messages through TAP edges do not. */
static void take_off(struct run_result *result, const struct run_result *before)
{
	take_off_traffic(&result->packets, &before->packets);
	take_off_traffic(&result->messages, &before->messages);
	result->packets.generated = result->packets.injected;
	result->packets.pending = minus(result->packets.injected, result->packets.delivered);
	result->messages.generated =
		minus(result->messages.generated, counter_of(before, "tap_messages_out"));
	result->messages.pending = minus(result->messages.generated, result->messages.delivered);
	result->lost = minus(result->lost, before->lost);
	result->duplicated = minus(result->duplicated, before->duplicated);
	result->out_of_order = minus(result->out_of_order, before->out_of_order);
	result->wall.packet_hops = minus(result->wall.packet_hops, before->wall.packet_hops);
	if (result->wall.seconds > 0)
		result->wall.packet_hops_per_second =
			(double)result->wall.packet_hops / result->wall.seconds;
	for (unsigned i = 0; i < result->counters; i++)
		result->counter[i].value = minus(
			result->counter[i].value, counter_of(before, result->counter[i].name));
}

static int collect_fresh(struct lab_run *run, struct fault *fault)
{
	int result;

	run_result_free(run->result);
	result = collect(run, run->result, fault);
	if (result == 0)
		take_off(run->result, run->before);
	return result;
}

/* Messages that have left their hosts and not arrived. (Those that a host had no time to send are
 * pending too, and no loss.) */
static uint64_t under_way(const struct run_result *result)
{
	return minus(result->messages.injected, result->messages.delivered);
}

/* Until everything has arrived, or nothing more will. */
static int collect_drained(struct lab_run *run, struct fault *fault)
{
	int result = collect_fresh(run, fault);

	for (int waited = 0; result == 0 && under_way(run->result) > 0 && waited < DRAIN_MS;
		waited += 10 * STEP_MS) {
		sleep_ms(10 * STEP_MS);
		result = collect_fresh(run, fault);
	}
	return result;
}

/* --- the run --- */

static int send_traffic(struct lab_run *run, weft_time duration, struct fault *fault)
{
	char text[64];
	int result;

	snprintf(text, sizeof(text), "traffic start %" PRIu64, duration / PS_PER_NS);
	result = order_all(run, text, fault);
	for (uint64_t waited = 0;
		result == 0 && waited < duration / PS_PER_MS && !lab_interrupted();
		waited += STEP_MS)
		sleep_ms(STEP_MS);
	if (result == 0 && lab_interrupted())
		result = order_all(run, "traffic stop", fault);
	return result;
}

static int measure(struct lab_run *run, struct fault *fault)
{
	weft_time duration = run->arguments->duration_ps != WEFT_TIME_NEVER
				     ? run->arguments->duration_ps
				     : run->lab.config->run.measure.duration_ps;
	int result;

	if (run->lab.config->run.traffic.count == 0)
		return fault_set(
			fault, EINVAL, "%s: it has no 'traffic' to be sent", run->lab.path);
	result = collect(run, run->before, fault);
	if (result == 0)
		result = send_traffic(run, duration, fault);
	/* The processes began later than we did, each a little. */
	sleep_ms(STEP_MS);
	if (result == 0)
		result = collect_drained(run, fault);
	if (result == 0)
		run->result->incomplete |= lab_interrupted();
	return result;
}

static int connect_all(struct lab_run *run, struct fault *fault)
{
	int result = 0;

	run->before = calloc(1, sizeof(*run->before));
	run->result = calloc(1, sizeof(*run->result));
	run->connection = calloc(run->state.processes + 1, sizeof(*run->connection));
	if (run->before == NULL || run->result == NULL || run->connection == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	for (unsigned i = 0; i < run->state.processes; i++)
		run->connection[i].fd = -1;
	for (unsigned i = 0; i < run->state.processes && result == 0; i++)
		result = lab_connect(&run->connection[i], run->state.process[i].prefix, fault);
	return result;
}

static void disconnect_all(struct lab_run *run)
{
	for (unsigned i = 0; run->connection != NULL && i < run->state.processes; i++)
		lab_disconnect(&run->connection[i]);
	free(run->connection);
	if (run->before != NULL)
		run_result_free(run->before);
	if (run->result != NULL)
		run_result_free(run->result);
	free(run->before);
	free(run->result);
}

static int write_result(const struct lab_run *run, struct fault *fault)
{
	const char *path = run->arguments->output;
	json_t *document;
	int written = -1;

	if (path == NULL || strcmp(path, "-") != 0)
		run_result_print(run->result, stdout);
	if (path == NULL)
		return 0;
	document = run_result_json(run->result, run_config_json(&run->lab.config->run));
	if (document != NULL && strcmp(path, "-") == 0) {
		written = json_dumpf(document, stdout, JSON_INDENT(2));
		putchar('\n');
	} else if (document != NULL)
		written = json_dump_file(document, path, JSON_INDENT(2));
	json_decref(document);
	return written == 0 ? 0 : fault_set(fault, EIO, "%s: cannot be written", path);
}

/* Other processes of the lab run on other machines: what leaves this one may arrive there. */
static bool partial(const struct lab_run *run)
{
	return run->state.processes < run->lab.plan->processes;
}

static bool good(const struct lab_run *run)
{
	const struct run_result *result = run->result;

	return (result->lost | result->duplicated | result->out_of_order) == 0 &&
	       (partial(run) || under_way(result) == 0);
}

enum weft_exit cmd_lab_run(const struct lab_arguments *arguments)
{
	struct lab_run run = {.arguments = arguments};
	enum weft_exit code = lab_open_running(arguments, "lab run", &run.lab, &run.state);
	struct fault fault;
	int result;

	if (code != EXIT_DONE)
		return code;
	lab_catch_signals();
	result = connect_all(&run, &fault);
	if (result == 0)
		result = measure(&run, &fault);
	if (result == 0)
		result = write_result(&run, &fault);
	if (result == 0 && !good(&run))
		code = EXIT_BAD_ANSWER;
	disconnect_all(&run);
	lab_state_free(&run.state);
	lab_close(&run.lab);
	return result < 0 ? command_fail("lab run", fault_exit_code(result), "%s", fault.text)
			  : code;
}
