/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The folder for files that the processes of a lab share as memory: "memory" in its run directory.
 * The run directory may lie on a disk, whose file system would stop a process that writes into such
 * memory while it is written back to the disk. "memory" is therefore a symbolic link to a private
 * folder in /dev/shm, or a folder itself where /dev/shm is not in memory. */

#include "base/weft_error.h"

#define MEMORY_DIR "memory"

/* Makes RUN_DIR/memory, and the folder that it leads to, if they are missing. Several processes may
 * do this at once, and get the same folder. 0; -EPERM: the folder is not private (private_dir.h);
 * else -errno and error. */
int memory_dir_make(const char *run_dir, struct error *error);

/* Removes both (but not a file RUN_DIR/memory-*, which a killed process may leave), with the files
 * whose names match one of the patterns, as private_dir_remove(). */
int memory_dir_remove(const char *run_dir, const char *const *patterns, struct error *error);
