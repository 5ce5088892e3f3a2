/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands to the loop of a process of a lab (real_fabric_serve()), and what it writes in answer to
 * some of them. */

#include "lab_query.h"
#include "lab_state.h"

#define LAB_CONTROL_PATH 400

/* The loop takes one command at a time; waits for its turn. -EINVAL and fault. */
int lab_control(struct lab_connection *connection, const char *text, struct fault *fault);

/* The same for a command that takes a PATH as its last word: gives it one of its own in 'dir' and
 * waits until the file is there, which is the caller's to remove. -ENODEV: it ended, or does not
 * write. */
int lab_control_file(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, char path[LAB_CONTROL_PATH], struct fault *fault);
/* The file's contents, and it is removed. NULL and fault. */
json_t *lab_control_json(struct lab_connection *connection, const struct lab_record *record,
	const char *dir, const char *text, struct fault *fault);

/* Between two looks at a process. */
void lab_sleep_ms(int ms);
