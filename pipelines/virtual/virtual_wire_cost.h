/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The bytes that traffic takes on the wire. */

#include "virtual_private.h"

/* 0 or -ENOMEM with fault. */
int virtual_wire_cost_open(struct virtual_fabric *fabric, struct fault *fault);
void virtual_wire_cost_close(struct virtual_fabric *fabric);
/* Of route in a frame of this source, by the first routes to its destinations, as
 * traffic_config.mean_route. */
uint32_t virtual_wire_cost_route(
	const struct virtual_fabric *fabric, const struct traffic_config *config);
/* Of a message. */
uint64_t virtual_wire_cost_wire_bytes(
	const struct virtual_fabric *fabric, uint32_t source, uint32_t destination, uint32_t bytes);
