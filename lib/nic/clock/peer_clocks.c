/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "peer_clocks.h"

#include <stdlib.h>

#include <sodium/crypto_shorthash.h>

#include "wire/big_endian.h"

_Static_assert((PEER_CLOCKS_OPEN & (PEER_CLOCKS_OPEN - 1)) == 0, "places are bits of the number");

struct peer_clocks *peer_clocks_create(const struct peer_clocks_config *config)
{
	struct peer_clocks *clocks =
		calloc(1, sizeof(*clocks) + config->hosts * sizeof(clocks->peer[0]));

	if (clocks == NULL)
		return NULL;
	clocks->config = *config;
	for (unsigned i = 0; i < config->hosts; i++) {
		clocks->peer[i].other = !config->same[i];
		/* The remaining entries are never used, so their memory is not touched. */
		if (clocks->peer[i].other)
			clock_offset_forget(&clocks->peer[i].offset);
	}
	clocks->config.same = NULL;
	return clocks;
}

void peer_clocks_destroy(struct peer_clocks *clocks)
{
	free(clocks);
}

/* Returns the interval between questions after the first ones. */
static weft_time later(const struct peer_clock *at)
{
	return PEER_CLOCKS_LATER_PS << (at->steps > 1 ? at->steps - 1 : 0);
}

void peer_clocks_ask(struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];
	bool first = at->asked < PEER_CLOCKS_FIRST;

	at->asked += first;
	at->next = now + (first ? PEER_CLOCKS_FIRST_PS : later(at));
}

/* Returns the number of the question in this slot that was sent at 'sent_ns'. It is recomputed when
 * the answer arrives. The hashes of flow_handshake.c have shorter inputs, so these numbers reveal
 * nothing about them. */
static uint64_t number_of(
	const struct peer_clocks *clocks, uint16_t peer, unsigned place, int64_t sent_ns)
{
	uint8_t in[13], out[crypto_shorthash_BYTES];
	uint64_t number;

	*put64(put32(in, (uint32_t)clocks->config.host << 16 | peer), (uint64_t)sent_ns) =
		(uint8_t)place;
	crypto_shorthash(out, in, sizeof(in), clocks->config.secret);
	number = (get64(out) & ~(uint64_t)(PEER_CLOCKS_OPEN - 1)) | place;
	return number != 0 ? number : PEER_CLOCKS_OPEN;
}

/* Rounds down, because a departure stamp must not be later than the departure. */
static int64_t stamp_leaving(weft_time now)
{
	return (int64_t)(now / PS_PER_NS);
}

/* Rounds up, because an arrival stamp must not be earlier than the arrival. */
static int64_t stamp_arrival(weft_time now)
{
	return (int64_t)((now + PS_PER_NS - 1) / PS_PER_NS);
}

struct control_clock peer_clocks_question(struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];
	int64_t sent_ns = stamp_leaving(now);
	unsigned place = at->turn++ % PEER_CLOCKS_OPEN;

	at->sent_ns[place] = sent_ns;
	return (struct control_clock){.step = CONTROL_CLOCK_ASK,
		.clock = clocks->config.clock,
		.number = number_of(clocks, peer, place, sent_ns),
		.left_ns = (uint64_t)sent_ns};
}

struct control_clock peer_clocks_answer(struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	const struct peer_clock *at = &clocks->peer[peer];
	int64_t left_ns = stamp_leaving(now);

	/* If the question arrived in the same nanosecond, its stamp is the end of that nanosecond.
	 */
	if (left_ns < at->heard_ns)
		left_ns = at->heard_ns;
	return (struct control_clock){.step = CONTROL_CLOCK_ANSWER,
		.clock = clocks->config.clock,
		.number = at->heard_number,
		.heard_ns = (uint64_t)at->heard_ns,
		.left_ns = (uint64_t)left_ns};
}

static enum peer_clocks_verdict hear_question(
	struct peer_clock *at, const struct control_clock *clock, weft_time now)
{
	if (!at->other || now < at->quiet_until)
		return PEER_CLOCKS_REFUSED;
	at->quiet_until = now + PEER_CLOCKS_QUIET_PS;
	at->heard_number = clock->number;
	at->heard_ns = stamp_arrival(now);
	return PEER_CLOCKS_DUE;
}

