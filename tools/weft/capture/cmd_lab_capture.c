/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab capture: the process of each port writes into a FIFO, and this program merges the
 * streams. If the reader is slow, frames are dropped and counted, but the switch never stalls. */

#include "lab/cmd_lab.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_filter.h"
#include "pcapng_merge.h"

#define COMMAND "lab capture"
#define LOOK_MS 100
#define END_MS  8000  /* silence after which a machine's captures count as ended */
#define REST_MS 60000 /* maximum time for sending frames that were already captured */

/* A captured port. */
struct tap {
	char port[TOPOLOGY_NAME_MAX + 8];
	char fifo[400];
	int in; /* -1: the stream has ended */
	struct lab_connection *connection;
	struct pcapng_merge_stream stream;
	bool started;
	/* For all captured ports of another machine: a session that forwards their capture. */
	const struct lab_remote *machine; /* NULL: a port of this machine */
	struct lab_remote session;
	json_t *ports;
	uint64_t heard_ms; /* when the machine last sent data */
	/* Used by the thread that requests the end of captures. */
	char answer[128];
};

struct capture_run {
	struct lab lab;
	struct lab_state state;
	struct lab_connection *connection; /* [process of the state]; fd -1: not connected */
	struct tap *tap;
	struct pollfd *ready; /* [taps + 1] */
	unsigned taps;
	const struct lab_arguments *arguments;
	char filter[CAPTURE_FILTER_TEXT];       /* "": all frames */
	char chosen[CAPTURE_FILTER_WORDS + 32]; /* --filter, --where, --count; "": none */
	struct capture_limits limits;
	struct capture_output output;
	uint64_t end_ms; /* when --duration ends */
	struct pcapng_merge merge;
	/* The first failure while copying: 0, or -errno and its description. A reader that closes
	 * the output is not a failure. */
	int failed;
	struct error why;
	/* Used by the thread that requests the end of captures. */
	struct error error;
	int stopped;
	uint64_t ending_ms; /* when ending the captures began */
};

/* --- copying --- */

static void end_tap(struct tap *tap)
{
	if (tap->machine == NULL)
		close(tap->in);
	tap->in = -1;
}

/* 'result' is the error from pcapng_merge_add(). */
static void note_failure(struct capture_run *run, const struct tap *tap, int result)
{
	bool written = result == -EIO;

	if (run->failed != 0 ||
		(written && (run->output.write_errno == EPIPE || run->output.write_errno == EINTR)))
		return;
	run->failed = result;
	if (written)
		error_set(&run->why, EIO, "%s: cannot be written: %s", run->output.path,
			strerror(run->output.write_errno));
	else
		error_set(&run->why, -result, "%s: %s",
			tap->machine != NULL ? tap->machine->target.name : tap->port,
			result == -EPROTO ? "not a pcapng stream" : "out of memory");
}

/* Copies the bytes that a port has written. On a write error, returns false and reads no more from
 * the port. */
static bool copy_tap(struct capture_run *run, struct tap *tap)
{
	static char bytes[65536];
	ssize_t count = read(tap->in, bytes, sizeof(bytes));

	if (count < 0)
		return errno == EAGAIN || errno == EINTR;
	if (count > 0) {
		int result = pcapng_merge_add(&run->merge, &tap->stream, bytes, (size_t)count);

		tap->heard_ms = lab_now_ms();
		if (result == 0)
			return true;
		note_failure(run, tap, result);
	}
	end_tap(tap);
	return count == 0;
}

