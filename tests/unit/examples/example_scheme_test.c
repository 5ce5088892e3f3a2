/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The example of docs/developer/extending.md, example_scheme.c, works as the page claims. */

#include "queuing/queuing.h"
#include "unit.h"

extern const struct queuing_scheme queuing_by_source;

UNIT_TEST(neighbours_have_different_queues)
{
	OWNED(topology) *topology = topology_generate("rlft:ports=8,stages=2", NULL);
	OWNED(queuing) *queuing = queuing_create(topology, &queuing_by_source, 4, NULL);

	assert_non_null(queuing);
	for (uint32_t source = 0; source < 32; source++)
		for (uint32_t to = 0; to < 32; to++)
			assert_int_equal(queuing_sl(queuing, source, to), source % 4);
}
