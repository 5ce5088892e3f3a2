/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "credit.h"

/* Maximum number of frames simulated in a buffer. If more fit, several are combined. */
#define FRAMES_MAX 512u
/* Run lengths, in buffers of frames: until the pattern has settled, and for the measurement. */
#define SETTLE  8u
#define MEASURE 32u
#define STARTS  16u

struct play {
	const struct credit_loop *loop;
	uint32_t frame_blocks;
	weft_time frame_ps, now, free_at, refresh_at;
	struct credit_tx tx;
	struct credit_rx rx;
	uint64_t sent, arrived, freed, granted, taken; /* frames (first three), credit frames */
	weft_time start[FRAMES_MAX], grant_at[FRAMES_MAX];
	uint32_t limit[FRAMES_MAX];
};

static void grant(struct play *play)
{
	const struct credit_loop *loop = play->loop;
	uint32_t fresh = credit_ungranted(&play->rx);

	if (fresh == 0 ||
		!(loop->each || credit_grant_due(&play->rx) || play->now >= play->refresh_at))
		return;
	play->rx.granted = credit_limit(&play->rx);
	if (loop->refresh_ps != WEFT_TIME_NEVER)
		play->refresh_at = play->now + loop->refresh_ps;
	play->grant_at[play->granted % FRAMES_MAX] = play->now + loop->return_ps;
	play->limit[play->granted++ % FRAMES_MAX] = play->rx.granted;
}

static weft_time next_arrival(const struct play *play)
{
	return play->arrived < play->sent
		       ? play->start[play->arrived % FRAMES_MAX] + play->loop->arrive_ps
		       : WEFT_TIME_NEVER;
}

static weft_time next_release(const struct play *play)
{
	return play->freed < play->sent
		       ? play->start[play->freed % FRAMES_MAX] + play->loop->free_ps
		       : WEFT_TIME_NEVER;
}

static weft_time next_grant(const struct play *play)
{
	return play->taken < play->granted ? play->grant_at[play->taken % FRAMES_MAX]
					   : WEFT_TIME_NEVER;
}

/* Advances to the next event and processes its credits at the receiver and the sender. */
static void advance(struct play *play)
{
	bool some = credit_ungranted(&play->rx) > 0;

	play->now = weft_time_min(weft_time_min(next_arrival(play), next_release(play)),
		weft_time_min(next_grant(play), some ? play->refresh_at : WEFT_TIME_NEVER));
	if (play->now == next_grant(play))
		play->tx.limit = play->limit[play->taken++ % FRAMES_MAX];
	if (play->now == next_arrival(play)) {
		credit_arrive(&play->rx, play->frame_blocks);
		play->arrived++;
	}
	if (play->now == next_release(play)) {
		credit_release(&play->rx, play->frame_blocks);
		play->freed++;
		grant(play);
	} else if (play->loop->refresh_ps != WEFT_TIME_NEVER) {
		grant(play); /* a poll loop polls at any time, the event-driven model only at
				releases */
	}
}

static void send(struct play *play)
{
	weft_time begin;

	while (!credit_suffices(&play->tx, play->frame_blocks))
		advance(play);
	begin = play->now > play->free_at ? play->now : play->free_at;
	while (weft_time_min(weft_time_min(next_arrival(play), next_release(play)),
		       next_grant(play)) <= begin)
		advance(play);
	credit_take(&play->tx, play->frame_blocks);
	play->start[play->sent++ % FRAMES_MAX] = play->now = begin;
	play->free_at = begin + play->frame_ps;
}

/* Simulates a sender that starts with credits for 'first' frames; the receiver has the rest. */
static uint32_t ppm_from(
	const struct credit_loop *loop, uint64_t frames, uint32_t together, uint64_t first)
{
	uint32_t limit = loop->vc_blocks;
	struct play play = {.loop = loop,
		.frame_blocks = loop->frame_blocks * together,
		.frame_ps = loop->frame_ps * together,
		.refresh_at = loop->refresh_ps};
	uint64_t took = MEASURE * frames * play.frame_ps;
	weft_time from;

	if (first < frames)
		limit = (uint32_t)first * play.frame_blocks;
	play.tx.limit = limit;
	play.rx = (struct credit_rx){.granted = limit, .capacity = loop->vc_blocks};
	for (uint64_t i = 0; i < SETTLE * frames; i++)
		send(&play);
	from = play.now;
	for (uint64_t i = 0; i < MEASURE * frames; i++)
		send(&play);
	return (uint32_t)(((__uint128_t)took * CREDIT_LOOP_WHOLE_PPM + (play.now - from) - 1) /
			  (play.now - from));
}

/* A credit frame returns at most a quarter of the buffer, so the sender has credits left until the
 * credit frame arrives. */
static bool is_enough(const struct credit_loop *loop, uint32_t fit)
{
	uint32_t combined = loop->each ? 1 : loop->vc_blocks / 4 / loop->frame_blocks + 1;

	return loop->free_ps + loop->return_ps + combined * loop->frame_ps <= fit * loop->frame_ps;
}

/* If a credit frame returns the credits of several frames, the result depends on the initial state.
 * The best of several initial states is used. */
uint32_t credit_loop_ppm(const struct credit_loop *loop)
{
	uint32_t fit = loop->vc_blocks / loop->frame_blocks, max = 0;
	uint32_t together = (fit + FRAMES_MAX - 2) / (FRAMES_MAX - 1);
	uint32_t starts = loop->each ? 1 : STARTS;
	uint64_t frames = fit > 0 ? fit / together : 0;

	if (is_enough(loop, fit))
		return CREDIT_LOOP_WHOLE_PPM;
	for (uint64_t i = 0; i < starts && frames > 0; i++) {
		uint32_t ppm = ppm_from(loop, frames, together, frames - i * frames / starts);

		max = ppm > max ? ppm : max;
	}
	return max;
}
