/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "unit.h"
#include "virtual/virtual_measure.h"
#include "virtual/virtual_private.h"

/* A frame's number is the expected one at each delivery, and goes up by one, and at nothing else:
 * then each has come once, in order, and none waits for one before it. */
static inline void expect_each_frame_once(const struct virtual_fabric *fabric)
{
	for (uint32_t to = 0; to < fabric->hosts; to++)
		for (uint32_t from = 0; from < fabric->hosts; from++)
			assert_int_equal(datagram_expected(&fabric->host[to].nic, (uint16_t)from),
				pair_numbers_get(&fabric->host[from].nic.sent, to));
	assert_int_equal(virtual_order_held(fabric), 0);
}
