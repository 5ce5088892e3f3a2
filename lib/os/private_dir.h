/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Folders that no other user can change. A folder is private if it is a folder and no symbolic
 * link, belongs to the effective user, and neither group nor others may write into it; and if no
 * folder above it can be changed by anyone else: each belongs to the user or to root, and only one
 * with the sticky bit (as /tmp) is writable by others. Nobody but the user and root can put a link
 * into such a folder or put another one in its place, so a check once is enough.
 *
 * Any thread; nothing here keeps state. Messages name the path and what was expected. */

#include <stdbool.h>

#include "base/weft_error.h"

/* A descriptor of the folder, which the caller closes. -ENOENT: there is none. -EPERM: it is not
 * private. Else -errno. */
int private_dir_open(const char *path, struct error *error);
/* The same check alone: 0, or as above. */
int private_dir_check(const char *path, struct error *error);

/* Whether nobody but the user and root can put another thing in the place of 'path', which need not
 * exist: owner and mode of the folders and links above it. 0; -EPERM and error, whose text begins
 * with the path that is to blame; else -errno. */
int private_dir_check_way(const char *path, struct error *error);

/* Makes the folder with mode 0700 if it is missing, and checks it either way. Folders above it must
 * exist. 0, or as private_dir_open(). */
int private_dir_make(const char *path, struct error *error);

/* Removes the files whose names match one of the patterns of fnmatch(3) (the list ends with NULL),
 * and then the folder. Files with other names stay, and with them the folder: -ENOTEMPTY. A folder
 * that is missing is not an error; one that is not private is left as it is: -EPERM. */
int private_dir_remove(const char *path, const char *const *patterns, struct error *error);

/* Whether nobody but the user and root can change the file, or put another one in its place: owner
 * and mode of the file itself and of all folders above it, symbolic links followed. 0; -EPERM and
 * error, whose text begins with the path that is to blame; else -errno. */
int private_file_check(const char *path, struct error *error);
