/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Why a process of a lab ended. 'weft lab up', its parent, gets the exit status. After that init
 * reaps the process, and only the kernel's log may have the reason. Whether memory was short
 * follows from that log, if it can be read. */

#include <stdbool.h>
#include <stdint.h>

#include "lab_state.h"

#define LAB_ENDING_TEXT 160

/* "was killed by signal 9 (the kernel's out-of-memory killer: see dmesg)", "has ended with exit
 * code 3", for a status of waitpid(). 'memory': the kernel killed it for its memory. */
void lab_ending_describe(int status, bool memory, char out[LAB_ENDING_TEXT]);

/* The same for a dead process; a child is reaped. */
void lab_ending_find(const struct lab_record *record, char out[LAB_ENDING_TEXT]);

/* Whether the kernel's log says that it has killed this process for its memory. */
bool lab_ending_in_log(const struct lab_record *record);

/* Whether a record of /dev/kmsg reports that. A record before 'since_us' is about an earlier
 * process with this id. */
bool lab_ending_names(const char *line, const char *program, pid_t pid, uint64_t since_us);
