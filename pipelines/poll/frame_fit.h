/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Whether a device passes the frames of a fabric, and what a person can do if it does not. */

#include "port_ethdev.h"

/* 'key': what the person set 'mtu_bytes' with, "nic.mtu" or "--mtu". 0, or -EINVAL and a fault that
 * names the largest value that fits. */
int frame_fit_check(const struct port *port, const struct port_ethdev_needs *needs,
	uint32_t mtu_bytes, const char *key, struct fault *fault);
