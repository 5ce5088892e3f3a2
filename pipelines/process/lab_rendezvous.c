/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab_process.h"
#include "os/atomic_file.h"

#define STEP_MS      5
#define WAIT_MS      30000
#define GONE_MS      2000
#define LINGER_MS    100     /* for the loops of the other processes to end */
#define NOTICE_MS    30      /* for DPDK's interrupt thread to run on a busy machine */
#define LISTENING    0x10000 /* __SO_ACCEPTCON in /proc/net/unix */
#define PATH_BYTES   300
#define SOCKET_BYTES 256

/* --- clock --- */

static int read_clock(const char *path, struct clock *clock, struct error *error)
{
	char text[CLOCK_TEXT_SIZE];
	uint64_t unix_ns = 0;
	FILE *file = fopen(path, "re");
	int result;

	if (file == NULL)
		return -errno;
	if (fgets(text, sizeof(text), file) == NULL)
		text[0] = '\0';
	/* The captures of all processes use the same time base. */
	if (fscanf(file, "%" SCNu64, &unix_ns) != 1)
		unix_ns = 0;
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	result = clock_parse(clock, text, error);
	clock->unix_ns = unix_ns;
	return result;
}

static int write_clock(const char *own, const struct clock *clock, struct error *error)
{
	struct atomic_file file = {.path = own};
	char text[CLOCK_TEXT_SIZE];
	int result = atomic_file_open(&file, error);

	if (result < 0)
		return error_set(error, -result,
			"%s: %s; use a lab's run directory ('weft lab up' creates it)", own,
			strerror(-result));
	clock_format(clock, text);
	/* For captures and for programs in the hosts (lab_slow_time.h). */
	fprintf(file.file, "%s\n%" PRIu64 "\n", text, clock_unix_origin_ns(clock));
	return atomic_file_close(&file, error);
}

/* Creates the file with its complete contents. link() keeps the file of the first process. */
static int publish_clock(
	const char *path, const char *own, const struct clock *clock, struct error *error)
{
	int result = write_clock(own, clock, error);

	if (result == 0 && link(own, path) != 0 && errno != EEXIST)
		result = error_set(error, errno, "%s: %s", path, strerror(errno));
	unlink(own);
	return result;
}

/* Reads the clock, or starts it if there is none. */
static int find_clock(const char *path, uint32_t dilation, struct clock *clock, struct error *error)
{
	char own[PATH_BYTES + 16];
	int result = read_clock(path, clock, error);

	if (result != -ENOENT)
		return result;
	snprintf(own, sizeof(own), "%s.%ld", path, (long)getpid());
	clock_start(clock, dilation);
	result = publish_clock(path, own, clock, error);
	return result == 0 ? read_clock(path, clock, error) : result;
}

int lab_clock(const char *run_dir, uint32_t dilation, struct clock *clock, struct error *error)
{
	char path[PATH_BYTES];
	int result;

	snprintf(path, sizeof(path), "%s/clock", run_dir);
	result = find_clock(path, dilation, clock, error);
	if (result < 0 || clock->dilation == dilation)
		return result;
	return error_set(error, EINVAL,
		"%s: the lab's clock has dilation %u, but this process has %u; both must be the "
		"same",
		path, clock->dilation, dilation);
}

/* --- servers --- */

static void sleep_ms(int ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000L};

	nanosleep(&time, NULL);
}

/* Returns true if a process is listening on the socket. A new socket exists shortly before that. */
static bool listens(const char *path)
{
	FILE *file = fopen("/proc/net/unix", "re");
	char line[SOCKET_BYTES + 128], at[SOCKET_BYTES];
	bool found = false;
	unsigned flags;

	if (file == NULL)
		return access(path, F_OK) == 0;
	while (!found && fgets(line, sizeof(line), file) != NULL)
		found = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %255s", &flags, at) == 2 &&
			(flags & LISTENING) != 0 && strcmp(at, path) == 0;
	fclose(file);
	return found;
}

