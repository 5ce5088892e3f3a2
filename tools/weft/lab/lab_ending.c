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

#define PATH_BYTES   640
#define LINE_BYTES   512
#define RECORD_BYTES 8192 /* longest record in /dev/kmsg; a shorter buffer makes the read fail */
#define COMM_MAX     15   /* characters of a program's name that the kernel keeps */
#define REAP_MS      2000
#define STEP_MS      5

/* --- counts --- */

/* The value of "NAME VALUE" in a file; 0 without. */
static uint64_t read_value(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	char word[64];
	uint64_t value, found = 0;

	if (file == NULL)
		return 0;
	while (fscanf(file, "%63s %" SCNu64, word, &value) == 2)
		if (strcmp(word, name) == 0)
			found = value;
	fclose(file);
	return found;
}

/* "4:memory:/a/b" of the first hierarchy, "0::/a/b" of the second. */
static uint64_t read_group(char *line)
{
	char path[PATH_BYTES], *controllers = strchr(line, ':'), *group;

	line[strcspn(line, "\n")] = '\0';
	group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (group == NULL)
		return 0;
	*group++ = '\0';
	if (strcmp(controllers, ":memory") == 0)
		snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.oom_control", group);
	else if (strcmp(controllers, ":") == 0)
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.events", group);
	else
		return 0;
	return read_value(path, "oom_kill");
}

/* A container may show only the counts of its own group. */
uint64_t lab_ending_kills(void)
{
	uint64_t kills = read_value("/proc/vmstat", "oom_kill");
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[LINE_BYTES];

	if (file == NULL)
		return kills;
	while (fgets(line, sizeof(line), file) != NULL)
		kills += read_group(line);
	fclose(file);
	return kills;
}

/* --- the kernel's log --- */

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

/* --- words --- */

static const char *killed_why(enum lab_memory memory)
{
	switch (memory) {
	case LAB_MEMORY_NAMED:
		return "the kernel's out-of-memory killer: see dmesg";
	case LAB_MEMORY_KILLS:
		return "the kernel's out-of-memory killer has ended a process meanwhile: see dmesg";
	default:
		return "SIGKILL; if memory was short, by the kernel: see dmesg";
	}
}

void lab_ending_describe(int status, enum lab_memory memory, char out[LAB_ENDING_TEXT])
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number != 0)
		snprintf(out, LAB_ENDING_TEXT, "was killed by signal %d (%s)", number,
			number == SIGKILL ? killed_why(memory) : strsignal(number));
	else
		snprintf(out, LAB_ENDING_TEXT, "has ended with exit code %d", WEXITSTATUS(status));
}

void lab_ending_find(const struct lab_record *record, uint64_t kills, char out[LAB_ENDING_TEXT])
{
	enum lab_memory memory = LAB_MEMORY_UNKNOWN;
	bool known;
	int status;
	pid_t reaped;

	if (lab_ending_in_log(record))
		memory = LAB_MEMORY_NAMED;
	else if (lab_ending_kills() > kills)
		memory = LAB_MEMORY_KILLS;
	/* Reaps a child. Its main thread may have ended some milliseconds before the others. */
	reaped = waitpid(record->pid, &status, WNOHANG);
	for (int waited = 0; reaped == 0 && waited < REAP_MS; waited += STEP_MS) {
		lab_sleep_ms(STEP_MS);
		reaped = waitpid(record->pid, &status, WNOHANG);
	}
	known = reaped == record->pid;
	if (known)
		lab_ending_describe(status, memory, out);
	else if (memory == LAB_MEMORY_NAMED)
		lab_ending_describe(SIGKILL, memory, out);
	else
		snprintf(out, LAB_ENDING_TEXT, "has ended");
}
