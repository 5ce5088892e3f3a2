/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Configuration of the started lab: 'up' keeps it in the run directory, including every default, as
 * a lab file that does not need a topology file. Other commands open the lab by its name, and
 * compare the file that they are given with this one. */

#include <stdbool.h>
#include <stddef.h>

#include "cmd_lab.h"
#include "yaml/yaml_tree.h"

/* Result of lab_snapshot_find(). */
struct lab_target {
	bool by_name;   /* 'file' names a running lab; otherwise it is the given file */
	bool console;   /* by name: the lab is on several machines and was started from here */
	char file[512]; /* to open */
	char dir[256];  /* run directory; "": the one that the file implies */
};

/* An existing file or a topology generator is used as such, unless it is a folder, or a topology
 * kind without options, with the name of a running lab. Anything else is the name of a lab, or the
 * path of the file from which a running lab was started. Returns -ENOENT with error set if it is
 * none of these. */
int lab_snapshot_find(
	const struct lab_arguments *arguments, struct lab_target *target, struct error *error);

/* Suffix of the console's folder for a lab on several machines. The folder is next to the lab's
 * folder on a machine. */
#define LAB_CONSOLE_END ".console"

/* Returns whether the folder, wherever it is, belongs to a console: it has a lab file with
 * machines, and no process of the lab was started in it. */
bool lab_snapshot_is_console(const char *dir);

/* Opens the lab file, or the copy that the lab keeps. Without --machine, a file with machines means
 * all of them: 'console' is true, and the run directory is the console's folder. Returns 0, or
 * -errno with error set; -ENOENT: 'file' is neither a file nor a lab that is up. */
int lab_snapshot_open(const struct lab_arguments *arguments, struct lab *lab,
	struct lab_target *target, struct error *error);

/* Returns the lab file with every default, and with the topology in place of its file name,
 * because that file may change later. The caller frees the text; NULL if out of memory. */
char *lab_snapshot_text(const struct lab *lab, size_t *length);

/* Writes the file into the run directory. Returns 0, or -errno with error set. */
int lab_snapshot_write(const struct lab *lab, struct error *error);

/* Returns 0 if the lab file equals the one from which the lab in its run directory was started, or
 * that lab has no copy; -EINVAL if they differ: fault names the first difference; or another -errno
 * with error set. */
int lab_snapshot_check(const struct lab *lab, struct error *error);

/* Like lab_snapshot_check(), ignoring these keys; the list ends with NULL. */
int lab_snapshot_check_but(const struct lab *lab, const char *const *but, struct error *error);

/* Returns 0, or -EINVAL with error set: the lab in the run directory was started from a different
 * file with different contents. */
int lab_snapshot_check_source(const struct lab *lab, struct error *error);

/* If the name of a running lab was given instead of a file: sets an error with the name of its
 * file. */
void lab_snapshot_expect_file(const struct lab_arguments *arguments, struct error *error);

/* Writes the file from which the lab in 'dir' was started; "" if unknown. */
void lab_snapshot_source(const char *dir, char *path, size_t size);
