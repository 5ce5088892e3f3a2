/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include "base/rng.h"
#include "port/tsc_clock.h"

static const uint64_t frequencies[] = {1000000, 999999937, 2500000000, 2894561337, 5100000000};

#define FREQUENCIES (sizeof(frequencies) / sizeof(frequencies[0]))
#define DAYS_PS(n)  ((weft_time)(n)*86400 * PS_PER_S)

UNIT_TEST(time_is_exact_after_a_hundred_days)
{
	/* The maximum sum of 2^-32 ps per cycle, plus the last picosecond. */
	for (unsigned i = 0; i < FREQUENCIES; i++) {
		uint64_t cycles = 100 * 86400 * frequencies[i];
		struct clock clock;
		weft_time at;

		clock_init(&clock, frequencies[i], 12345);
		at = clock_time_at(&clock, 12345 + cycles);
		assert_true(at <= DAYS_PS(100));
		assert_true(DAYS_PS(100) - at <= (cycles >> CLOCK_SHIFT) + 1);
	}
}

UNIT_TEST(time_never_goes_back)
{
	struct rng rng;

	rng_init(&rng, 7, 0, 0);
	for (unsigned i = 0; i < FREQUENCIES; i++) {
		uint64_t tsc = 1000;
		weft_time last = 0;
		struct clock clock;

		clock_init(&clock, frequencies[i], tsc);
		for (unsigned step = 0; step < 20000; step++) {
			weft_time now;

			tsc += rng_below(&rng, (uint64_t)1 << rng_below(&rng, 34));
			now = clock_time_at(&clock, tsc);
			assert_true(now >= last);
			last = now;
		}
	}
}

UNIT_TEST(intervals_do_not_depend_on_when_they_are_taken)
{
	struct clock clock;

	clock_init(&clock, 2500000000, 0);
	for (uint64_t start = 1; start < (uint64_t)1 << 52; start *= 3)
		assert_true(clock_time_at(&clock, start + 25000) - clock_time_at(&clock, start) ==
			    10 * PS_PER_US);
}

UNIT_TEST(counter_behind_the_origin_reads_as_the_start)
{
	struct clock clock;

	clock_init(&clock, 2500000000, 1000);
	assert_true(clock_time_at(&clock, 900) == 0);
	assert_true(clock_time_at(&clock, 1000) == 0);
}

/* Also for the longest time. */
UNIT_TEST(text_makes_the_same_clock)
{
	static const char *const texts[] = {"2894561337:5:1", "2894561337:5:10000",
		"18446744073709551615:18446744073709551600:10000"};
	char text[CLOCK_TEXT_SIZE];
	struct clock clock, copy;

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(clock_parse(&clock, texts[i], NULL), 0);
		clock_format(&clock, text);
		assert_string_equal(text, texts[i]);
		assert_int_equal(clock_parse(&copy, text, NULL), 0);
		assert_true(copy.hz == clock.hz && copy.origin_tsc == clock.origin_tsc &&
			    copy.mult == clock.mult && copy.dilation == clock.dilation);
	}
}

/* Exact to the picosecond that both round down, plus what the dilated clock loses per cycle. */
UNIT_TEST(a_dilated_clock_shows_the_real_time_divided)
{
	static const uint32_t dilations[] = {1, 2, 10, 1000, CLOCK_DILATION_MAX};
	char text[CLOCK_TEXT_SIZE];
	struct clock real, dilated;
	struct rng rng;

	rng_init(&rng, 11, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t hz = frequencies[rng_below(&rng, FREQUENCIES)];
		uint32_t dilation = dilations[rng_below(&rng, 5)];
		uint64_t cycles = rng_below(&rng, 100 * hz);
		weft_time shown, wanted;

		clock_init(&real, hz, 5);
		snprintf(text, sizeof(text), "%llu:5:%u", (unsigned long long)hz, dilation);
		assert_int_equal(clock_parse(&dilated, text, NULL), 0);
		shown = clock_time_at(&dilated, 5 + cycles);
		wanted = clock_share(&dilated, clock_time_at(&real, 5 + cycles));
		assert_true(shown <= wanted + 1);
		assert_true(wanted - shown <= (cycles >> CLOCK_SHIFT) + 1 || shown > wanted);
		assert_true(clock_span(&dilated, shown) <= clock_time_at(&real, 5 + cycles) + 1);
	}
}

/* The same for every dilation, however much later it is read. */
UNIT_TEST(the_origin_in_unix_time_does_not_depend_on_the_dilation)
{
	char text[CLOCK_TEXT_SIZE];
	struct clock real, dilated;
	uint64_t wanted, found;

	clock_start(&real, 1);
	real.origin_tsc -= 100 * real.hz;
	wanted = clock_unix_origin_ns(&real);
	snprintf(text, sizeof(text), "%llu:%llu:10", (unsigned long long)real.hz,
		(unsigned long long)real.origin_tsc);
	assert_int_equal(clock_parse(&dilated, text, NULL), 0);
	found = clock_unix_origin_ns(&dilated);
	assert_true((found > wanted ? found - wanted : wanted - found) < 1000000000);
}

UNIT_TEST(wrong_texts_are_refused)
{
	static const char *const wrong[] = {"", "x", "2500000000", "2500000000:", "2500000000:1x:1",
		"0:5:1", "12:5:1", ":5:1", "2500000000:1", "2500000000:1:", "2500000000:1:0",
		"2500000000:1:100001", "2500000000:1:1x"};
	struct clock clock;

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct error error = {""};

		assert_int_equal(clock_parse(&clock, wrong[i], &error), -EINVAL);
		assert_non_null(strstr(error.text, "HZ:ORIGIN:DILATION"));
	}
}
