/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The folder for the sockets and files of running programs, one per user: $RUNTIME_DIRECTORY (as
 * systemd sets it), else /run for root, else $XDG_RUNTIME_DIR, else /tmp/weft-UID. DPDK keeps its
 * files in "dpdk/PREFIX" below it, labs theirs in "weft/NAME". Root ignores $XDG_RUNTIME_DIR,
 * because after su it is another user's.
 *
 * In the last case DPDK itself would use /tmp/dpdk, which is owned by the first user to run a DPDK
 * program. This file does not need DPDK: tools use it to find a program's telemetry and to clean up
 * after a killed program. */

#include <stdbool.h>

#include "base/weft_error.h"

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
