/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_ending.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_query.h"

#define RECORD_BYTES 8192 /* longest record in /dev/kmsg; a shorter buffer makes the read fail */
#define COMM_MAX     15   /* characters of a program's name that the kernel keeps */
#define REAP_MS      2000
#define STEP_MS      5

/* "6,339,5140900,-;Out of memory: Killed process 712 (weft-switch) total-vm:…" */
bool lab_ending_names(const char *line, const char *program, pid_t pid, uint64_t since_us)
{
	const char *killed = strstr(line, "Killed process ");
	char name[COMM_MAX + 1];
	uint64_t at_us;
	long victim;

	if (killed == NULL || sscanf(line, "%*u,%*u,%" SCNu64, &at_us) != 1 ||
		sscanf(killed, "Killed process %ld (%15[^)]", &victim, name) != 2)
		return false;
	return victim == (long)pid && at_us >= since_us && strncmp(name, program, COMM_MAX) == 0;
}

/* Start of a process in the log's time, minus a second, because the two clocks differ a little. */
static uint64_t started_us(const struct lab_record *record)
{
	uint64_t us = record->start * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);

	return us > 1000000 ? us - 1000000 : 0;
}

bool lab_ending_in_log(const struct lab_record *record)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	uint64_t since_us = started_us(record);
	char line[RECORD_BYTES];
	bool found = false;
	ssize_t length;

	if (fd < 0)
		return false;
	/* EPIPE: records were overwritten meanwhile; the next read continues after them. */
	while ((length = read(fd, line, sizeof(line) - 1)) > 0 || (length < 0 && errno == EPIPE)) {
		line[length > 0 ? length : 0] = '\0';
		found |= lab_ending_names(line, record->program, record->pid, since_us);
	}
	close(fd);
	return found;
}

void lab_ending_describe(int status, bool memory, char out[LAB_ENDING_TEXT])
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number != 0)
		snprintf(out, LAB_ENDING_TEXT, "was killed by signal %d (%s)", number,
			number == SIGKILL
				? (memory ? "the kernel's out-of-memory killer: see dmesg"
					  : "SIGKILL; if memory was short, by the kernel: see dmesg")
				: strsignal(number));
	else
		snprintf(out, LAB_ENDING_TEXT, "has ended with exit code %d", WEXITSTATUS(status));
}

void lab_ending_find(const struct lab_record *record, char out[LAB_ENDING_TEXT])
{
	bool memory = lab_ending_in_log(record);
	int status;
	pid_t reaped;

	/* Reaps a child. Its main thread may have ended some milliseconds before the others. */
	reaped = waitpid(record->pid, &status, WNOHANG);
	for (int waited = 0; reaped == 0 && waited < REAP_MS; waited += STEP_MS) {
		lab_sleep_ms(STEP_MS);
		reaped = waitpid(record->pid, &status, WNOHANG);
	}
	if (reaped == record->pid)
		lab_ending_describe(status, memory, out);
	else if (memory)
		lab_ending_describe(SIGKILL, memory, out);
	else
		snprintf(out, LAB_ENDING_TEXT, "has ended");
}