static int wait_server(const char *path, const atomic_bool *stop, struct error *error)
{
	for (int waited = 0; !listens(path); waited += STEP_MS) {
		if (atomic_load(stop))
			return error_set(error, EINTR, "interrupted");
		if (waited >= WAIT_MS)
			return error_set(error, ETIMEDOUT,
				"%s: no process is listening after %d s; is the process at the other end running?",
				path, WAIT_MS / 1000);
		sleep_ms(STEP_MS);
	}
	return 0;
}

/* Returns true if 'process' is the client of a memif link: the lower number is the server. */
static bool is_client(const struct lab_plan_link *link, unsigned process)
{
	if (link->kind != LAB_LINK_MEMIF)
		return false;
	return (link->process[0] == process && link->process[1] < process) ||
	       (link->process[1] == process && link->process[0] < process);
}

int lab_wait_servers(
	const struct lab_plan *plan, unsigned process, const atomic_bool *stop, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < plan->topology->links && result == 0; i++) {
		char path[SOCKET_BYTES];

		if (!is_client(&plan->link[i], process))
			continue;
		lab_plan_socket(plan, i, path, sizeof(path));
		result = wait_server(path, stop, error);
	}
	return result;
}

static bool has_memif(const struct lab_plan *plan, unsigned process)
{
	for (uint32_t i = 0; i < plan->topology->links; i++)
		if (plan->link[i].kind == LAB_LINK_MEMIF &&
			(plan->link[i].process[0] == process ||
				plan->link[i].process[1] == process))
			return true;
	return false;
}

void lab_wait_peers_gone(const struct lab_plan *plan, unsigned process)
{
	bool clients = false;
	int waited = 0;

	if (!has_memif(plan, process))
		return;
	sleep_ms(LINGER_MS);
	for (uint32_t i = 0; i < plan->topology->links; i++) {
		char path[SOCKET_BYTES];

		if (!is_client(&plan->link[i], process))
			continue;
		clients = true;
		lab_plan_socket(plan, i, path, sizeof(path));
		for (; listens(path) && waited < GONE_MS; waited += STEP_MS)
			sleep_ms(STEP_MS);
	}
	if (clients)
		sleep_ms(NOTICE_MS);
}

struct lab_applied {
	struct lab lab;
	const char **device; /* [2 * link + side] */
	struct lab_applied *before;
};

static int list_devices(struct lab_applied *applied, struct error *error)
{
	const struct lab_plan *plan = applied->lab.plan;

	applied->device = calloc(2 * (plan->topology->links + 1u), sizeof(*applied->device));
	if (applied->device == NULL)
		return error_set(error, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < 2 * plan->topology->links; i++)
		applied->device[i] = plan->link[i / 2].device[i % 2];
	return 0;
}

static void forget_last(struct lab_cables *cables)
{
	struct lab_applied *applied = cables->applied;

	cables->applied = applied->before;
	free(applied->device);
	lab_close(&applied->lab);
	free(applied);
}

int lab_cables_load(void *ctx, struct real_cabling *cabling, struct error *error)
{
	struct lab_cables *cables = ctx;
	struct lab_applied *applied = calloc(1, sizeof(*applied));
	char path[PATH_MAX];
	int result;

	if (applied == NULL)
		return error_set(error, ENOMEM, "out of memory");
	applied->before = cables->applied;
	cables->applied = applied;
	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, cables->run_dir);
	result = lab_open(&applied->lab, path, cables->run_dir, error);
	if (result == 0)
		result = list_devices(applied, error);
	if (result < 0) {
		forget_last(cables);
		return result;
	}
	*cabling = (struct real_cabling){.topology = applied->lab.topology,
		.run = &applied->lab.config->run,
		.device = applied->device};
	return 0;
}

void lab_cables_free(struct lab_cables *cables)
{
	while (cables->applied != NULL)
		forget_last(cables);
}
