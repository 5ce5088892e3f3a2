/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The clocks of hosts on other machines, as an interface knows them, and the questions and answers
 * by which it finds out (FRAME_CLOCK). The receiver of data asks: one-way latency is computed where
 * a frame arrives, from the sender's stamp in it. Acknowledgements set the pace, so that nobody
 * asks who receives nothing: the first questions of a peer follow each other fast, because the
 * drift is not known yet, the others slowly.
 *
 * An answer repeats the number of its question, a keyed hash of 60 bits, so that only somebody who
 * has read the question can answer it. Several questions to a peer are open at a time, because an
 * answer may take longer than the time to the next question; the other 4 bits say which one it is,
 * and the hash follows from the time at which that one left. Each answer names the clock that its
 * stamps are of: another one means that the machine has begun anew.
 *
 * A clock that was set is asked as fast as at first, so that it is known again soon. If its answers
 * go on to contradict each other, it runs too fast or too slow and is never known: each
 * contradiction doubles the time to the next question, and PEER_CLOCKS_CALM answers that agree
 * halve it.
 *
 * A sender that has restarted may have another clock, which is known only by its next answer. Until
 * it begins a flow, anybody may be the one that asks for it, so nothing is doubted; data of the
 * flow comes from one that has read the offer. Then the estimate counts only if it has an answer to
 * a question that left after that offer.
 *
 * A plain state machine without a clock; no allocation after its creation. One thread; others may
 * call clock_offset_read(). */

#include "base/weft_time.h"
#include "clock_offset.h"
#include "wire/control.h"

#define PEER_CLOCKS_FIRST    8
#define PEER_CLOCKS_FIRST_PS (10 * PS_PER_MS)  /* between the first questions */
#define PEER_CLOCKS_LATER_PS (100 * PS_PER_MS) /* between the others */
#define PEER_CLOCKS_STEPS    4 /* contradictions that count: 800 ms between questions at most */
#define PEER_CLOCKS_CALM     16
#define PEER_CLOCKS_QUIET_PS PS_PER_MS /* between answers to one peer */
#define PEER_CLOCKS_OPEN     16        /* questions to a peer, the last ones */
/* As long as these take at the slow pace. The bound on the drift while a question was open is that
 * of the last exchanges: an answer that somebody has kept for minutes is not taken. */
#define PEER_CLOCKS_OPEN_PS (PEER_CLOCKS_OPEN * PEER_CLOCKS_LATER_PS)

struct peer_clock {
	struct clock_offset offset;
	int64_t sent_ns[PEER_CLOCKS_OPEN]; /* when each question left; 0: answered, or none */
	weft_time next;                    /* question, not before this time */
	uint64_t heard_number;             /* of the question to be answered */
	int64_t heard_ns;
	weft_time quiet_until; /* no other question is heard */
	uint64_t offered;      /* names the asker that was offered a flow last; 0: none */
	int64_t offered_ns;    /* when, at first */
	bool answered;         /* by this one or its next life: a question has left since */
	uint32_t clock;        /* of the last answer; 0: none yet */
	uint8_t asked;         /* up to PEER_CLOCKS_FIRST */
	uint8_t steps;         /* answers that contradict the others; up to PEER_CLOCKS_STEPS */
	uint8_t agreed;        /* answers since the last step, modulo PEER_CLOCKS_CALM */
	uint8_t turn;          /* the place of the next question */
	bool other;            /* it is on another machine */
};

struct peer_clocks_config {
	uint16_t host, hosts;
	uint32_t clock;        /* names the clock of this machine, not 0 */
	const uint8_t *secret; /* NIC_SECRET_BYTES, the caller's */
	const bool *same;      /* [hosts] have this clock; read at creation */
};

struct peer_clocks {
	struct peer_clocks_config config;
	struct peer_clock peer[];
};

/* NULL: no memory. */
struct peer_clocks *peer_clocks_create(const struct peer_clocks_config *config);
void peer_clocks_destroy(struct peer_clocks *clocks);

/* A question to the peer is due. */
static inline bool peer_clocks_wants(const struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	return clocks->peer[peer].other && now >= clocks->peer[peer].next;
}

/* The peer is going to be asked: not again before the next time. */
void peer_clocks_ask(struct peer_clocks *clocks, uint16_t peer, weft_time now);

/* Contents of the frame that leaves now: a question, or the answer to the last one heard. */
struct control_clock peer_clocks_question(struct peer_clocks *clocks, uint16_t peer, weft_time now);
struct control_clock peer_clocks_answer(struct peer_clocks *clocks, uint16_t peer, weft_time now);

enum peer_clocks_verdict {
	PEER_CLOCKS_DUE,     /* a question: an answer is due */
	PEER_CLOCKS_TAKEN,   /* an answer */
	PEER_CLOCKS_STEPPED, /* an answer, by which a clock was set */
	PEER_CLOCKS_REFUSED, /* too many questions, or an answer to none */
};

/* Takes a frame of the peer that was here at 'now' or before. */
enum peer_clocks_verdict peer_clocks_receive(struct peer_clocks *clocks, uint16_t peer,
	const struct control_clock *clock, weft_time now);

/* A flow is offered to somebody who may be the peer; 'name', not 0, of the asker. */
void peer_clocks_offer(struct peer_clocks *clocks, uint16_t peer, uint64_t name, weft_time now);

/* The peer has begun a flow, by the last offer or an earlier one. If another life of it may have
 * answered last, the estimate is not used before its next answer, and the question is due. */
void peer_clocks_begin(struct peer_clocks *clocks, uint16_t peer, bool last);
