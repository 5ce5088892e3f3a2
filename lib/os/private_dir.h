/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Folders that no other user can change. A private folder is not a symbolic link, belongs to the
 * effective user, and is not writable by its group or by others. Each folder above it belongs to
 * the user or to root, and is not writable by others unless it has the sticky bit (such as /tmp).
 * Only the user and root can put a link into such a folder or replace it, so one check is enough.
 *
 * Any thread may call; there is no state. Messages contain the path and the expected owner or mode.
 */

#include <stdbool.h>

#include "base/weft_error.h"

/* Returns a descriptor of the folder, which the caller closes. Returns -ENOENT if there is none,
 * -EPERM if it is not private, or another -errno. */
int private_dir_open(const char *path, struct error *error);
/* Only checks the folder. Returns 0, or an error as above. */
int private_dir_check(const char *path, struct error *error);

/* Checks that only the user and root can replace 'path', which need not exist: owner and mode of
 * the folders and links above it. Returns 0; -EPERM with 'error' set, which starts with the
 * offending path; or another -errno. */
int private_dir_check_way(const char *path, struct error *error);

/* Creates the folder with mode 0700 if it is missing, and checks it in any case. Folders above it
 * must exist. Returns 0, or an error like private_dir_open(). */
int private_dir_make(const char *path, struct error *error);

/* Removes the files whose names match one of the fnmatch(3) patterns, a NULL-terminated list, and
 * then the folder. If other files remain, so does the folder: -ENOTEMPTY. A missing folder is not
 * an error. A folder that is not private is left unchanged: -EPERM. */
int private_dir_remove(const char *path, const char *const *patterns, struct error *error);

/* Checks that only the user and root can change or replace the file: owner and mode of the file
 * and of all folders above it, following symbolic links. Returns like private_dir_check_way(). */
int private_file_check(const char *path, struct error *error);

/* The folder for memory-mapped files that a lab's processes share: "memory" in its run directory.
 * If the run directory is on a disk, its file system can block a process that writes into such
 * memory during write-back. "memory" is then a symbolic link to a private folder in /dev/shm, or a
 * plain folder if /dev/shm is not in memory. */

#define MEMORY_DIR "memory"

/* Creates RUN_DIR/memory and its target if they are missing. Processes that do this concurrently
 * get the same folder. Returns 0, -EPERM if the folder is not private (private_dir.h), or another
 * -errno with 'error' set. */
int memory_dir_make(const char *run_dir, struct error *error);

/* Removes RUN_DIR/memory, its target, and the files whose names match one of the patterns (see
 * private_dir_remove()). A file RUN_DIR/memory-* left by a killed process is not removed. */
int memory_dir_remove(const char *run_dir, const char *const *patterns, struct error *error);

/* The folder for the sockets and files of running programs, one per user: $RUNTIME_DIRECTORY (as
 * systemd sets it), else /run for root, else $XDG_RUNTIME_DIR, else /tmp/weft-UID. DPDK stores its
 * files in "dpdk/PREFIX" below it, labs store theirs in "weft/NAME". Root ignores $XDG_RUNTIME_DIR,
 * because after su it belongs to another user.
 *
 * In the last case, DPDK itself would use /tmp/dpdk, which belongs to the first user to run a DPDK
 * program. This file does not need DPDK: tools use it to find a program's telemetry socket and to
 * clean up after a killed program. */

#define RUNTIME_DIR_MAX 256

/* Sets 'path' to the base folder of this user's programs, such as "/run". */
void runtime_dir_base(char path[RUNTIME_DIR_MAX]);
/* Sets 'path' to a program's DPDK folder, such as "/run/dpdk/PREFIX". */
void runtime_dir_path(const char *prefix, char path[RUNTIME_DIR_MAX]);
/* Sets 'path' to the folder of labs, such as "/run/weft". */
void runtime_dir_labs(char path[RUNTIME_DIR_MAX]);

/* Creates the base and DPDK's folder in it, refuses folders that are not private (private_dir.h),
 * and passes the base to DPDK in RUNTIME_DIRECTORY. Call before EAL and before any thread starts.
 * Returns 0, or -errno with 'error' set. */
int runtime_dir_prepare(struct error *error);

/* Creates a network namespace (netns.h) for the program with this folder. The folder first records
 * it, so that runtime_dir_remove() removes both if the program is killed. Returns 0, or -errno with
 * 'error' set. -EEXIST: a namespace of this name already exists and is not recorded. */
int runtime_dir_add_netns(const char *path, const char *name, struct error *error);
/* Removes the namespace and its record. */
void runtime_dir_drop_netns(const char *path, const char *name);
/* Removes only the record, so that the namespace outlives the program. False: there is none. */
bool runtime_dir_keep_netns(const char *path, const char *name);

/* Removes a folder of runtime_dir_path(), the files that DPDK creates in it, and the namespaces
 * recorded there. Returns 0 or -errno. A missing folder is not an error. A folder that is not
 * private is left unchanged: -EPERM. */
int runtime_dir_remove(const char *path);
