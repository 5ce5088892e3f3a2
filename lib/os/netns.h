/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Named network namespaces, as in 'ip netns': bind mounts in /run/netns. A separate thread enters a
 * namespace for the duration of one call; the process itself never does. Requires CAP_SYS_ADMIN. No
 * clock, no EAL; any thread may call. */

#include "base/weft_error.h"

#define NETNS_DIR "/run/netns"

/* Creates the namespace and brings its loopback up. Returns -EEXIST if the name is in use. */
int netns_create(const char *name, struct error *error);

/* Removes the name. The namespace disappears with its last process. -ENOENT: unknown name. */
int netns_remove(const char *name, struct error *error);

/* Work to do inside. Returns 0, or -errno with 'error' set. */
typedef int netns_work_fn(void *ctx, struct error *error);

/* Calls 'work' in a thread that is in namespace 'name' (NULL: the current one). Returns its result,
 * or the error that prevented the call, such as -EINVAL (invalid name), -ENOENT or -EPERM. */
int netns_run(const char *name, netns_work_fn *work, void *ctx, struct error *error);
