/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The clocks of hosts on other machines, as an interface knows them, and the questions and answers
 * that compare them (FRAME_CLOCK). The receiver of data asks: one-way latency is computed where a
 * frame arrives, from the sender's stamp in it. Acknowledgements set the pace, so a host that
 * receives nothing never asks. The first questions to a peer follow each other quickly, because the
 * drift is not known yet; later ones are less frequent.
 *
 * An answer repeats the number of its question, a keyed hash of 60 bits, so only a device that read
 * the question can answer it. Several questions to a peer are open at a time, because an answer may
 * take longer than the time to the next question; the other 4 bits identify the question, and the
 * hash follows from the time at which it left. Each answer names the clock of its stamps: a new
 * name means that the machine restarted.
 *
 * A clock that was set is queried as fast as at first, so that it is known again soon. If its
 * answers keep contradicting each other, it runs too fast or too slow and is never known: each
 * contradiction doubles the time to the next question, and PEER_CLOCKS_CALM answers that agree
 * halve it.
 *
 * A sender that restarted may have another clock, which is known only from its next answer. Until a
 * flow starts, the request for it may be forged, so the estimate stays in use; data of the flow
 * proves that the sender read the offer. From then on the estimate counts only if it includes an
 * answer to a question that left after that offer.
 *
 * A plain state machine without a clock; no allocation after its creation. One thread; others may
 * call clock_offset_read(). */

#include "base/weft_time.h"
#include "clock_offset.h"
#include "wire/control.h"

#define PEER_CLOCKS_FIRST    8
#define PEER_CLOCKS_FIRST_PS (10 * PS_PER_MS)  /* between the first questions */
#define PEER_CLOCKS_LATER_PS (100 * PS_PER_MS) /* between the others */
#define PEER_CLOCKS_STEPS    4 /* contradictions that count: at most 800 ms between questions */
#define PEER_CLOCKS_CALM     16
#define PEER_CLOCKS_QUIET_PS PS_PER_MS /* between answers to one peer */
#define PEER_CLOCKS_OPEN     16        /* the last questions to a peer */
/* How long they stay open at the slow pace. The drift while a question is open is bounded from the
 * last exchanges, so an answer that was held back for minutes is not accepted. */
#define PEER_CLOCKS_OPEN_PS (PEER_CLOCKS_OPEN * PEER_CLOCKS_LATER_PS)

struct peer_clock {
	struct clock_offset offset;
	int64_t sent_ns[PEER_CLOCKS_OPEN]; /* when each question left; 0: answered, or none */
	weft_time next;                    /* question, not before this time */
	uint64_t heard_number;             /* number of the question to be answered */
	int64_t heard_ns;
	weft_time quiet_until; /* no other question is heard */
	uint64_t offered;      /* name of the asker that was last offered a flow; 0: none */
	int64_t offered_ns;    /* when, at first */
	bool answered;  /* this or a later session answered a question sent after the offer */
	uint32_t clock; /* clock in the last answer; 0: none yet */
	uint8_t asked;  /* up to PEER_CLOCKS_FIRST */
	uint8_t steps;  /* answers that contradicted the others; up to PEER_CLOCKS_STEPS */
	uint8_t agreed; /* answers since the last step, modulo PEER_CLOCKS_CALM */
	uint8_t turn;   /* the place of the next question */
	bool other;     /* it is on another machine */
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

/* Returns NULL if out of memory. */
struct peer_clocks *peer_clocks_create(const struct peer_clocks_config *config);
void peer_clocks_destroy(struct peer_clocks *clocks);

/* A question to the peer is due. */
static inline bool peer_clocks_wants(const struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	return clocks->peer[peer].other && now >= clocks->peer[peer].next;
}

/* A question to the peer is about to leave: schedules the next one. */
void peer_clocks_ask(struct peer_clocks *clocks, uint16_t peer, weft_time now);

/* Contents of the frame that leaves now: a question, or the answer to the last question
 * received. */
struct control_clock peer_clocks_question(struct peer_clocks *clocks, uint16_t peer, weft_time now);
struct control_clock peer_clocks_answer(struct peer_clocks *clocks, uint16_t peer, weft_time now);

enum peer_clocks_verdict {
	PEER_CLOCKS_DUE,     /* a question: an answer is due */
	PEER_CLOCKS_TAKEN,   /* an answer */
	PEER_CLOCKS_STEPPED, /* an answer that shows that a clock was set */
	PEER_CLOCKS_REFUSED, /* too many questions, or an answer to none */
};

/* Takes a frame from the peer that arrived at 'now' or earlier. */
enum peer_clocks_verdict peer_clocks_receive(struct peer_clocks *clocks, uint16_t peer,
	const struct control_clock *clock, weft_time now);

/* A flow is offered to a sender that may be the peer; 'name' is the asker's, not 0. */
void peer_clocks_offer(struct peer_clocks *clocks, uint16_t peer, uint64_t name, weft_time now);

/* The peer started a flow, from the last offer or an earlier one. If the last answer may have come
 * from another session of the peer, the estimate is not used before the next answer, and a question
 * is due at once. */
void peer_clocks_begin(struct peer_clocks *clocks, uint16_t peer, bool last);
