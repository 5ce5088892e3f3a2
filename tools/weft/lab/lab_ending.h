/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Why a process of a lab ended. 'weft lab up', its parent, gets the exit status. After that init
 * reaps the process, and only the kernel's log may have the reason. Whether memory was short
 * follows from that log, if it can be read, or from the kernel's count of out-of-memory kills. */

#include <stdbool.h>
#include <stdint.h>

#include "lab_state.h"

#define LAB_ENDING_TEXT 160

/* Evidence about the out-of-memory killer. */
enum lab_memory {
	LAB_MEMORY_UNKNOWN,
	LAB_MEMORY_KILLS, /* it killed some process meanwhile */
	LAB_MEMORY_NAMED, /* it has killed this one */
};

/* The number of processes that it killed, on the machine and in our own control group, as far as
 * readable. */
uint64_t lab_ending_kills(void);

/* "was killed by signal 9 (the kernel's out-of-memory killer: see dmesg)", "has ended with exit
 * code 3", for a status of waitpid(). */
void lab_ending_describe(int status, enum lab_memory memory, char out[LAB_ENDING_TEXT]);

/* The same for a dead process; a child is reaped. 'kills': lab_ending_kills() before it was
 * started. */
void lab_ending_find(const struct lab_record *record, uint64_t kills, char out[LAB_ENDING_TEXT]);

/* Whether the kernel's log says that it has killed this process for its memory. */
bool lab_ending_in_log(const struct lab_record *record);

/* Whether a record of /dev/kmsg reports that. A record before 'since_us' is about an earlier
 * process with this id. */
bool lab_ending_names(const char *line, const char *program, pid_t pid, uint64_t since_us);
