/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Network namespaces by name, the same ones as 'ip netns' makes: a bind mount in /run/netns. Only
 * threads enter a namespace here, for the time of one call: the process stays where it is. Needs
 * CAP_SYS_ADMIN. No clock, no EAL; any thread.
 */

#include "fault.h"

/* Makes the namespace, with its loopback up. -EEXIST: there is one of this name. */
int netns_create(const char *name, struct fault *fault);

/* Takes its name away; it disappears with the last process in it. -ENOENT: there is none. */
int netns_remove(const char *name, struct fault *fault);

/* What to do inside: returns 0, or -errno and fault. */
typedef int netns_work_fn(void *ctx, struct fault *fault);

/* Calls 'work' in a thread that is in namespace 'name' (NULL: the present one) and returns its
 * result, or what kept it from being called: -ENOENT, -EPERM, -EAGAIN. */
int netns_run(const char *name, netns_work_fn *work, void *ctx, struct fault *fault);
