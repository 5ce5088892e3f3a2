/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Restricts a running program to the system calls that forwarding, telemetry, captures and shutdown
 * need (seccomp): no program execution, no new executable memory, no mounts, no other processes. It
 * is a second line of defence after the frame checks, not a replacement: the process can still open
 * any file that its user can.
 *
 * A call that is not on the list ends the process with exit code 3, after a line on standard error
 * that names program and call. An error code instead would go unnoticed: drivers would fail in
 * unexpected ways, and an intruder could keep trying. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"

struct sandbox_options {
	const char *program; /* for that line; must outlive the process */
	bool unmounts;       /* network namespaces will be removed at the end */
};

/* Returns false in sanitizer builds, whose runtime needs other calls. */
bool sandbox_is_built(void);

/* Restricts all threads permanently. Threads may have been started before, and other filters may
 * exist. Returns 0, or -errno with 'error' set if the kernel does not support it. Without
 * sandbox_is_built() returns 0 and restricts nothing. */
int sandbox_enter(const struct sandbox_options *options, struct error *error);

/* Drops capabilities when a program has opened what it needs, which limits the damage of a parser
 * exploit. The user id does not change. The kernel lets each thread drop only its own capabilities
 * (and libcap-ng handles a single thread), so every thread of the process gets THREAD_SIGNAL and
 * drops them in the handler. */

/* The bit of a capability such as CAP_NET_RAW from <linux/capability.h>. */
#define PRIVILEGE(capability) (UINT64_C(1) << (capability))

/* Keeps at most these capabilities, in all current and future threads and in all programs that they
 * execute (PR_SET_NO_NEW_PRIVS). Returns 0, or -EPERM or -ETIMEDOUT with 'error' set if a thread
 * kept more. */
int privileges_keep(uint64_t capabilities, struct error *error);
