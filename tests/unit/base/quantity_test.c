/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <errno.h>

#include "base/quantity.h"
#include "base/rng.h"
#include "base/weft_time.h"

static const struct {
	enum quantity_kind kind;
	const char *text;
	uint64_t value;
} good[] = {
	{QUANTITY_RATE, "10Gbps", 10000000000},
	{QUANTITY_RATE, "2.5Gbps", 2500000000},
	{QUANTITY_RATE, "1kbps", 1000},
	{QUANTITY_RATE, "7bps", 7},
	{QUANTITY_TIME, "30ns", 30000},
	{QUANTITY_TIME, "0ns", 0},
	{QUANTITY_TIME, "1.001ns", 1001},
	{QUANTITY_TIME, "120ms", 120000000000},
	{QUANTITY_TIME, "18446744073709551614ps", UINT64_MAX - 1},
	{QUANTITY_SIZE, "128KiB", 131072},
	{QUANTITY_SIZE, "0.5KiB", 512},
	{QUANTITY_SIZE, "344KiB", 352256},
	{QUANTITY_SIZE, "1.5GiB", 1610612736},
	{QUANTITY_SIZE, "1TiB", 1099511627776},
	{QUANTITY_SHARE, "100%", 1000000},
	{QUANTITY_SHARE, "0.1%", 1000},
	{QUANTITY_SHARE, "0.0001%", 1},
};

UNIT_TEST(quantities_have_their_exact_value)
{
	uint64_t value;

	for (unsigned i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		value = 1234567;
		assert_int_equal(quantity_parse(good[i].kind, good[i].text, &value), 0);
		assert_int_equal(value, good[i].value);
	}
}

static const struct {
	enum quantity_kind kind;
	const char *text;
	int result;
} bad[] = {
	{QUANTITY_RATE, "", -EINVAL},
	{QUANTITY_RATE, "10", -EINVAL},      /* no unit */
	{QUANTITY_RATE, "Gbps", -EINVAL},    /* no number */
	{QUANTITY_RATE, "10 Gbps", -EINVAL}, /* a blank */
	{QUANTITY_RATE, "10GBps", -EINVAL},  /* bytes */
	{QUANTITY_RATE, "10ns", -EINVAL},    /* another kind */
	{QUANTITY_RATE, "-1Gbps", -EINVAL},
	{QUANTITY_RATE, "+1Gbps", -EINVAL},
	{QUANTITY_RATE, "1.Gbps", -EINVAL},
	{QUANTITY_RATE, ".5Gbps", -EINVAL},
	{QUANTITY_RATE, "1e9bps", -EINVAL},
	{QUANTITY_RATE, "1.2.3Gbps", -EINVAL},
	{QUANTITY_RATE, "10Gbps ", -EINVAL},
	{QUANTITY_RATE, "0.5bps", -EDOM},
	{QUANTITY_TIME, "0.0001ns", -EDOM},
	{QUANTITY_SIZE, "0.3KiB", -EDOM},
	{QUANTITY_SHARE, "0.00001%", -EDOM},
	{QUANTITY_TIME, "18446744073709551615ps", -ERANGE},
	{QUANTITY_TIME, "18446744073709551616ps", -ERANGE},
	{QUANTITY_TIME, "99999999999999999999999ps", -ERANGE},
	{QUANTITY_TIME, "18446745s", -ERANGE},
	{QUANTITY_RATE, "18446744074Gbps", -ERANGE},
};

UNIT_TEST(what_is_no_quantity_is_refused_and_changes_nothing)
{
	uint64_t value;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		value = 99;
		assert_int_equal(quantity_parse(bad[i].kind, bad[i].text, &value), bad[i].result);
		assert_int_equal(value, 99);
	}
}

UNIT_TEST(texts_are_the_shortest_without_a_leading_zero)
{
	static const struct {
		enum quantity_kind kind;
		uint64_t value;
		const char *text;
	} shortest[] = {
		{QUANTITY_RATE, 10000000000, "10Gbps"},
		{QUANTITY_RATE, 2500000000, "2.5Gbps"},
		{QUANTITY_RATE, 1, "1bps"},
		{QUANTITY_TIME, 1500000, "1.5us"},
		{QUANTITY_TIME, 1000000, "1us"},
		{QUANTITY_TIME, 30000, "30ns"},
		{QUANTITY_TIME, 200000, "200ns"},
		{QUANTITY_TIME, 120 * PS_PER_MS, "120ms"},
		{QUANTITY_SIZE, 524288, "512KiB"},
		{QUANTITY_RATE, 100000000, "100Mbps"},
		{QUANTITY_SHARE, 1000, "0.1%"},
		{QUANTITY_TIME, 0, "0s"},
		{QUANTITY_SIZE, 131072, "128KiB"},
		{QUANTITY_SIZE, 1048577, "1048577B"},
		{QUANTITY_SHARE, 123456, "12.3456%"},
	};
	char text[QUANTITY_TEXT];

	for (unsigned i = 0; i < sizeof(shortest) / sizeof(shortest[0]); i++) {
		quantity_format(shortest[i].kind, shortest[i].value, text);
		assert_string_equal(text, shortest[i].text);
	}
}

UNIT_TEST(any_value_survives_writing_and_reading)
{
	char text[QUANTITY_TEXT];
	uint64_t value, back;
	struct rng rng;

	rng_init(&rng, 1, 0, 0);
	for (unsigned i = 0; i < 200000; i++) {
		value = rng_next(&rng) >> rng_below(&rng, 64);
		if (i % 3 == 0)
			value -= value % 1000000;
		if (i % 5 == 0)
			value &= ~(uint64_t)1023;
		if (value == UINT64_MAX)
			continue;
		quantity_format((enum quantity_kind)(i % QUANTITY_KIND_COUNT), value, text);
		assert_true(strlen(text) < QUANTITY_TEXT);
		assert_int_equal(
			quantity_parse((enum quantity_kind)(i % QUANTITY_KIND_COUNT), text, &back),
			0);
		assert_int_equal(back, value);
	}
}

UNIT_TEST(times_for_people_are_scaled_and_rounded)
{
	static const struct {
		uint64_t ns;
		unsigned digits;
		const char *text;
	} of[] = {{0, 4, "0 ns"}, {999, 4, "999 ns"}, {1536, 4, "1.536 us"}, {12345, 4, "12.35 us"},
		{410000000, 2, "410 ms"}, {99700, 2, "100 us"}, {303000, 2, "300 us"},
		{118714231, 6, "118.714 ms"}, {1619001300, 4, "1.619 s"},
		{UINT64_C(86400000000000), 4, "86400 s"}};
	char text[QUANTITY_TEXT];

	for (unsigned i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		assert_string_equal(quantity_time_text(of[i].ns, of[i].digits, text), of[i].text);
}
