/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* weft audit --mark: copies the capture and adds each violation in the report to the comment of its
 * frame, where the dissector looks for it. */

#include "audit/audit.h"
#include "audit_subject.h"

/* Writes the copy of the subject's only file. EXIT_DONE, or a code after a message. */
int audit_mark_write(struct audit_subject *subject, const struct audit *audit, const char *path,
	const char *command);
