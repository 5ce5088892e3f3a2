/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The destinations of messages: compares each pattern with its definition. */

#include <math.h>

#include "traffic_bench.h"

#define MESSAGES  80000
#define HOSTS     16
#define MAX_HOSTS 65536u

static struct traffic_config config(const char *pattern, uint16_t host, uint32_t hosts)
{
	return traffic_at_half_load(pattern, host, hosts, 100);
}

#define NOWHERE 0xFFFF

/* Returns the destination of the next message, or NOWHERE if the source is silent. */
static uint16_t next(struct traffic *traffic, weft_time *now)
{
	struct traffic_message message;

	while (!traffic_poll(traffic, *now, &message)) {
		if (traffic_finished(traffic, *now))
			return NOWHERE;
		*now += PS_PER_US;
	}
	traffic_accept(traffic);
	return message.destination;
}

static void count(const struct traffic_config *from, unsigned *reached)
{
	OWNED(traffic) *traffic = start(from);
	weft_time now = 0;

	memset(reached, 0, from->hosts * sizeof(*reached));
	for (unsigned i = 0; i < MESSAGES; i++)
		reached[next(traffic, &now)]++;
}

/* Five standard deviations of a share of the messages. */
static void assert_share(unsigned counted, double share)
{
	double wanted = share * MESSAGES, sigma = sqrt(wanted * (1 - share));

	if (fabs(counted - wanted) > 5 * sigma + 0.5)
		fail_msg("expected %u messages, %.0f", counted, wanted);
}

/* The definitions again, on digits: digit[0] is the lowest bit. */

typedef void map_fn(const unsigned *in, unsigned *out, unsigned bits);

static void reversal(const unsigned *in, unsigned *out, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		out[i] = in[bits - 1 - i];
}

static void transpose(const unsigned *in, unsigned *out, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		out[i] = in[(i + bits / 2) % bits];
}

static void shuffle(const unsigned *in, unsigned *out, unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		out[i] = in[(i + bits - 1) % bits];
}

static void butterfly(const unsigned *in, unsigned *out, unsigned bits)
{
	memcpy(out, in, bits * sizeof(*in));
	out[0] = in[bits - 1];
	out[bits - 1] = in[0];
}

static unsigned apply(map_fn *map, unsigned host, unsigned bits)
{
	unsigned in[16], out[16], result = 0;

	for (unsigned i = 0; i < bits; i++)
		in[i] = host >> i & 1;
	map(in, out, bits);
	for (unsigned i = 0; i < bits; i++)
		result |= out[i] << i;
	return result;
}

static void check_map(const char *pattern, map_fn *map, unsigned bits)
{
	for (unsigned host = 0; host < 1u << bits; host++) {
		struct traffic_config from =
			config(pattern, (uint16_t)host, (uint16_t)(1u << bits));
		OWNED(traffic) *traffic = start(&from);
		unsigned partner = apply(map, host, bits);
		weft_time now = 0;

		if (partner == host)
			partner = NOWHERE;
		assert_int_equal(next(traffic, &now), partner);
		assert_int_equal(next(traffic, &now), partner);
	}
}

UNIT_TEST(the_bit_patterns_are_the_permutations_of_their_definition)
{
	for (unsigned bits = 1; bits <= 9; bits++) {
		check_map("bit-reversal", reversal, bits);
		check_map("shuffle", shuffle, bits);
		check_map("butterfly", butterfly, bits);
		if (bits % 2 == 0)
			check_map("transpose", transpose, bits);
	}
}

/* Some pairs as plain numbers, of 64 hosts. */
UNIT_TEST(some_partners_are_as_in_the_books)
{
	static const struct {
		const char *pattern;
		uint16_t from, to;
	} pairs[] = {
		{"bit-reversal", 1, 32},
		{"bit-reversal", 6, 24},
		{"transpose", 1, 8},
		{"transpose", 10, 17},
		{"shuffle", 33, 3},
		{"shuffle", 5, 10},
		{"butterfly", 1, 32},
		{"butterfly", 37, NOWHERE},
		{"butterfly", 6, NOWHERE},
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct traffic_config from = config(pairs[i].pattern, pairs[i].from, 64);
		OWNED(traffic) *traffic = start(&from);
		weft_time now = 0;

		assert_int_equal(next(traffic, &now), pairs[i].to);
	}
}

UNIT_TEST(other_numbers_of_hosts_are_refused_with_the_reason)
{
	static const struct {
		const char *pattern;
		uint16_t hosts;
		const char *reason;
	} refused[] = {
		{"bit-reversal", 12,
			"bit-reversal traffic permutes the bits of host numbers, so the number of hosts must be a power of two, not 12"},
		{"shuffle", 1,
			"shuffle traffic permutes the bits of host numbers, so the number of hosts must be a power of two, not 1"},
		{"butterfly", 65534,
			"butterfly traffic permutes the bits of host numbers, so the number of hosts must be a power of two, not 65534"},
		{"transpose", 32,
			"transpose traffic exchanges the halves of host numbers, so the number of hosts must be an even power of two (4, 16, 64, ...), not 32"},
	};

	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct traffic_config from = config(refused[i].pattern, 0, refused[i].hosts);
		struct error error = {""};

		assert_null(traffic_create(&from, &error));
		assert_string_equal(error.text, refused[i].reason);
	}
}

