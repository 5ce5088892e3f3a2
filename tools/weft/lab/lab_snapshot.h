/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The lab that was started: 'up' keeps the whole configuration in the run directory, including
 * every default, as a lab file that needs no topology file. Other commands open it by the lab's
 * name, and compare the file that they are given with it. */

#include <stdbool.h>
#include <stddef.h>

#include "cmd_lab.h"
#include "yaml/yaml_tree.h"

/* Result of lab_snapshot_find(). */
struct lab_target {
	bool by_name;   /* it means a lab that is up; else 'file' is the given file */
	bool console;   /* by name: a lab on several machines, which was started from here */
	char file[512]; /* to open */
	char dir[256];  /* run directory; "": as in the file */
};

/* A file that exists is a file, and so is a generator of topologies, except for a kind without
 * options, or a folder, with the name of a lab that is up. Anything else is the name of a lab, or
 * the path of the file from which a lab that is up was started. -ENOENT and error: it is none of
 * these. */
int lab_snapshot_find(
	const struct lab_arguments *arguments, struct lab_target *target, struct error *error);

/* The suffix of the folder that a console has for a lab on several machines, beside the folder that
 * the lab has on a machine. */
#define LAB_CONSOLE_END ".console"

/* Whether the folder, wherever it is, is a console's: it keeps a lab file with machines, and no
 * process of the lab was started in it. */
bool lab_snapshot_is_console(const char *dir);

/* Opens the lab file, or the one that the lab keeps. A file with machines, without --machine, means
 * all of them: 'console', and the run directory is the console's folder. 0, or -errno and error;
 * -ENOENT: 'file' is neither a file nor a lab that is up. */
int lab_snapshot_open(const struct lab_arguments *arguments, struct lab *lab,
	struct lab_target *target, struct error *error);

/* The lab file with every default, and with the topology in place of its file's name, which may be
 * gone or changed later. The caller frees it; NULL without memory. */
char *lab_snapshot_text(const struct lab *lab, size_t *length);

/* Writes the file into the run directory. 0, or -errno and error. */
int lab_snapshot_write(const struct lab *lab, struct error *error);

/* 0: the lab file equals the one from which the lab in its run directory was started, or that lab
 * keeps no file. -EINVAL: fault names the first difference. Else -errno and error. */
int lab_snapshot_check(const struct lab *lab, struct error *error);

/* The same without these keys; the list ends with NULL. */
int lab_snapshot_check_but(const struct lab *lab, const char *const *but, struct error *error);

/* The file from which the lab in 'dir' was started; "" if unknown. */
void lab_snapshot_source(const char *dir, char *path, size_t size);
