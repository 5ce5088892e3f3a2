/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Finds the other programs of Weft: in the folder that the environment's WEFT_PROGRAMS names, if it
 * does and they are there; beside 'weft' where it is installed; in their folders of the build tree;
 * and last in PATH.
 */

#include <stddef.h>

/* Writes the path of program 'name' ("weft-fabric") whose folder under apps/ is 'folder'. Always
 * gives something that execvp() can try. */
void program_path_find(const char *name, const char *folder, char *out, size_t size);

/* Replaces this process by that program. Returns only on failure, with errno. */
void program_path_exec(const char *name, const char *folder, char *const argv[]);
