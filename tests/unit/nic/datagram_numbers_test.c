/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Frame numbers of many interfaces, in a table that they share or in separate memory. */

#include "base/rng.h"
#include "nic/datagram/datagram.h"
#include "unit.h"

#define HOSTS  40u
#define FRAMES 60000u

enum memory { OWN, SHARED, APART };

struct bed {
	struct datagram nic[HOSTS];
	void *table; /* NULL: none */
	uint32_t sent[HOSTS][HOSTS];
};

static void start(struct bed *bed, enum pair_numbers_kind kind, enum memory memory)
{
	const struct link_end_config link = {.vcs = 1, .vc_blocks = 64, .open = true, .session = 1};
	struct datagram_config config = {
		.hosts = HOSTS, .mtu_bytes = 1000, .vcs = 1, .queue = 4, .numbers = kind};

	memset(bed, 0, sizeof(*bed));
	bed->table = memory != OWN ? calloc(2 * HOSTS * HOSTS, sizeof(uint32_t)) : NULL;
	config.number_table = bed->table;
	for (uint16_t i = 0; i < HOSTS; i++) {
		config.host = i;
		assert_int_equal(0, datagram_init(&bed->nic[i], &config, &link));
		link_end_renew_open(&bed->nic[i].link);
		if (memory == APART)
			datagram_separate_numbers(&bed->nic[i]);
	}
}

static void stop(struct bed *bed)
{
	for (unsigned i = 0; i < HOSTS; i++)
		datagram_fini(&bed->nic[i]);
	free(bed->table);
}

/* A frame from one interface to another is numbered and received. */
static void pass(struct bed *bed, uint16_t from, uint16_t to)
{
	const struct datagram_origin origin = {.payload_bytes = 1};
	struct weft_packet packet = {.blocks = 1, .source = from, .destination = to};

	packet.sequence = datagram_take_number(&bed->nic[from], to);
	assert_int_equal(packet.sequence, bed->sent[from][to]++);
	assert_int_equal(packet.sequence, datagram_expected(&bed->nic[to], from));
	assert_true(datagram_receive(&bed->nic[to], &packet, &origin));
	link_end_renew_open(&bed->nic[to].link);
}

/* Random pairs. Some of them communicate often and get large numbers. */
static void exchange(struct bed *bed)
{
	struct rng rng;

	rng_init(&rng, 1, 2, 3);
	for (unsigned i = 0; i < FRAMES; i++) {
		unsigned among = rng_below(&rng, 2) == 0 ? 9 : HOSTS;

		pass(bed, (uint16_t)rng_below(&rng, among), (uint16_t)rng_below(&rng, among));
	}
}

static void check(const struct bed *bed)
{
	uint32_t max = 0;

	for (uint16_t from = 0; from < HOSTS; from++)
		for (uint16_t to = 0; to < HOSTS; to++) {
			max = bed->sent[from][to] > max ? bed->sent[from][to] : max;
			assert_int_equal(
				pair_numbers_get(&bed->nic[from].sent, to), bed->sent[from][to]);
			assert_int_equal(
				datagram_expected(&bed->nic[to], from), bed->sent[from][to]);
		}
	for (unsigned i = 0; i < HOSTS; i++) {
		assert_int_equal(bed->nic[i].out_of_order, 0);
		assert_false(datagram_failed(&bed->nic[i]));
	}
	assert_true(max > PAIR_NUMBERS_LARGE);
}

static void exchange_with(enum pair_numbers_kind kind, enum memory memory)
{
	static struct bed bed;

	start(&bed, kind, memory);
	exchange(&bed);
	check(&bed);
	stop(&bed);
}

UNIT_TEST(each_pair_counts_by_itself_with_each_kind_of_numbers)
{
	exchange_with(PAIR_NUMBERS_ALL, OWN);
	exchange_with(PAIR_NUMBERS_BYTES, OWN);
	exchange_with(PAIR_NUMBERS_FEW, OWN);
}

UNIT_TEST(each_pair_counts_by_itself_in_a_table_that_all_share)
{
	exchange_with(PAIR_NUMBERS_ALL, SHARED);
	exchange_with(PAIR_NUMBERS_BYTES, SHARED);
}

UNIT_TEST(each_pair_counts_by_itself_in_a_table_with_a_row_for_each_host)
{
	exchange_with(PAIR_NUMBERS_ALL, APART);
	exchange_with(PAIR_NUMBERS_BYTES, APART);
	exchange_with(PAIR_NUMBERS_FEW, APART);
}

/* Checks where a bed's numbers are in the table. Each takes 'bytes'. */
static void expect_in_row(const struct bed *bed, uint16_t host, size_t bytes)
{
	const uint8_t *row = (const uint8_t *)bed->table + (size_t)host * 2 * HOSTS * bytes;

	for (uint16_t other = 0; other < HOSTS; other++) {
		const uint8_t *sent = datagram_sent_place(&bed->nic[host], other);
		const uint8_t *come = datagram_come_place(&bed->nic[host], other);

		assert_true(sent >= row && sent < row + 2 * HOSTS * bytes);
		assert_true(come >= row && come < row + 2 * HOSTS * bytes);
	}
}

UNIT_TEST(a_host_with_a_row_of_its_own_writes_into_no_other)
{
	static struct bed bed;

	for (enum pair_numbers_kind kind = PAIR_NUMBERS_ALL; kind <= PAIR_NUMBERS_BYTES; kind++) {
		start(&bed, kind, APART);
		for (uint16_t i = 0; i < HOSTS; i++)
			expect_in_row(&bed, i, kind == PAIR_NUMBERS_ALL ? sizeof(uint32_t) : 1);
		stop(&bed);
	}
}

UNIT_TEST(a_frame_after_a_later_one_is_counted_with_each_kind_of_numbers)
{
	static struct bed bed;

	for (enum pair_numbers_kind kind = PAIR_NUMBERS_ALL; kind <= PAIR_NUMBERS_FEW; kind++) {
		const struct datagram_origin origin = {.payload_bytes = 1};
		struct weft_packet packet = {.blocks = 1, .source = 3, .destination = 5};

		start(&bed, kind, OWN);
		for (packet.sequence = 0; packet.sequence < 300; packet.sequence += 100)
			datagram_receive(&bed.nic[5], &packet, &origin);
		packet.sequence = 199;
		datagram_receive(&bed.nic[5], &packet, &origin);
		assert_int_equal(bed.nic[5].out_of_order, 1);
		assert_int_equal(datagram_expected(&bed.nic[5], 3), 201);
		stop(&bed);
	}
}
