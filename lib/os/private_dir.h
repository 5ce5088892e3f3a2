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

/* The folder for the sockets and files of running programs, one per user: $RUNTIME_DIRECTORY (as
 * systemd sets it), else /run for root, else $XDG_RUNTIME_DIR, else /tmp/weft-UID. DPDK keeps its
 * files in "dpdk/PREFIX" below it, labs theirs in "weft/NAME". Root ignores $XDG_RUNTIME_DIR,
 * because after su it is another user's.
 *
 * In the last case DPDK itself would use /tmp/dpdk, which is owned by the first user to run a DPDK
 * program. This file does not need DPDK: tools use it to find a program's telemetry and to clean up
 * after a killed program. */

#define RUNTIME_DIR_MAX 256

/* The folder in which this user's DPDK programs keep their files, such as "/run". */
void runtime_dir_base(char path[RUNTIME_DIR_MAX]);
/* "/run/dpdk/PREFIX" */
void runtime_dir_path(const char *prefix, char path[RUNTIME_DIR_MAX]);
/* "/run/weft": the folder of labs. */
void runtime_dir_labs(char path[RUNTIME_DIR_MAX]);

/* Before EAL starts: makes the base and DPDK's folder in it, refuses folders that are not private
 * (private_dir.h), and passes the base to DPDK in RUNTIME_DIRECTORY. Call it before any thread
 * starts. Returns 0, or -errno with error set. */
int runtime_dir_prepare(struct error *error);

/* Makes a network namespace (netns.h) for the program with this folder, and records it there first:
 * if the program is killed, runtime_dir_remove() removes both. Returns 0, or -errno with error set;
 * -EEXIST: a namespace of this name already exists; it is not recorded. */
int runtime_dir_add_netns(const char *path, const char *name, struct error *error);
/* Removes the namespace and its record. */
void runtime_dir_drop_netns(const char *path, const char *name);
/* Removes the record only, so that the namespace outlives the program. Returns false if there is no
 * record. */
bool runtime_dir_keep_netns(const char *path, const char *name);

/* Removes a folder of runtime_dir_path(), the files in it that DPDK names, and the namespaces that
 * are recorded there. Returns 0, or -errno; a missing folder is not an error. A folder that is not
 * private is left as it is: -EPERM. */
int runtime_dir_remove(const char *path);
