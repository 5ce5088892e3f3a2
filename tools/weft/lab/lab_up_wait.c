/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up: waits until the processes are up, and reports why they are not. */

#include "lab_up.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "common/kernel_view.h"
#include "lab_query.h"
#include "lab_ready.h"
#include "lab_spawn.h"
#include "lab_state.h"

#define STEP_MS   20
#define LOG_LINES 10
/* Time for the kernel to reclaim the memory of a killed process. */
#define ENDING_MS 2000

static void show_lines(const struct lab_record *record, const char *log)
{
	const char *line = log + strlen(log);

	for (unsigned lines = 0; line > log; line--)
		if (line[-1] == '\n' && *line != '\0' && ++lines == LOG_LINES)
			break;
	for (; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
		fprintf(stderr, "  %s: %.*s\n", record->name, (int)strcspn(line, "\n"), line);
}

static void show_log(const struct lab_up *up, const struct lab_record *record)
{
	char *log = lab_log_read(&up->state, record, NULL);

	if (log != NULL)
		show_lines(record, log);
	free(log);
}

/* Prints ": WHY" from the log of a process that ended by itself, then the rest of the log. */
static void tell_log(const struct lab_up *up, const struct lab_record *record, char why[ERROR_TEXT])
{
	char *log = lab_log_read(&up->state, record, NULL), error[ERROR_TEXT];
	struct statvfs disk;

	why[0] = '\0';
	if (log != NULL && lab_log_take_error(log, record->program, error))
		snprintf(why, ERROR_TEXT, ": %s", error);
	else if (log != NULL && log[0] == '\0' && statvfs(up->state.dir, &disk) == 0 &&
		 disk.f_bavail == 0)
		snprintf(why, ERROR_TEXT, ": no space left in %s, not even for its log",
			up->state.dir);
	if (log != NULL)
		show_lines(record, log);
	free(log);
}

/* Returns true if all of its links are up or, if it was restarted, any link, because the others may
 * be down for other reasons. */
static bool is_ready(const struct lab_up *up, const struct lab_record *record)
{
	struct lab_ready ready;

	lab_ready_ask(record, up->elsewhere, &ready);
	if (up->arguments->alone)
		return ready.links > 0 && ready.up + ready.away >= ready.links;
	return ready.up > 0 && ready.up >= (up->again ? 1 : ready.links);
}

/* Returns whether this command started the process. */
static bool is_ours(const struct lab_up *up, const struct lab_record *record)
{
	int number = lab_plan_find(up->lab.plan, record->name);

	return !up->again || (number >= 0 && lab_up_wants(up, (unsigned)number));
}

static int fail_ended(const struct lab_up *up, const struct lab_record *record, struct error *error)
{
	char how[LAB_ENDING_TEXT], why[ERROR_TEXT] = "";

	lab_ending_find(record, how);
	if (strstr(how, "killed") == NULL)
		tell_log(up, record, why);
	else
		show_log(up, record);
	return error_set(error, ENODEV, "%s (%s) %s%s", record->name, record->program, how, why);
}

/* Returns the number of processes that are not ready, or -errno if one of them ended. */
static int look(struct lab_up *up, struct error *error)
{
	int missing = 0;

	for (unsigned i = 0; i < up->state.processes; i++) {
		const struct lab_record *record = &up->state.process[i];

		if (!is_ours(up, record))
			continue;
		if (!lab_record_alive(record))
			return fail_ended(up, record, error);
		if (!up->ready[i])
			up->ready[i] = is_ready(up, record);
		missing += !up->ready[i];
	}
	return missing;
}

/* The reason why the first process is not ready: a process that starts slowly also keeps its links
 * down. */
struct missing {
	unsigned slow; /* processes that have not opened their ports */
	const struct lab_record *first_slow;
	bool answers; /* the EAL of 'first_slow' answers */
	struct lab_ready first_linkless;
	size_t ends; /* link ends that are not up */
};

static void count_missing(const struct lab_up *up, struct missing *missing)
{
	*missing = (struct missing){.slow = 0};
	for (unsigned i = 0; i < up->state.processes; i++) {
		const struct lab_record *record = &up->state.process[i];
		struct lab_ready ready;

		if (up->ready[i] || !is_ours(up, record))
			continue;
		show_log(up, record);
		lab_ready_ask(record, up->elsewhere, &ready);
		missing->ends += ready.links - ready.up;
		if (ready.links == 0 && missing->slow++ == 0) {
			missing->first_slow = record;
			missing->answers = ready.answers;
		}
		/* "": its last links came up after the last check. */
		if (missing->first_linkless.why[0] == '\0')
			missing->first_linkless = ready;
	}
}

/* Writes "; this machine is short of CPU time: …" if a process that is not ready got less than
 * half of the CPU time that it needs; otherwise "". */
static void tell_starved(const struct lab_up *up, unsigned dilation, char text[ERROR_TEXT])
{
	uint64_t longest = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < up->state.processes; i++) {
		const struct lab_record *record = &up->state.process[i];
		struct cpu_times cpu;

		if (up->ready[i] || !is_ours(up, record) ||
			!kernel_cpu_times(record->pid, record->pid, &cpu) ||
			!cpu_times_are_short(&cpu, dilation + 1) || cpu.wait_ns <= longest)
			continue;
		longest = cpu.wait_ns;
		snprintf(text, ERROR_TEXT,
			"; this machine is short of CPU time: %s ran for %.1f s and waited for a CPU for %.1f s; end other programs or use fewer processes ('processes: one')",
			record->name, (double)cpu.run_ns / 1e9, (double)cpu.wait_ns / 1e9);
	}
}

