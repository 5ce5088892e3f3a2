/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The files that a console sends to the machines of a lab: the lab file with every default and the
 * topology, and the files that it names (keys, routes, traffic). A machine keeps them in a private
 * folder next to the lab's run directory, from 'up' to 'down'. */

#include <jansson.h>

#include "base/weft_error.h"
#include "experiment/lab/lab.h"

/* Returns {file name: its bytes as hexadecimal digits}, the caller's reference. The lab file is
 * "lab.yaml", and names the others without a folder. Returns NULL with error set on failure. */
json_t *lab_bundle_make(const struct lab *lab, struct error *error);

/* The folder "RUN_DIR.files". */
void lab_bundle_dir(const char *run_dir, char *dir, size_t size);
/* Writes the files. Returns 0, or -errno with error set; -EINVAL: not a bundle. */
int lab_bundle_write(const char *run_dir, json_t *files, struct error *error);
/* Returns 0 if the existing files are identical or there are none, or -EINVAL with error set, which
 * names the first one that differs. */
int lab_bundle_compare(const char *run_dir, json_t *files, struct error *error);
/* Removes the folder. It is not an error if there is none. */
int lab_bundle_remove(const char *run_dir, struct error *error);
