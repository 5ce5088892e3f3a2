/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Tables whose equal parts are stored once. */

#include <errno.h>

#include "base/rng.h"
#include "route/route_algorithm.h"
#include "route/route_table.h"

#include "route_bench.h"

#define MANY_SWITCHES 1025u
#define MANY_HOSTS    (64u * ROUTE_BLOCK_HOSTS)

static struct route_table *random_table(
	uint32_t switches, uint32_t hosts, unsigned ports, uint64_t seed)
{
	struct route_table *table = route_table_create(switches, hosts);
	struct rng rng;

	assert_non_null(table);
	rng_init(&rng, seed, 0, 0);
	for (size_t i = 0; i < (size_t)switches * hosts; i++)
		table->primary[i] = (uint8_t)rng_below(&rng, ports);
	return table;
}

static void expect_same(const struct route_blocks *blocks, const struct route_table *table)
{
	for (uint32_t at = 0; at < table->switches; at++) {
		const uint16_t *row = route_blocks_row(blocks, at);

		for (uint32_t host = 0; host < table->hosts; host++) {
			size_t block = row[host / ROUTE_BLOCK_HOSTS];

			assert_in_range(block, 0, blocks->blocks - 1);
			assert_int_equal(
				blocks->port[block * ROUTE_BLOCK_HOSTS + host % ROUTE_BLOCK_HOSTS],
				route_table_row(table, at)[host]);
		}
	}
}

UNIT_TEST(every_entry_is_what_it_was)
{
	static const uint32_t hosts[] = {1, 63, 64, 65, 200, 1000};

	for (unsigned i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		for (unsigned ports = 1; ports <= 64; ports *= 4) {
			OWNED(route_table) *table = random_table(17, hosts[i], ports, i);
			OWNED(route_blocks) *blocks = route_blocks_create(table);

			assert_non_null(blocks);
			expect_same(blocks, table);
		}
}

UNIT_TEST(equal_blocks_and_rows_are_stored_once)
{
	OWNED(route_table) *table = random_table(3, 4 * ROUTE_BLOCK_HOSTS, 60, 1);
	OWNED(route_blocks) *blocks;

	/* The third row contains two blocks of the first one, in reverse order. */
	memcpy(route_table_row(table, 1), route_table_row(table, 0), table->hosts);
	memcpy(route_table_row(table, 2), route_table_row(table, 0) + 2 * ROUTE_BLOCK_HOSTS,
		2 * ROUTE_BLOCK_HOSTS);
	memcpy(route_table_row(table, 2) + 2 * ROUTE_BLOCK_HOSTS, route_table_row(table, 0),
		2 * ROUTE_BLOCK_HOSTS);
	blocks = route_blocks_create(table);
	assert_non_null(blocks);
	assert_int_equal(blocks->blocks, 4);
	assert_int_equal(blocks->rows, 2);
	assert_ptr_equal(route_blocks_row(blocks, 0), route_blocks_row(blocks, 1));
	expect_same(blocks, table);
}

/* All leaves send packets for other leaves up through the same ports, and all roots send a host's
 * packets down through the same port. */
UNIT_TEST(most_of_a_fat_tree_is_stored_once)
{
	OWNED(topology) *topology = bench_generate("rlft:ports=16,stages=3");
	const struct route_options options = {.seed = 1};
	struct error error = {""};
	int result = 0;
	OWNED(route_table) *table = route_compute_table(
		topology, route_algorithm_find("dmodk"), &options, &result, &error);
	OWNED(route_blocks) *blocks;

	assert_non_null(table);
	blocks = route_blocks_create(table);
	assert_non_null(blocks);
	expect_same(blocks, table);
	assert_true(blocks->blocks < table->switches * blocks->row_blocks / 8);
	assert_true(blocks->rows < table->switches * 2 / 3);
}

UNIT_TEST(more_blocks_than_numbers_are_refused)
{
	OWNED(route_table) *table = random_table(MANY_SWITCHES, MANY_HOSTS, 64, 1);
	OWNED(route_blocks) *blocks;

	errno = 0;
	assert_null(route_blocks_create(table));
	assert_int_equal(errno, ERANGE);
	/* 65,536 blocks have numbers. */
	memcpy(route_table_row(table, 0), route_table_row(table, 1), table->hosts);
	blocks = route_blocks_create(table);
	assert_non_null(blocks);
	assert_int_equal(blocks->blocks, UINT16_MAX + 1);
	expect_same(blocks, table);
}
