/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Restricts a running program to the system calls that forwarding, telemetry, captures and the end
 * of a lab need (seccomp): no execution of programs, no new executable memory, no mounts, no other
 * processes. It is a second line of defence behind the frame checks, not a replacement: the process
 * can still open any file that its user can.
 *
 * A call that is not on the list ends the process with exit code 3 after a line on standard error
 * that names program and call. Returning an errno instead would go unnoticed: a driver would fail
 * in odd ways, and an intruder would keep trying. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_error.h"

struct sandbox_options {
	const char *program; /* for the line; must outlive the process */
	bool unmounts;       /* network namespaces are to be removed at the end */
};

/* False in sanitizer builds, whose runtime needs other calls. */
bool sandbox_is_built(void);

/* For all threads, permanently. Threads may run before; other filters may exist. Returns 0, or
 * -errno with error set: the kernel does not support it. Without sandbox_is_built(): 0, and nothing
 * is restricted. */
int sandbox_enter(const struct sandbox_options *options, struct error *error);

/* Gives up capabilities once a program has opened what it needs, which limits the damage of a
 * parser exploit. The user id stays the same. The kernel lets each thread give up only its own
 * capabilities (and libcap-ng handles a single thread), so every thread of the process gets
 * THREAD_SIGNAL and gives them up in the handler. */

/* The bit of a capability, CAP_NET_RAW and the like from <linux/capability.h>. */
#define PRIVILEGE(capability) (UINT64_C(1) << (capability))

/* Keeps at most these capabilities, in all present and future threads, and for all programs that
 * they execute (PR_SET_NO_NEW_PRIVS). Returns 0, or -EPERM or -ETIMEDOUT with error set if a thread
 * kept more. */
int privileges_keep(uint64_t capabilities, struct error *error);
