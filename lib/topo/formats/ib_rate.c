/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ib_listing.h"

#include <stdio.h>
#include <string.h>

#define MBPS ((uint64_t)1000 * 1000)

/* Rate of one lane. FDR10 comes after QDR, which has the same rate and is more widely known. */
static const struct {
	const char *name;
	uint64_t lane_bps;
	bool written; /* known to ibsim */
} speeds[] = {
	{"SDR", 2500 * MBPS, true},
	{"DDR", 5000 * MBPS, true},
	{"QDR", 10000 * MBPS, true},
	{"FDR10", 10000 * MBPS, false},
	{"FDR", 14000 * MBPS, true},
	{"EDR", 25000 * MBPS, true},
	{"HDR", 50000 * MBPS, true},
	{"NDR", 100000 * MBPS, true},
	{"XDR", 200000 * MBPS, false},
};

static const struct {
	const char *name; /* as read and written */
	unsigned lanes;
} widths[] = {{"4x", 4}, {"1x", 1}, {"2x", 2}, {"8x", 8}, {"12x", 12}};

#define SPEEDS (sizeof(speeds) / sizeof(speeds[0]))
#define WIDTHS (sizeof(widths) / sizeof(widths[0]))

bool ib_rate_parse(const char *text, size_t length, uint64_t *rate_bps)
{
	for (unsigned w = 0; w < WIDTHS; w++)
		for (unsigned s = 0; s < SPEEDS; s++) {
			size_t digits = strlen(widths[w].name), letters = strlen(speeds[s].name);

			if (length != digits + letters ||
				memcmp(text, widths[w].name, digits) != 0 ||
				memcmp(text + digits, speeds[s].name, letters) != 0)
				continue;
			*rate_bps = speeds[s].lane_bps * widths[w].lanes;
			return true;
		}
	return false;
}

bool ib_rate_format(uint64_t rate_bps, char text[IB_RATE_TEXT])
{
	uint64_t best = 0;

	snprintf(text, IB_RATE_TEXT, "1xSDR");
	for (unsigned w = 0; w < WIDTHS; w++)
		for (unsigned s = 0; s < SPEEDS; s++) {
			uint64_t rate = speeds[s].lane_bps * widths[w].lanes;

			if (!speeds[s].written || rate > rate_bps || rate <= best)
				continue;
			best = rate;
			snprintf(text, IB_RATE_TEXT, "%s%s", widths[w].name, speeds[s].name);
		}
	return best == rate_bps;
}

uint64_t ib_rate_of(uint8_t width_bits, uint8_t speed_bits)
{
	/* As ibsim chooses: the widest, then the fastest. */
	static const struct {
		uint8_t bit;
		unsigned lanes;
	} by_width[] = {{8, 12}, {4, 8}, {2, 4}, {16, 2}, {1, 1}};

	for (unsigned w = 0; w < sizeof(by_width) / sizeof(by_width[0]); w++)
		for (unsigned s = 3; s-- > 0;)
			if ((width_bits & by_width[w].bit) != 0 && (speed_bits & 1u << s) != 0)
				return (uint64_t)by_width[w].lanes * (2500 * MBPS << s);
	return 0;
}
