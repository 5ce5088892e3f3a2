/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Folders that no other user can change. A folder is private if it is a folder and not a symbolic
 * link, belongs to the effective user, and neither group nor others may write into it; and if no
 * folder above it can be changed by anyone else: each belongs to the user or to root, and only one
 * with the sticky bit (as /tmp) is writable by others. Only the user and root can put a link into
 * such a folder or replace it, so one check is enough.
 *
 * Any thread; no state. Messages name the path and the expected owner or mode. */

#include <stdbool.h>

#include "base/weft_error.h"

/* A descriptor of the folder, which the caller closes. Returns -ENOENT if there is none, -EPERM if
 * it is not private, or another -errno. */
int private_dir_open(const char *path, struct error *error);
/* Checks only. Returns 0, or an error as above. */
int private_dir_check(const char *path, struct error *error);

/* Whether only the user and root can replace 'path', which need not exist: checks owner and mode of
 * the folders and links above it. Returns 0; -EPERM with error set, whose text starts with the
 * offending path; or another -errno. */
int private_dir_check_way(const char *path, struct error *error);

/* Creates the folder with mode 0700 if it is missing, and checks it in both cases. Folders above it
 * must exist. Returns 0, or as private_dir_open(). */
int private_dir_make(const char *path, struct error *error);

/* Removes the files whose names match one of the patterns of fnmatch(3) (the list ends with NULL),
 * and then the folder. If it also has files with other names, these and the folder stay:
 * -ENOTEMPTY. A missing folder is not an error; one that is not private is left as it is:
 * -EPERM. */
int private_dir_remove(const char *path, const char *const *patterns, struct error *error);

/* Whether only the user and root can change or replace the file: checks owner and mode of the file
 * itself and of all folders above it, following symbolic links. Returns 0; -EPERM with error set,
 * whose text starts with the offending path; or another -errno. */
int private_file_check(const char *path, struct error *error);

/* The folder for files that the processes of a lab share as memory: "memory" in its run directory.
 * If the run directory is on a disk, its file system can block a process that writes into such
 * memory during write-back. "memory" is therefore a symbolic link to a private folder in /dev/shm,
 * or a folder itself where /dev/shm is not in memory. */

#define MEMORY_DIR "memory"

/* Makes RUN_DIR/memory, and the folder that it leads to, if they are missing. Several processes may
 * do this at once, and get the same folder. Returns 0; -EPERM if the folder is not private
 * (private_dir.h); or another -errno with error set. */
int memory_dir_make(const char *run_dir, struct error *error);

/* Removes both, and the files whose names match one of the patterns, like private_dir_remove(). A
 * file RUN_DIR/memory-* that a killed process left is not removed. */
int memory_dir_remove(const char *run_dir, const char *const *patterns, struct error *error);
