/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Compares the wide form with an array of bool. Every test of a switch covers the narrow form. */
#define PORT_SET_WIDE

#include "base/port_set.h"
#include "unit.h"

static port_set draw(struct rng *rng, bool in[PORT_SET_PORTS])
{
	port_set set = PORT_SET_NONE;
	uint64_t of = 1 + rng_below(rng, 100);

	for (unsigned i = 0; i < PORT_SET_PORTS; i++) {
		in[i] = rng_below(rng, of) == 0;
		if (in[i])
			set |= port_set_of(i);
	}
	return set;
}

UNIT_TEST(a_wide_set_has_the_members_that_were_added)
{
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned round = 0; round < 300; round++) {
		bool in[PORT_SET_PORTS];
		port_set set = draw(&rng, in), left = set;
		unsigned count = 0, from = (unsigned)rng_below(&rng, PORT_SET_PORTS), next = from;

		for (unsigned i = 0; i < PORT_SET_PORTS; i++) {
			assert_int_equal(port_set_has(set, i), in[i]);
			if (!in[i])
				continue;
			assert_int_equal(port_set_first(left), i);
			left = port_set_rest(left);
			count++;
		}
		assert_true(port_set_is_empty(left));
		assert_int_equal(port_set_count(set), count);
		if (count == 0)
			continue;
		while (!in[next])
			next = (next + 1) % PORT_SET_PORTS;
		assert_int_equal(port_set_round_robin(set, from), next);
		assert_true(in[port_set_draw(set, &rng)]);
		port_set_store(&left, set, __ATOMIC_RELEASE);
		assert_true(port_set_equal(port_set_load(&left, __ATOMIC_ACQUIRE), set));
	}
	assert_int_equal(port_set_count(port_set_all(200)), 200);
	assert_false(port_set_has(port_set_all(200), 200));
}
