/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The user's labs that are up, or of which something is left, in the folder of labs. Labs with
 * --run-dir elsewhere are not found. */

#include "cmd_lab.h"

/* 0 continues; -errno and fault ends the walk. */
typedef int (*lab_list_visit)(
	void *context, const char *name, const struct lab_state *state, struct fault *fault);

/* Names of labs on several machines that were brought up from here: the console's folder has been
 * there. 0, or what 'visit' returned. */
typedef int (*lab_list_console)(void *context, const char *name, const char *dir);
int lab_list_consoles(lab_list_console visit, void *context);

/* Visits the labs by name. 0, or what 'visit' returned. */
int lab_list_each(lab_list_visit visit, void *context, struct fault *fault);
