/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "saturation.h"

#include <math.h>

#define STRIDE 3 /* the first: 7.7 % */

bool accepts_less(double offered, double accepted, uint64_t messages)
{
	return accepted < offered * fmax(ACCEPTS_LESS, 1 - 1 / sqrt((double)messages));
}

double saturation_load(int step)
{
	return SATURATION_MIN * pow(SATURATION_STEP, step);
}

static int step_of(double load)
{
	return (int)floor(log(load / SATURATION_MIN) / log(SATURATION_STEP) + 1e-9);
}

void saturation_begin(struct saturation *search, double load, uint64_t messages)
{
	*search = (struct saturation){.low = -1,
		.high = -1,
		.stride = STRIDE,
		.messages = messages,
		.last = step_of(1.0)};
	search->at = step_of(load > SATURATION_MIN ? load : SATURATION_MIN);
	if (search->at > search->last)
		search->at = search->last;
}

void saturation_verify(struct saturation *search, uint64_t messages)
{
	*search = (struct saturation){.at = search->low > 0 ? search->low : 0,
		.low = -1,
		.high = -1,
		.stride = 1,
		.messages = messages,
		.last = search->last};
}

/* One side is not known yet. */
static void gallop(struct saturation *search)
{
	int to = search->high < 0 ? search->low + search->stride : search->high - search->stride;

	search->stride *= 2;
	search->at = to < 0 ? 0 : to > search->last ? search->last : to;
}

void saturation_take(struct saturation *search, double offered, double accepted, double traffic)
{
	if (!accepts_less(offered, accepted, search->messages)) {
		search->low = search->at;
		search->traffic = traffic;
	} else {
		search->high = search->at;
	}
	search->done = search->low == search->last || search->high == 0 ||
		       (search->low >= 0 && search->high == search->low + 1);
	if (search->done)
		return;
	if (search->low < 0 || search->high < 0)
		gallop(search);
	else
		search->at = search->low + (search->high - search->low) / 2;
}
