/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Network namespaces by name, as in 'ip netns': a bind mount in /run/netns. Only a thread enters a
 * namespace, for the duration of one call; the process as a whole never does. Needs CAP_SYS_ADMIN.
 * No clock, no EAL; any thread. */

#include "base/weft_error.h"

#define NETNS_DIR "/run/netns"

/* Creates the namespace and brings its loopback up. Fails with -EEXIST: the name is in use. */
int netns_create(const char *name, struct error *error);

/* Removes the name; the namespace disappears with its last process. Fails with -ENOENT: unknown
 * name. */
int netns_remove(const char *name, struct error *error);

/* Work to do inside: returns 0, or -errno with error set. */
typedef int netns_work_fn(void *ctx, struct error *error);

/* Calls 'work' in a thread that is in namespace 'name' (NULL: the current one) and returns its
 * result, or the error that prevented the call: -ENOENT, -EPERM, -EAGAIN. */
int netns_run(const char *name, netns_work_fn *work, void *ctx, struct error *error);