static int fail_slow(const struct lab_up *up, const struct missing *missing, struct error *error)
{
	char more[64] = "", starved[ERROR_TEXT];

	tell_starved(up, 1, starved);
	if (missing->slow > 1)
		snprintf(more, sizeof(more), " and neither have %u other processes",
			missing->slow - 1);
	return error_set(error, ETIMEDOUT,
		"after %" PRIu64
		" ms %s has not started its ports%s%s%s (the end of its log, if any, is above); use a longer --wait",
		up->arguments->wait_ps / PS_PER_MS, missing->first_slow->name, more,
		starved[0] != '\0' ? ""
		: missing->answers ? ": DPDK has started, and the ports are being opened"
				   : ": DPDK has not started yet",
		starved);
}

static int fail_not_ready(const struct lab_up *up, struct error *error)
{
	struct missing missing;
	char more[64] = "", starved[ERROR_TEXT];

	count_missing(up, &missing);
	if (missing.slow > 0)
		return fail_slow(up, &missing, error);
	if (missing.ends > 1)
		snprintf(more, sizeof(more), "; %zu more link ends are not up", missing.ends - 1);
	tell_starved(up, up->lab.config->run.dilation, starved);
	return error_set(error, ETIMEDOUT, "after %" PRIu64 " ms %s%s%s; use a longer --wait",
		up->arguments->wait_ps / PS_PER_MS,
		missing.first_linkless.why[0] != '\0' ? missing.first_linkless.why
						      : "the last links came up",
		more, starved);
}

static int wait_ready(struct lab_up *up, uint64_t deadline, struct error *error)
{
	int missing;

	while ((missing = look(up, error)) > 0) {
		if (lab_interrupted())
			return error_set(error, EINTR, "interrupted");
		if (lab_now_ms() > deadline)
			return fail_not_ready(up, error);
		lab_sleep_ms(STEP_MS);
	}
	return missing;
}

/* Returns 'result', unless a process ended in the meantime, which is then the reason. A killed
 * process stops answering before it is gone. */
static int blame_ended(const struct lab_up *up, int result, int patience_ms, struct error *error)
{
	for (int waited = 0; waited <= patience_ms; waited += STEP_MS) {
		for (unsigned i = 0; i < up->state.processes; i++) {
			const struct lab_record *record = &up->state.process[i];

			if (is_ours(up, record) && !lab_record_alive(record))
				return fail_ended(up, record, error);
		}
		lab_sleep_ms(STEP_MS);
	}
	return result;
}

static int wait_mapped(struct lab_up *up, uint64_t deadline, struct error *error)
{
	uint64_t now = lab_now_ms();
	struct error why;
	int result = lab_wait_mapped(&up->lab, &up->state, false,
		deadline > now ? deadline - now : 0, &up->mapper, &why);

	if (result == 0)
		return 0;
	if (result == -ETIMEDOUT)
		error_set(error, ETIMEDOUT,
			"after %" PRIu64 " ms %s; use a longer --wait for the mapper",
			up->arguments->wait_ps / PS_PER_MS, why.text);
	else
		*error = why;
	if (result == -EINTR)
		return result;
	return result == -ETIMEDOUT ? blame_ended(up, result, 0, error)
				    : blame_ended(up, -ENODEV, ENDING_MS, error);
}

/* Checked at the end: a fabric with exhausted pools reports links as up for seconds. */
static int check_pools(struct lab_up *up, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < up->state.processes && result == 0; i++)
		if (is_ours(up, &up->state.process[i]))
			result = lab_pools_check(&up->state.process[i], error);
	up->exhausted = result == -ENOBUFS;
	return result == 0 || up->exhausted ? result : blame_ended(up, -ENODEV, ENDING_MS, error);
}

static uint64_t deadline_of(const struct lab_up *up)
{
	return lab_now_ms() + lab_real_ms(&up->lab, up->arguments->wait_ps);
}

int lab_up_wait_links(struct lab_up *up, struct error *error)
{
	int result = wait_ready(up, deadline_of(up), error);

	return result == 0 ? check_pools(up, error) : result;
}

int lab_up_wait_whole(struct lab_up *up, struct error *error)
{
	uint64_t deadline = deadline_of(up);
	int result = wait_ready(up, deadline, error);
	uint64_t linked = lab_now_ms();

	if (result == 0 && !up->arguments->alone)
		result = wait_mapped(up, deadline, error);
	up->mapped_ms = lab_now_ms() - linked;
	return result == 0 ? check_pools(up, error) : result;
}