static int wait_ready(struct capture_run *run)
{
	uint64_t now = lab_now_ms(), left_ms = now < run->end_ms ? run->end_ms - now : LOOK_MS;

	for (unsigned i = 0; i < run->taps; i++)
		run->ready[i] = (struct pollfd){.fd = run->tap[i].in, .events = POLLIN};
	run->ready[run->taps] = (struct pollfd){.fd = run->output.fd, .events = 0};
	return poll(run->ready, run->taps + 1, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
}

static unsigned count_open(const struct capture_run *run)
{
	unsigned open = 0;

	for (unsigned i = 0; i < run->taps; i++)
		open += run->tap[i].in >= 0;
	return open;
}

/* Counts the machines that are still capturing, because ending a capture takes time. */
static unsigned count_open_there(const struct capture_run *run)
{
	unsigned open = 0;

	for (unsigned i = 0; i < run->taps; i++)
		open += run->tap[i].in >= 0 && run->tap[i].machine != NULL;
	return open;
}

/* Copies until all writers close, the reader closes the output, a limit is reached, or a signal
 * arrives. Returns false to stop the capture. */
static bool copy_some(struct capture_run *run)
{
	bool good = true;

	if (wait_ready(run) < 0)
		return errno == EINTR;
	if (run->ready[run->taps].revents & (POLLERR | POLLHUP | POLLNVAL))
		return false;
	for (unsigned i = 0; i < run->taps && good; i++)
		if (run->ready[i].revents != 0)
			good = copy_tap(run, &run->tap[i]);
	return good && count_open(run) > 0 && !capture_output_is_full(&run->output) &&
	       lab_now_ms() < run->end_ms;
}

/* Returns whether the machine is silent, or still capturing because it got no stop request. */
static bool is_overdue(const struct capture_run *run, unsigned i)
{
	const struct tap *tap = &run->tap[i];
	uint64_t now = lab_now_ms(), ending = run->ending_ms;
	uint64_t heard = tap->heard_ms > ending ? tap->heard_ms : ending;

	return (run->ready[i].revents == 0 && now - heard > END_MS) || now - ending > REST_MS;
}

/* Stops reading from overdue machines, or from all machines after a signal. finish_there() reports
 * them. */
static void end_taps_there(struct capture_run *run)
{
	for (unsigned i = 0; i < run->taps; i++) {
		struct tap *tap = &run->tap[i];

		if (tap->machine != NULL && tap->in >= 0 &&
			(lab_interrupted() || is_overdue(run, i)))
			end_tap(tap);
	}
}

/* Copies the remaining frames while the writers end, so that they do not block. A slow machine gets
 * extra time, which a second signal ends. Without a reader, remaining frames are dropped. */
static void copy_rest(struct capture_run *run)
{
	run->ending_ms = lab_now_ms();
	while (count_open(run) > 0) {
		int ready = wait_ready(run);

		end_taps_there(run);
		if (ready <= 0 || (ready == 1 && run->ready[run->taps].revents != 0)) {
			if (__atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE) != 0 &&
				count_open_there(run) == 0)
				return;
			if (ready > 0)
				lab_sleep_ms(1);
			continue;
		}
		for (unsigned i = 0; i < run->taps; i++)
			if (run->ready[i].revents != 0 && run->tap[i].in >= 0)
				copy_tap(run, &run->tap[i]);
	}
}

/* --- start and stop requests --- */

static int start_there(const struct lab_arguments *arguments, struct tap *tap, struct error *error)
{
	int result = lab_remote_send(&tap->session,
		json_pack("{s:s,s:O,s:s*,s:s*,s:s*}", "op", "capture", "ports", tap->ports,
			"filter", arguments->filter, "where", arguments->where, "snaplen",
			arguments->snaplen),
		error);

	tap->started = result == 0;
	return result;
}

static int order_start(const struct capture_run *run, struct tap *tap, struct error *error)
{
	char command[CAPTURE_FILTER_TEXT + sizeof(tap->port) + sizeof(tap->fifo) + 32];
	int result;

	if (tap->machine != NULL)
		return start_there(run->arguments, tap, error);
	snprintf(command, sizeof(command), "/weft/capture/%s%s,%s,%s",
		run->filter[0] != '\0' ? "filter," : "start", run->filter, tap->port, tap->fifo);
	result = lab_order(tap->connection, command, NULL, 0, error);
	tap->started = result == 0;
	return result;
}

