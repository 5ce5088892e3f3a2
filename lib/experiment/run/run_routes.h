/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The routes of a run or lab file with 'routing.file': read by lib/route/formats, and verified as
 * in 'weft route verify'. */

#include "route/formats/route_file.h"
#include "run_config.h"

/* Returns 0, and the caller closes the file; or 'error', which starts with the position of the key,
 * and -errno. Fails with -EINVAL: the file does not fit the topology or routing.mode, does not
 * connect all hosts, or may deadlock while routing.may-deadlock is false; -ENOENT and similar
 * errors; -ENOMEM. */
int run_routes_load(const struct run_config *run, const struct topology *topology,
	struct route_file *file, struct error *error);
