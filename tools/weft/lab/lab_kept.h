/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A lab is what was started: 'up' keeps the whole configuration in the run directory, every default
 * included, as a lab file that needs no topology file. Other commands open it by the lab's name,
 * and compare with it the file that they are given.
 */

#include <stdbool.h>

#include "cmd_lab.h"

/* Result of lab_kept_find(). */
struct lab_target {
	bool by_name;   /* it means a lab that is up; else 'file' is the file that was given */
	char file[512]; /* to open */
	char dir[256];  /* run directory; "": as the file says */
};

/* A file that exists is a file, and a generator of topologies counts as one. Anything else is the
 * name of a lab, or the path of the file that a lab which is up was started from. -ENOENT and
 * fault: it is none of these. */
int lab_kept_find(
	const struct lab_arguments *arguments, struct lab_target *target, struct fault *fault);

/* Writes the file into the run directory. 0, or -errno and fault. */
int lab_kept_write(const struct lab *lab, struct fault *fault);

/* 0: the lab file says what the lab in its run directory was started with, or that lab keeps no
 * file. -EINVAL: fault names the first difference. Else -errno and fault. */
int lab_kept_check(const struct lab *lab, struct fault *fault);

/* The file that the lab in 'dir' was started from; "" if that is not known. */
void lab_kept_source(const char *dir, char *path, size_t size);