static void *order_stop(void *ctx)
{
	struct capture_run *run = ctx;
	char command[160];
	int result = 0;

	for (unsigned i = 0; i < run->taps; i++) {
		struct tap *tap = &run->tap[i];
		struct error error;

		if (!tap->started)
			continue;
		if (tap->machine != NULL) {
			lab_remote_interrupt(&tap->session);
			continue;
		}
		snprintf(command, sizeof(command), "/weft/capture/stop,%s", tap->port);
		if (lab_order(tap->connection, command, tap->answer, sizeof(tap->answer), &error) ==
			0)
			continue;
		result = -EIO;
		run->error = error;
	}
	__atomic_store_n(&run->stopped, result == 0 ? 1 : -1, __ATOMIC_RELEASE);
	return NULL;
}

/* --- opening --- */

static int open_session(struct capture_run *run, struct tap *tap, struct error *error)
{
	json_t *greeting;

	lab_remote_start(&tap->session, &tap->machine->target, run->lab.plan->lab);
	greeting = lab_remote_greeted(&tap->session, LAB_REMOTE_GREET_MS, error);
	json_decref(greeting);
	tap->in = tap->session.fd;
	return tap->in < 0 ? -EHOSTUNREACH : 0;
}

static int open_fifo(struct capture_run *run, struct tap *tap, struct error *error)
{
	if (tap->machine != NULL)
		return open_session(run, tap, error);
	snprintf(tap->fifo, sizeof(tap->fifo), "%s/capture-%ld-%u.fifo", run->state.dir,
		(long)getpid(), (unsigned)(tap - run->tap));
	if (mkfifo(tap->fifo, 0600) != 0)
		return error_set(error, errno, "%s: %s", tap->fifo, strerror(errno));
	tap->in = open(tap->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return tap->in < 0 ? error_set(error, errno, "%s: %s", tap->fifo, strerror(errno)) : 0;
}

static const struct lab_record *record_of(const struct capture_run *run, struct topology_port port)
{
	return lab_record_of(&run->lab, &run->state, topology_device_name(run->lab.topology, port));
}

/* All ports of a machine share one session. */
static int add_port_there(struct capture_run *run, const struct lab_remote *machine,
	const char *port, struct error *error)
{
	struct tap *tap = &run->tap[run->taps];

	for (unsigned i = 0; i < run->taps; i++)
		if (run->tap[i].machine == machine)
			tap = &run->tap[i];
	if (tap->machine == NULL) {
		*tap = (struct tap){.in = -1,
			.machine = machine,
			.ports = json_array(),
			.session = {.fd = -1, .said = -1, .pid = -1}};
		run->taps++;
	}
	for (size_t i = 0; i < json_array_size(tap->ports); i++)
		if (strcmp(json_string_value(json_array_get(tap->ports, i)), port) == 0)
			return error_set(error, EINVAL, "%s is listed twice", port);
	json_array_append_new(tap->ports, json_string(port));
	return 0;
}

static int add_tap(struct capture_run *run, struct topology_port port, struct error *error)
{
	struct tap *tap = &run->tap[run->taps];
	const struct lab_record *record = record_of(run, port);
	char name[sizeof(tap->port)];
	int result;

	topology_port_name(run->lab.topology, port, name, sizeof(name));
	if (record != NULL && record->remote != NULL)
		return add_port_there(run, record->remote, name, error);
	*tap = (struct tap){.in = -1};
	memcpy(tap->port, name, sizeof(name));
	for (unsigned i = 0; i < run->taps; i++)
		if (strcmp(run->tap[i].port, tap->port) == 0)
			return error_set(error, EINVAL, "%s is listed twice", tap->port);
	if (record == NULL)
		return error_set(error, ENODEV,
			"%s: the process of this port was not started on this machine", tap->port);
	/* DPDK's telemetry allows few connections, so all ports of a process share one. */
	tap->connection = &run->connection[record - run->state.process];
	result = tap->connection->fd >= 0 ? 0 : lab_connect(tap->connection, record, error);
	run->taps += result == 0;
	return result;
}

/* Adds both ends of all links whose processes run on this machine. */
static int add_all(struct capture_run *run, struct error *error)
{
	const struct topology *topology = run->lab.topology;
	int result = 0;

	for (uint32_t i = 0; i < topology->links && result == 0; i++) {
		const struct topology_link *link = &topology->link_at[i];

		if (record_of(run, link->a) != NULL)
			result = add_tap(run, link->a, error);
		if (result == 0 && record_of(run, link->b) != NULL)
			result = add_tap(run, link->b, error);
	}
	return result;
}

static int add_named(struct capture_run *run, const char *name, struct error *error)
{
	struct topology_port port;

	if (topology_find_port(run->lab.topology, name, &port) < 0 ||
		topology_link_at(run->lab.topology, port) == NULL)
		return error_set(error, EINVAL,
			"%s: no such port with a cable in %s; use one such as s0:1", name,
			run->lab.path);
	return add_tap(run, port, error);
}

static bool filters(const struct capture_run *run)
{
	return run->arguments->filter != NULL || run->arguments->where != NULL;
}

static int open_taps(
	struct capture_run *run, const struct lab_arguments *arguments, struct error *error)
{
	bool all = arguments->words == 1 && strcmp(arguments->word[0], "all") == 0;
	unsigned max = all ? 2 * run->lab.topology->links : arguments->words;
	int result = 0;

	run->connection = calloc(run->state.processes + 1, sizeof(*run->connection));
	run->tap = calloc(max + 1, sizeof(*run->tap));
	run->ready = calloc(max + 1, sizeof(*run->ready));
	if (run->connection == NULL || run->tap == NULL || run->ready == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (unsigned i = 0; i < run->state.processes; i++)
		run->connection[i].fd = -1;
	if (all)
		result = add_all(run, error);
	for (unsigned i = 0; !all && i < arguments->words && result == 0; i++)
		result = add_named(run, arguments->word[i], error);
	for (unsigned i = 0; i < run->taps && result == 0; i++) {
		/* Another machine adds its filter to the stream itself. */
		if (run->chosen[0] != '\0' && (run->tap[i].machine == NULL || !filters(run)))
			run->tap[i].stream.filter = run->chosen;
		result = open_fifo(run, &run->tap[i], error);
	}
	return result;
}

/* --- command --- */

static void report(const struct capture_run *run)
{
	unsigned long long offered, dropped;

	for (unsigned i = 0; i < run->taps; i++) {
		if (run->tap[i].machine != NULL)
			continue;
		offered = dropped = 0;
		if (sscanf(run->tap[i].answer, "offered %llu dropped %llu", &offered, &dropped) !=
			2) {
			fprintf(stderr,
				"weft lab capture: %s: the capture ended when the reader closed the output\n",
				run->tap[i].port);
			continue;
		}
		fprintf(stderr, "weft lab capture: %s: %llu frames captured, %llu dropped\n",
			run->tap[i].port, offered - dropped, dropped);
	}
}

/* Collects the reports of the machines: what they captured, or why they failed. */
static int finish_there(struct capture_run *run, struct error *error)
{
	char said[LAB_REMOTE_SAID];
	int result = 0, code;

	for (unsigned i = 0; i < run->taps; i++) {
		struct tap *tap = &run->tap[i];

		if (tap->machine == NULL)
			continue;
		code = lab_remote_finish(&tap->session, said);
		if (code != EXIT_DONE && code != EXIT_INTERRUPTED)
			result = error_set(error, EIO, "machine %s stopped capturing early",
				tap->machine->target.name);
		fputs(said, stderr);
	}
	return result;
}

/* A broken session has closed its descriptor. A session that was not asked to capture sends no end
 * of a stream. */
static void leave_unstarted(struct capture_run *run)
{
	for (unsigned i = 0; i < run->taps; i++)
		if (run->tap[i].machine != NULL && !run->tap[i].started)
			run->tap[i].in = -1;
}

static int capture(struct capture_run *run, struct error *error)
{
	pthread_t thread;
	int result = 0, started = 0;

	for (unsigned i = 0; i < run->taps && started == 0; i++)
		started = order_start(run, &run->tap[i], error);
	/* An existing capture file is replaced only here. */
	if (started == 0)
		started = capture_output_begin(&run->output, error);
	if (run->arguments->duration_ps != WEFT_TIME_NEVER)
		run->end_ms = lab_now_ms() + lab_real_ms(&run->lab, run->arguments->duration_ps);
	while (started == 0 && !lab_interrupted() && copy_some(run))
		;
	leave_unstarted(run);
	lab_forget_interrupt();
	result = pthread_create(&thread, NULL, order_stop, run);
	if (result != 0)
		return error_set(error, result, "cannot start a thread: %s", strerror(result));
	copy_rest(run);
	pthread_join(thread, NULL);
	if (started < 0)
		return started;
	/* Checked before 'stopped': if the frames of a port are not read, the port ends its own
	 * capture. */
	if (run->failed != 0) {
		*error = run->why;
		return run->failed;
	}
	/* A port also ends its capture if the reader of the output closed it. */
	if (run->stopped < 0 && run->output.write_errno != EPIPE) {
		*error = run->error;
		return -EIO;
	}
	report(run);
	return finish_there(run, error);
}

static void close_taps(struct capture_run *run)
{
	for (unsigned i = 0; i < run->taps; i++) {
		if (run->tap[i].machine != NULL)
			lab_remote_close(&run->tap[i].session);
		else if (run->tap[i].in >= 0)
			close(run->tap[i].in);
		json_decref(run->tap[i].ports);
		if (run->tap[i].fifo[0] != '\0')
			unlink(run->tap[i].fifo);
		pcapng_merge_end(&run->tap[i].stream);
	}
	for (unsigned i = 0; run->connection != NULL && i < run->state.processes; i++)
		lab_disconnect(&run->connection[i]);
	free(run->connection);
	free(run->ready);
	free(run->tap);
}

/* Parses the limits of the output, and the filter for the processes. */
static int read_arguments(struct capture_run *run, struct error *error)
{
	const struct lab_arguments *arguments = run->arguments;
	struct capture_filter filter;
	int result = capture_expression_parse(
		&filter, arguments->filter, arguments->where, run->lab.topology, error);

	run->limits.frames = arguments->count;
	if (result == 0 && arguments->rotate != NULL)
		result = capture_limits_parse(&run->limits, arguments->rotate, error);
	if (arguments->snaplen != NULL)
		filter.snap_bytes = (uint32_t)strtoul(arguments->snaplen, NULL, 10);
	if (result == 0 && (filters(run) || arguments->snaplen != NULL))
		capture_filter_write(&filter, run->filter);
	if (result == 0 && arguments->count > 0)
		snprintf(run->chosen, sizeof(run->chosen), "%s%s--count %" PRIu64, filter.text,
			filter.text[0] != '\0' ? " " : "", arguments->count);
	else if (result == 0)
		snprintf(run->chosen, sizeof(run->chosen), "%s", filter.text);
	return result;
}

enum weft_exit cmd_lab_capture(const struct lab_arguments *arguments)
{
	struct capture_run run = {.arguments = arguments,
		.output.fd = -1,
		.end_ms = UINT64_MAX,
		.merge = {.write = capture_output_write, .ctx = &run.output}};
	enum weft_exit opened = lab_open_running(arguments, COMMAND, &run.lab, &run.state);
	struct error error;
	int result;

	if (opened != EXIT_DONE)
		return opened;
	lab_catch_signals();
	result = read_arguments(&run, &error);
	if (result == 0)
		result = open_taps(&run, arguments, &error);
	if (result == 0)
		result = capture_output_open(&run.output, arguments->output, &run.limits, &error);
	if (result == 0)
		result = capture(&run, &error);
	if (result == 0)
		result = capture_output_close(&run.output, &error);
	close_taps(&run);
	lab_state_free(&run.state);
	lab_close(&run.lab);
	return result < 0 ? command_error(COMMAND, result, &error) : EXIT_DONE;
}
