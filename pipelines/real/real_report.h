/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The counts of a process of a lab, in a file for the command that asks. Only the leader calls
 * these. */

#include "real_private.h"

/* Writes the counts of now to 'path', which appears whole or not at all; PATH.part exists from the
 * first moment on. 'whole': with the samples, of which a long run has a million. A thread writes
 * them, because the loop's neighbours would take it for dead meanwhile. It waits for the thread of
 * the call before. */
void real_report_write(struct real_fabric *fabric, const char *path, bool whole);
/* Waits for the thread, if there is one. */
void real_report_end(struct real_fabric *fabric);
