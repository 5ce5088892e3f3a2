/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A real-clock fabric on DPDK's telemetry. */

#include "real_private.h"

/* Switches, interfaces, links, loops. */
int real_show(struct real_fabric *fabric, struct fault *fault);
void real_show_end(struct real_fabric *fabric);

/* The loops alone. 0, or -errno and fault. */
int real_show_loops(struct real_fabric *fabric, struct fault *fault);

/* All links of devices that live here are up. */
bool real_links_are_up(const struct real_fabric *fabric);
