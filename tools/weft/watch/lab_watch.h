/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A lab that is polled, for top and metrics. It may go down meanwhile. */

#include <jansson.h>

#include "lab/cmd_lab.h"

struct lab_watch {
	struct lab lab;
	struct lab_state state;
	/* Identifies the file that the lab keeps: another one means another lab of this name. */
	uint64_t kept_inode, kept_ns;
};

/* Opens the lab; prints errors. lab_watch_close() after EXIT_DONE. */
enum weft_exit lab_watch_open(
	struct lab_watch *watch, const struct lab_arguments *arguments, const char *command);
void lab_watch_close(struct lab_watch *watch);

/* The document of lab_collect(), from the processes that belong to the lab now; the caller's
 * reference. NULL and error: the lab is no longer up (-ENOENT in 'result'), or its state cannot be
 * read. */
json_t *lab_watch_ask(struct lab_watch *watch, int *result, struct error *error);

/* The lab was neither taken down nor restarted from another file. */
bool lab_watch_is_up(const struct lab_watch *watch);

/* Monotonic time in ns. */
uint64_t lab_watch_now_ns(void);
