/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Why a process of a lab has ended. Its parent, 'weft lab up', is told how; after that has ended,
 * init reaps it, and only the kernel's log may know. Whether memory was short is told as far as the
 * kernel tells it: by its log, where that can be read, or by its counts of processes that it has
 * killed for that reason.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab_state.h"

#define LAB_ENDING_TEXT 160

/* What is known of the out-of-memory killer. */
enum lab_memory {
	LAB_MEMORY_UNKNOWN,
	LAB_MEMORY_KILLS, /* it has killed some process meanwhile */
	LAB_MEMORY_NAMED, /* it has killed this one */
};

/* How many processes it has killed, as far as can be read: of the machine and of our own control
 * group. */
uint64_t lab_ending_kills(void);

/* "was killed by signal 9 (the kernel's out-of-memory killer: see dmesg)", "has ended with exit
 * code 3", for a status of waitpid(). */
void lab_ending_describe(int status, enum lab_memory memory, char out[LAB_ENDING_TEXT]);

/* The same of a process that is dead; a child of ours is reaped. 'kills': lab_ending_kills() before
 * it was started. */
void lab_ending_find(const struct lab_record *record, uint64_t kills, char out[LAB_ENDING_TEXT]);

/* The kernel's log says that it has killed this process for its memory. */
bool lab_ending_in_log(const struct lab_record *record);

/* A record of /dev/kmsg says so. 'since_us': of an earlier one with this id it is none. */
bool lab_ending_names(const char *line, const char *program, pid_t pid, uint64_t since_us);