UNIT_TEST(local_reaches_its_near_hosts_equally_often_and_never_itself)
{
	static const uint16_t near[] = {1, 3, 5, 9, 12};
	struct traffic_config from = config("local", 5, HOSTS);
	unsigned reached[HOSTS];

	from.near = near;
	from.near_count = 5;
	count(&from, reached);
	assert_share(reached[1], 0.25);
	assert_share(reached[3], 0.25);
	assert_share(reached[9], 0.25);
	assert_share(reached[12], 0.25);
	assert_int_equal(reached[1] + reached[3] + reached[9] + reached[12], MESSAGES);
}

UNIT_TEST(local_with_nobody_near_is_silent)
{
	static const uint16_t near[] = {5};
	struct traffic_config from = config("local", 5, HOSTS);
	OWNED(traffic) *traffic;
	weft_time now = 0;

	from.near = near;
	from.near_count = 1;
	traffic = start(&from);
	assert_int_equal(next(traffic, &now), NOWHERE);
}

/* The maximum number: one more than 16 bits hold. */
UNIT_TEST(lists_may_have_all_of_65536_hosts)
{
	static const char *const patterns[] = {"local", "hotspot", "uniform", "all-to-all"};
	uint16_t *all = calloc(MAX_HOSTS, sizeof(*all));

	assert_non_null(all);
	for (uint32_t i = 0; i < MAX_HOSTS; i++)
		all[i] = (uint16_t)i;
	for (unsigned i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct traffic_config from = config(patterns[i], 5, MAX_HOSTS);
		OWNED(traffic) *traffic;
		weft_time now = 0;
		uint16_t to;

		from.targets = from.near = all;
		from.targets_count = from.near_count = MAX_HOSTS;
		traffic = start(&from);
		to = next(traffic, &now);
		assert_int_not_equal(to, 5);
		assert_int_not_equal(to, NOWHERE);
	}
	free(all);
}

/* The thesis' hot spot: a share of the messages goes to it, and the rest is uniform, including
 * it. */
UNIT_TEST(a_share_of_the_messages_goes_to_the_hot_spot_the_rest_anywhere)
{
	static const uint16_t targets[] = {7};
	struct traffic_config from = config("hotspot", 5, HOSTS);
	unsigned reached[HOSTS];

	from.targets = targets;
	from.targets_count = 1;
	from.value.share_ppm = 100000;
	count(&from, reached);
	for (unsigned i = 0; i < HOSTS; i++)
		if (i != 5)
			assert_share(reached[i], 0.9 / 15 + (i == 7 ? 0.1 : 0));
	assert_int_equal(reached[5], 0);
	from.host = 7;
	count(&from, reached);
	assert_share(reached[0], 1.0 / 15);
	assert_int_equal(reached[7], 0);
}

/* Uniform, local, hot spot and bit-reversal in equal parts. */
UNIT_TEST(combined_takes_its_four_patterns_equally_often)
{
	static const uint16_t targets[] = {7}, near[] = {4, 5, 6};
	struct traffic_config from = config("combined", 5, HOSTS);
	unsigned reached[HOSTS];

	from.targets = targets;
	from.targets_count = 1;
	from.value.share_ppm = 200000;
	from.near = near;
	from.near_count = 3;
	count(&from, reached);
	for (unsigned i = 0; i < HOSTS; i++) {
		double share = 0.25 / 15;                        /* uniform */
		share += i == 4 || i == 6 ? 0.25 / 2 : 0;        /* local */
		share += 0.25 * (0.8 / 15 + (i == 7 ? 0.2 : 0)); /* hot spot */
		share += i == 10 ? 0.25 : 0;                     /* 0101 backwards */
		if (i != 5)
			assert_share(reached[i], share);
	}
	assert_int_equal(reached[5], 0);
}

UNIT_TEST(combined_leaves_out_what_this_host_cannot_send)
{
	static const uint16_t targets[] = {6};
	struct traffic_config from = config("combined", 6, HOSTS); /* 0110 is its own reversal */
	unsigned reached[HOSTS];

	from.targets = targets;
	from.targets_count = 1;
	count(&from, reached); /* none near, itself the hot spot: only uniform is left */
	for (unsigned i = 0; i < HOSTS; i++)
		if (i != 6)
			assert_share(reached[i], 1.0 / 15);
}

