/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Makes this process one of an emulated host: the host's network namespace, its name as host name,
 * and its own /etc/hosts. A program that it becomes by exec stays there, and so do its children;
 * the rest of the machine sees nothing of it. Needs CAP_SYS_ADMIN. Only while the process has one
 * thread. */

#include "fault.h"

struct host_view {
	const char *netns; /* as in 'ip netns' */
	const char *name;  /* host name */
	const char *hosts; /* file that stands for /etc/hosts; NULL: that of the machine */
};

/* 0, or -errno and fault: -ENOENT: no such namespace; -EPERM. */
int host_view_enter(const struct host_view *view, struct fault *fault);
