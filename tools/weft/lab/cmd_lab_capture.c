/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab capture: the process of the port writes into a FIFO, and this program copies it to
 * the output. A slow reader loses frames of the capture (they are counted) but never stalls the
 * switch. */

#include "cmd_lab.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS 100

struct capture_run {
	struct lab lab;
	struct lab_state state;
	struct lab_connection connection;
	char port[TOPOLOGY_NAME_MAX + 8];
	char fifo[400];
	int in, out;
	/* Of the thread that requests the end. */
	char answer[128];
	struct fault fault;
	int stopped;
};

/* --- copying --- */

static bool write_all(int out, const char *bytes, ssize_t count)
{
	while (count > 0) {
		ssize_t written = write(out, bytes, (size_t)count);

		if (written < 0 && errno == EINTR && !lab_interrupted())
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		count -= written;
	}
	return true;
}

/* Copies until the writer closes, the reader goes away, or a signal. False: stop the capture. */
static bool copy_some(struct capture_run *run)
{
	struct pollfd ready[2] = {{.fd = run->in, .events = POLLIN}, {.fd = run->out, .events = 0}};
	static char bytes[65536];
	ssize_t count;

	if (poll(ready, 2, LOOK_MS) < 0)
		return errno == EINTR;
	if (ready[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		return false;
	if (ready[0].revents == 0)
		return true;
	count = read(run->in, bytes, sizeof(bytes));
	if (count < 0)
		return errno == EAGAIN || errno == EINTR;
	return count > 0 && write_all(run->out, bytes, count);
}

/* Copies the rest while the writer ends, so that the writer need not wait. */
static void copy_rest(struct capture_run *run)
{
	static char bytes[65536];
	bool listening = true;

	for (;;) {
		struct pollfd ready = {.fd = run->in, .events = POLLIN};
		ssize_t count;

		if (poll(&ready, 1, LOOK_MS) <= 0) {
			if (__atomic_load_n(&run->stopped, __ATOMIC_ACQUIRE) != 0)
				return;
			continue;
		}
		count = read(run->in, bytes, sizeof(bytes));
		if (count == 0)
			return;
		if (count > 0)
			listening = listening && write_all(run->out, bytes, count);
	}
}

/* --- ordering --- */

static int order_start(struct capture_run *run, struct fault *fault)
{
	char command[600];

	snprintf(command, sizeof(command), "/weft/capture/start,%s,%s", run->port, run->fifo);
	return lab_order(&run->connection, command, NULL, 0, fault);
}

static void *order_stop(void *ctx)
{
	struct capture_run *run = ctx;
	char command[160];
	int result;

	snprintf(command, sizeof(command), "/weft/capture/stop,%s", run->port);
	result =
		lab_order(&run->connection, command, run->answer, sizeof(run->answer), &run->fault);
	__atomic_store_n(&run->stopped, result == 0 ? 1 : -1, __ATOMIC_RELEASE);
	return NULL;
}

/* --- opening --- */

static int open_fifo(struct capture_run *run, struct fault *fault)
{
	snprintf(run->fifo, sizeof(run->fifo), "%s/capture-%ld.fifo", run->state.dir,
		(long)getpid());
	if (mkfifo(run->fifo, 0600) != 0)
		return fault_set(fault, errno, "%s: %s", run->fifo, strerror(errno));
	run->in = open(run->fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return run->in < 0 ? fault_set(fault, errno, "%s: %s", run->fifo, strerror(errno)) : 0;
}

static int open_output(struct capture_run *run, const char *path, struct fault *fault)
{
	run->out = STDOUT_FILENO;
	if (path != NULL && strcmp(path, "-") != 0)
		run->out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	else if (isatty(STDOUT_FILENO))
		return fault_set(fault, EINVAL,
			"a capture is no text for a terminal: expected -o FILE, or a pipe into "
			"'wireshark -k -i -'");
	return run->out < 0 ? fault_set(fault, errno, "%s: %s", path, strerror(errno)) : 0;
}

static int find_process(struct capture_run *run, const char *link, struct fault *fault)
{
	const struct lab_record *record;
	struct topology_port port;
	const char *device;

	if (topology_find_port(run->lab.topology, link, &port) < 0)
		return fault_set(fault, EINVAL, "%s: no such port in %s, expected one such as s0:1",
			link, run->lab.path);
	topology_port_name(run->lab.topology, port, run->port, sizeof(run->port));
	device = port.kind == DEVICE_SWITCH ? run->lab.topology->switch_at[port.device].name
					    : run->lab.topology->host_at[port.device].name;
	record = lab_record_of(&run->lab, &run->state, device);
	if (record == NULL)
		return fault_set(fault, ENODEV, "%s: its process was not started here", run->port);
	return lab_connect(&run->connection, record->prefix, fault);
}

/* --- the whole --- */

static void report(const struct capture_run *run)
{
	unsigned long long offered = 0, dropped = 0;

	sscanf(run->answer, "offered %llu dropped %llu", &offered, &dropped);
	fprintf(stderr, "weft lab capture: %s: %llu frames captured, %llu dropped\n", run->port,
		offered - dropped, dropped);
}

static int capture(struct capture_run *run, struct fault *fault)
{
	pthread_t thread;
	int result = order_start(run, fault);

	if (result < 0)
		return result;
	while (!lab_interrupted() && copy_some(run))
		;
	result = pthread_create(&thread, NULL, order_stop, run);
	if (result != 0)
		return fault_set(fault, result, "no thread: %s", strerror(result));
	copy_rest(run);
	pthread_join(thread, NULL);
	if (run->stopped < 0) {
		*fault = run->fault;
		return -EIO;
	}
	report(run);
	return 0;
}

enum weft_exit cmd_lab_capture(const struct lab_arguments *arguments)
{
	struct capture_run run = {.in = -1, .out = -1, .connection = {.fd = -1}};
	enum weft_exit opened = lab_open_running(arguments, "lab capture", &run.lab, &run.state);
	struct fault fault;
	int result;

	if (opened != EXIT_DONE)
		return opened;
	lab_catch_signals();
	result = open_output(&run, arguments->output, &fault);
	if (result == 0)
		result = find_process(&run, arguments->link, &fault);
	if (result == 0)
		result = open_fifo(&run, &fault);
	if (result == 0)
		result = capture(&run, &fault);
	if (run.in >= 0)
		close(run.in);
	unlink(run.fifo);
	lab_disconnect(&run.connection);
	lab_state_free(&run.state);
	lab_close(&run.lab);
	return result < 0 ? command_fail("lab capture", fault_exit_code(result), "%s", fault.text)
			  : EXIT_DONE;
}
