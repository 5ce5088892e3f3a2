/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * One point of a sweep as a process: weft-fabric with the point's --set, its output in a log. It
 * writes NAME.part, which becomes NAME.json when it is whole. It has a process group of its own, so
 * that a Ctrl-C at the terminal reaches the sweep alone, and ends when the sweep does, however that
 * ends.
 */

#include <jansson.h>
#include <sys/types.h>

#include "sweep.h"

struct sweep_child {
	pid_t pid; /* 0: none */
	unsigned point;
	double started; /* seconds, by child_clock() */
};

/* 0; -errno and fault: no such program, no process to be had. */
int sweep_child_start(
	struct sweep_child *child, const struct sweep *sweep, unsigned point, struct fault *fault);
void sweep_child_kill(const struct sweep_child *child, int signal);

/* What has become of a point whose process ended with 'status' of waitpid(): its result, now in
 * NAME.json, or NULL and why in 'fault'. The log stays only in that case. 'told_to_end': by us, so
 * that a result that is not complete is cut short, whatever it says. */
json_t *sweep_child_result(const struct sweep_child *child, const struct sweep *sweep, int status,
	bool told_to_end, struct fault *fault);
/* Removes what an ended process leaves that was told to end. */
void sweep_child_forget(const struct sweep_child *child, const struct sweep *sweep);
