/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "unit.h"
#include "virtual/virtual_measure.h"
#include "virtual/virtual_private.h"

/* At each delivery a frame has the expected number, which then increases by one and never
 * otherwise: each frame has arrived once, in order, and none waits for an earlier one. */
static inline void expect_each_frame_once(const struct virtual_fabric *fabric)
{
	for (uint32_t to = 0; to < fabric->hosts; to++)
		for (uint32_t from = 0; from < fabric->hosts; from++)
			assert_int_equal(datagram_expected(&fabric->host[to].nic, (uint16_t)from),
				pair_numbers_get(&fabric->host[from].nic.sent, to));
	assert_int_equal(virtual_order_held(fabric), 0);
}
