/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The hosts of a real-clock fabric: interfaces, their routes, traffic and TAP edges. */

#include "real_private.h"

int real_hosts_create(struct real_fabric *fabric, struct fault *fault);
void real_hosts_destroy(struct real_fabric *fabric);
/* In the host's own loop. */
int real_host_start_traffic(
	struct real_fabric *fabric, struct real_host *host, struct fault *fault);
/* Of the sources. A TAP is read on until the fabric ends. */
void real_host_stop_traffic(
	const struct real_fabric *fabric, struct real_host *host, weft_time now);
