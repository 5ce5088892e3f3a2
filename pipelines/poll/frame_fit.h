/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Checks that a device can send and receive the longest frame of a fabric. */

#include "port/port_ethdev.h"

/* 'extra_bytes': a latency extension and a tag. Returns 0, or -EINVAL and an error with the largest
 * nic.mtu that fits. */
int frame_fit_check(const struct port *port, const struct port_ethdev_needs *needs,
	uint32_t mtu_bytes, uint32_t extra_bytes, struct error *error);