UNIT_TEST(all_to_all_goes_round_beginning_behind_the_sender)
{
	bool taken[HOSTS][HOSTS] = {{false}};

	for (uint16_t host = 0; host < HOSTS; host++) {
		struct traffic_config from = config("all-to-all", host, HOSTS);
		OWNED(traffic) *traffic = start(&from);
		weft_time now = 0;

		for (unsigned round = 0; round < HOSTS - 1; round++) {
			uint16_t to = next(traffic, &now);

			assert_int_equal(to, (host + 1 + round) % HOSTS);
			assert_false(taken[round][to]); /* each round is a permutation */
			taken[round][to] = true;
		}
		assert_int_equal(next(traffic, &now), (host + 1) % HOSTS);
	}
}

UNIT_TEST(all_to_all_of_a_list_stays_in_it)
{
	static const uint16_t targets[] = {2, 5, 11};
	static const struct {
		uint16_t host, to[4];
	} wanted[] = {
		{5, {11, 2, 11, 2}}, {0, {2, 5, 11, 2}}, {11, {2, 5, 2, 5}}, {15, {2, 5, 11, 2}}};

	for (unsigned i = 0; i < 4; i++) {
		struct traffic_config from = config("all-to-all", wanted[i].host, HOSTS);
		OWNED(traffic) *traffic;
		weft_time now = 0;

		from.targets = targets;
		from.targets_count = 3;
		traffic = start(&from);
		for (unsigned j = 0; j < 4; j++)
			assert_int_equal(next(traffic, &now), wanted[i].to[j]);
	}
}

/* For all sources, pattern, kind of arrivals and seed determine everything. */
UNIT_TEST(the_same_seed_gives_the_same_schedule)
{
	static const uint16_t targets[] = {2, 7}, near[] = {1, 2, 4},
			      permutation[HOSTS] = {0, 0, 0, 9};
	static const struct traffic_packet packets[] = {{0, 60, 0, 3, 9}, {PS_PER_MS, 99, 1, 3, 0}};

	for (unsigned p = 0; p < traffic_patterns.count; p++)
		for (unsigned kind = ARRIVALS_CONSTANT; kind <= ARRIVALS_BURSTY; kind++) {
			const struct traffic_pattern *pattern = traffic_patterns.entry[p];
			struct traffic_config from = config(pattern->name, 3, HOSTS);
			struct traffic_message x, y;
			OWNED(traffic) *a = NULL, *b = NULL;

			if (pattern->schedule)
				continue;
			from.permutation = permutation;
			from.value.arrivals = (enum arrivals_kind)kind;
			from.value.on_ps = from.value.off_ps = PS_PER_US;
			from.targets = targets;
			from.near = near;
			from.targets_count = 2;
			from.near_count = 3;
			from.packet = packets;
			from.packets = pattern->packets ? 2 : 0;
			from.loops = 300;
			from.loop_ps = 2 * PS_PER_MS;
			a = start(&from);
			b = start(&from);
			for (unsigned i = 0; i < 500; i++) {
				/* One source is polled late, and the other often. */
				weft_time now = 0;

				for (; !traffic_poll(a, now, &x); now += PS_PER_US)
					if (traffic_finished(a, now))
						fail_msg("%s ends early", pattern->name);
				assert_true(traffic_poll(b, PS_PER_S, &y));
				assert_memory_equal(&x, &y, sizeof(x));
				traffic_accept(a);
				traffic_accept(b);
			}
		}
}

/* The load over a time, and the maximum in any 20 us. */
UNIT_TEST(bursty_sources_keep_the_mean_load)
{
	struct traffic_config from = config("uniform", 5, HOSTS);
	const weft_time duration = 400 * PS_PER_MS;
	const struct traffic_counters *counters;
	struct traffic_message message;
	OWNED(traffic) *traffic;

	from.value.load_ppm = 200000;
	from.value.arrivals = ARRIVALS_BURSTY;
	from.value.on_ps = 10 * PS_PER_US;
	from.value.off_ps = 30 * PS_PER_US;
	traffic = start(&from);
	while (traffic_poll(traffic, duration, &message))
		traffic_accept(traffic);
	counters = traffic_counters(traffic);
	/* 10,000 bursts have a deviation of 1.2 %. A message takes 174 bytes on the wire. */
	assert_true(fabs((double)counters->generated_messages * 174 * 8 / (0.4 * 1e10) / 0.2 - 1) <
		    0.06);
}

UNIT_TEST(bursts_above_the_rate_of_the_link_are_refused)
{
	struct traffic_config from = config("uniform", 5, HOSTS);
	struct error error;
	struct traffic *traffic;

	from.value.arrivals = ARRIVALS_BURSTY;
	from.value.on_ps = 10 * PS_PER_US;
	from.value.off_ps = 30 * PS_PER_US;
	from.value.load_ppm = 250001;
	assert_null(traffic_create(&from, &error));
	assert_string_equal(error.text, "bursty traffic that is on for 25% of the time cannot have "
					"a mean load of 25%");
	from.value.load_ppm = 250000;
	traffic = traffic_create(&from, &error);
	assert_non_null(traffic);
	traffic_destroy(traffic);
	from.value.on_ps = 0;
	assert_null(traffic_create(&from, &error));
}
