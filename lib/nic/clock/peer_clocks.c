/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "peer_clocks.h"

#include <stdlib.h>

#include <sodium/crypto_shorthash.h>

#include "big_endian.h"

struct peer_clocks *peer_clocks_create(const struct peer_clocks_config *config)
{
	struct peer_clocks *clocks =
		calloc(1, sizeof(*clocks) + config->hosts * sizeof(clocks->peer[0]));

	if (clocks == NULL)
		return NULL;
	clocks->config = *config;
	for (unsigned i = 0; i < config->hosts; i++) {
		clocks->peer[i].other = !config->same[i];
		clock_offset_forget(&clocks->peer[i].offset);
	}
	clocks->config.same = NULL;
	return clocks;
}

void peer_clocks_destroy(struct peer_clocks *clocks)
{
	free(clocks);
}

void peer_clocks_ask(struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];
	bool first = at->asked < PEER_CLOCKS_FIRST;

	at->asked += first;
	at->next = now + (first ? PEER_CLOCKS_FIRST_PS : PEER_CLOCKS_LATER_PS);
}

/* The hashes of flow_begin.c have shorter inputs, so these numbers tell nothing of theirs. */
static uint64_t draw_number(struct peer_clocks *clocks, uint16_t peer)
{
	uint8_t in[13], out[crypto_shorthash_BYTES];
	uint64_t number;

	*put64(put32(in, (uint32_t)clocks->config.host << 16 | peer), ++clocks->asked) = 0;
	crypto_shorthash(out, in, sizeof(in), clocks->config.secret);
	number = get64(out);
	return number != 0 ? number : 1;
}

/* Not later than now, as leaving has to be stamped. */
static int64_t stamp_leaving(weft_time now)
{
	return (int64_t)(now / PS_PER_NS);
}

/* Not earlier than now. */
static int64_t stamp_arrival(weft_time now)
{
	return (int64_t)((now + PS_PER_NS - 1) / PS_PER_NS);
}

struct control_clock peer_clocks_question(struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];

	at->number = draw_number(clocks, peer);
	at->sent_ns = stamp_leaving(now);
	return (struct control_clock){.step = CONTROL_CLOCK_ASK,
		.clock = clocks->config.clock,
		.number = at->number,
		.left_ns = (uint64_t)at->sent_ns};
}

struct control_clock peer_clocks_answer(struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	const struct peer_clock *at = &clocks->peer[peer];

	return (struct control_clock){.step = CONTROL_CLOCK_ANSWER,
		.clock = clocks->config.clock,
		.number = at->heard_number,
		.heard_ns = (uint64_t)at->heard_ns,
		.left_ns = (uint64_t)stamp_leaving(now)};
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

static enum peer_clocks_verdict hear_answer(
	struct peer_clock *at, const struct control_clock *clock, weft_time now)
{
	const struct clock_sample sample = {.sent_ns = at->sent_ns,
		.arrived_ns = stamp_arrival(now),
		.heard_ns = (int64_t)clock->heard_ns,
		.answered_ns = (int64_t)clock->left_ns};

	if (at->number == 0 || clock->number != at->number)
		return PEER_CLOCKS_REFUSED;
	at->number = 0;
	if (clock->clock != at->clock)
		clock_offset_forget(&at->offset);
	at->clock = clock->clock;
	switch (clock_offset_take(&at->offset, &sample)) {
	case CLOCK_AGREES:
		return PEER_CLOCKS_TAKEN;
	case CLOCK_STEPPED:
		at->asked = 0;
		return PEER_CLOCKS_STEPPED;
	default:
		return PEER_CLOCKS_REFUSED;
	}
}

enum peer_clocks_verdict peer_clocks_hear(
	struct peer_clocks *clocks, uint16_t peer, const struct control_clock *clock, weft_time now)
{
	struct peer_clock *at = &clocks->peer[peer];

	return clock->step == CONTROL_CLOCK_ASK ? hear_question(at, clock, now)
						: hear_answer(at, clock, now);
}

void peer_clocks_doubt(struct peer_clocks *clocks, uint16_t peer)
{
	struct peer_clock *at = &clocks->peer[peer];

	at->next = 0;
	at->asked = 0;
	at->number = 0; /* only its present life can answer the next one */
	clock_offset_doubt(&at->offset);
}
