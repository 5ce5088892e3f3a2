/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reading what DPDK logs. */

/* The first line without "EAL: " or the name of a C function in front: it is the cause, what
 * follows are its consequences. 'log' may be NULL. Not terminated; returns the length, 0 if nothing
 * was said. */
int log_lines_cause(const char *log, const char **line);
