/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The TAPs of processes that 'weft lab restart' ends: this command holds them until the new process
 * has inherited them (tap.h), so that programs keep their interfaces. If the command is killed,
 * they disappear with it. */

#include <stdbool.h>
#include <sys/types.h>

#include "base/weft_error.h"

#define HELD_TAPS_MAX 1024

struct held_taps {
	unsigned count;
	int fd[HELD_TAPS_MAX];
	unsigned process[HELD_TAPS_MAX]; /* index in the plan */
};

/* Takes a duplicate of each TAP of the running process. Returns their number, or -errno and error:
 * then none of them is held. */
int held_taps_take(struct held_taps *taps, unsigned process, pid_t pid, struct error *error);
/* Whether programs that are started from now on inherit the TAPs of the process. */
void held_taps_pass(const struct held_taps *taps, unsigned process, bool pass);
void held_taps_close(struct held_taps *taps);
