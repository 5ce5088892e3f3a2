/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The traffic of a real-clock fabric, and how it is measured: those of its own
 * configuration, or, for one run of a lab, those of a file which 'weft lab run --set' has written.
 * Only the leader changes it, while no loop has an order to obey; the loops read it when they
 * obey the order to begin.
 */

#include "real_private.h"

/* Resolves and checks the traffic of 'run', and opens its window. 0, or -errno and fault; the
 * caller closes it in any case. */
int real_work_open(struct real_fabric *fabric, struct real_work *work, const struct run_config *run,
	struct fault *fault);
/* Also one that is zeroed. */
void real_work_close(struct real_work *work);

/* Loads the file LAB_RUN_FILE in the folder of 'path', where {} or {"error": text} is written, for
 * a start that asks for it. The file has as many entries of traffic as the fabric's own
 * configuration. */
void real_work_load(struct real_fabric *fabric, const char *path);
/* Traffic begins: that which was loaded since the last time, or the fabric's own; forgets what was
 * loaded and is not asked for. False: nothing was loaded, and nothing changes. */
bool real_work_begin(struct real_fabric *fabric, bool loaded);
/* Of everything that was loaded. */
void real_work_drop(struct real_fabric *fabric);
