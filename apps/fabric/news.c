/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "news.h"

#include <stdio.h>
#include <time.h>

#define NEWS_EACH_S 0.5

static double wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void news_begin(struct news *news)
{
	*news = (struct news){.started = wall_clock()};
}

void news_tell(struct news *news, uint64_t done, uint64_t whole, double scale, const char *unit,
	uint64_t packet_hops)
{
	double now = wall_clock(), gone = now - news->started;

	if (now - news->told < NEWS_EACH_S || done == 0)
		return;
	news->told = now;
	news->shown = true;
	fprintf(stderr, "\r%5.1f %%  %.3f of %.3f %s  %.1f million packet-hops/s  %.0f s left   ",
		100 * (double)done / (double)whole, (double)done / scale, (double)whole / scale,
		unit, (double)packet_hops / gone / 1e6,
		gone * (double)(whole - done) / (double)done);
}

void news_end(const struct news *news)
{
	if (news->shown)
		fprintf(stderr, "\r%*s\r", 78, "");
}