/* Closes the question with this number. Returns its departure time, or 0 if no such question is
 * open. */
static int64_t close_question(
	struct peer_clocks *clocks, uint16_t peer, uint64_t number, int64_t arrived_ns)
{
	unsigned place = number % PEER_CLOCKS_OPEN;
	int64_t *open = &clocks->peer[peer].sent_ns[place], sent_ns = *open;

	if (sent_ns == 0 || arrived_ns - sent_ns > (int64_t)(PEER_CLOCKS_OPEN_PS / PS_PER_NS) ||
		number != number_of(clocks, peer, place, sent_ns))
		return 0;
	*open = 0;
	return sent_ns;
}

static void close_before(struct peer_clock *at, int64_t ns)
{
	for (unsigned i = 0; i < PEER_CLOCKS_OPEN; i++)
		if (at->sent_ns[i] < ns)
			at->sent_ns[i] = 0;
}

/* Resets the estimate for a new clock. Answers to earlier questions may come from the old one. */
static void change_clock(struct peer_clock *at, uint32_t clock)
{
	if (clock == at->clock)
		return;
	at->clock = clock;
	at->asked = at->steps = at->agreed = 0;
	at->answered = false;
	close_before(at, INT64_MAX);
	clock_offset_forget(&at->offset);
}

static void count_step(struct peer_clock *at)
{
	if (at->steps == 0)
		at->next = at->asked = 0;
	else
		at->asked = PEER_CLOCKS_FIRST;
	at->steps += at->steps < PEER_CLOCKS_STEPS;
	at->agreed = 0;
}

static void count_agreement(struct peer_clock *at)
{
	if (++at->agreed < PEER_CLOCKS_CALM)
		return;
	at->agreed = 0;
	at->steps -= at->steps > 0;
}

static enum peer_clocks_verdict hear_answer(
	struct peer_clocks *clocks, uint16_t peer, const struct control_clock *clock, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];
	struct clock_sample sample = {.arrived_ns = stamp_arrival(now),
		.heard_ns = (int64_t)clock->heard_ns,
		.answered_ns = (int64_t)clock->left_ns};

	sample.sent_ns = close_question(clocks, peer, clock->number, sample.arrived_ns);
	if (sample.sent_ns == 0)
		return PEER_CLOCKS_REFUSED;
	change_clock(at, clock->clock);
	at->answered |= at->offered != 0 && sample.sent_ns >= at->offered_ns;
	switch (clock_offset_take(&at->offset, &sample)) {
	case CLOCK_AGREES:
		count_agreement(at);
		return PEER_CLOCKS_TAKEN;
	case CLOCK_STEPPED:
		count_step(at);
		return PEER_CLOCKS_STEPPED;
	default:
		return PEER_CLOCKS_REFUSED;
	}
}

enum peer_clocks_verdict peer_clocks_receive(
	struct peer_clocks *clocks, uint16_t peer, const struct control_clock *clock, weft_time now)
{
	return clock->step == CONTROL_CLOCK_ASK ? hear_question(&clocks->peer[peer], clock, now)
						: hear_answer(clocks, peer, clock, now);
}

void peer_clocks_offer(struct peer_clocks *clocks, uint16_t peer, uint64_t name, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];

	if (at->offered == name)
		return;
	at->offered = name;
	at->offered_ns = stamp_leaving(now);
	at->answered = false;
}

/* Disables the estimate until the next answer, which only the peer's current session can send. */
static void doubt(struct peer_clock *at)
{
	at->next = 0;
	at->asked = 0;
	close_before(at, INT64_MAX);
	clock_offset_doubt(&at->offset);
}

void peer_clocks_begin(struct peer_clocks *clocks, uint16_t peer, bool last)
{
	struct peer_clock *at = &clocks->peer[peer];

	if (!at->other)
		return;
	if (last && at->answered)
		close_before(at, at->offered_ns);
	else
		doubt(at);
	at->offered = 0;
	at->answered = false;
}
