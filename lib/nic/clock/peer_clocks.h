/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An interface's estimates of the clocks of hosts on other machines, and the questions and
 * answers that compare clocks (FRAME_CLOCK). The receiver of data asks, because one-way latency is
 * computed where a frame arrives, from the sender's stamp. Acknowledgements set the pace, so a
 * host that receives nothing never asks. The first questions to a peer are sent at short intervals,
 * because the drift is not known yet; later ones are less frequent.
 *
 * An answer repeats the number of its question, which contains a keyed hash of 60 bits. Only a
 * device that read the question can therefore answer it. Several questions to a peer may be
 * outstanding, because an answer may take longer than the interval between questions. The remaining
 * 4 bits identify the question, and the hash is computed from its departure time. Each answer names
 * the clock of its stamps; a new name means that the machine restarted.
 *
 * After a step, a clock is queried at the initial pace so that it is soon known again. If its
 * answers keep contradicting each other, the clock runs too fast or too slow, and no estimate is
 * accepted. Each contradiction doubles the interval between questions, and PEER_CLOCKS_CALM
 * consistent answers halve it.
 *
 * A sender that restarted may have a different clock, which is unknown until its next answer. Until
 * the flow starts, its request may be forged, so the estimate stays in use. Data of the flow
 * proves that the sender read the offer. After that, the estimate is used only if it includes an
 * answer to a question sent after that offer.
 *
 * Pure state machine: the caller passes the time. No allocation after creation. Single-threaded,
 * except that other threads may call clock_offset_read(). */

#include "base/weft_time.h"
#include "clock_offset.h"
#include "wire/control.h"

#define PEER_CLOCKS_FIRST    8
#define PEER_CLOCKS_FIRST_PS (10 * PS_PER_MS)  /* interval between the first questions */
#define PEER_CLOCKS_LATER_PS (100 * PS_PER_MS) /* interval between later questions */
#define PEER_CLOCKS_STEPS    4 /* contradictions that count: interval of at most 800 ms */
#define PEER_CLOCKS_CALM     16
#define PEER_CLOCKS_QUIET_PS PS_PER_MS /* minimum interval between answers to a peer */
#define PEER_CLOCKS_OPEN     16        /* maximum number of outstanding questions to a peer */
/* Time for which a question stays open at the slow pace. The drift during an open question is
 * bounded from the last exchanges, so an answer that was delayed by minutes must be refused. */
#define PEER_CLOCKS_OPEN_PS (PEER_CLOCKS_OPEN * PEER_CLOCKS_LATER_PS)

struct peer_clock {
	struct clock_offset offset;
	int64_t sent_ns[PEER_CLOCKS_OPEN]; /* [question] departure time; 0: answered or unused */
	weft_time next;                    /* earliest time of the next question */
	uint64_t heard_number;             /* number of the question to answer */
	int64_t heard_ns;
	weft_time quiet_until; /* questions are refused until then */
	uint64_t offered;      /* name in the last flow request that was offered a flow; 0: none */
	int64_t offered_ns;    /* time of the first such offer */
	bool answered;  /* this session or a later one answered a question sent after the offer */
	uint32_t clock; /* clock named in the last answer; 0: none yet */
	uint8_t asked;  /* questions asked, up to PEER_CLOCKS_FIRST */
	uint8_t steps;  /* contradictory answers, up to PEER_CLOCKS_STEPS */
	uint8_t agreed; /* answers since the last step, modulo PEER_CLOCKS_CALM */
	uint8_t turn;   /* counts questions; selects the slot of the next one */
	bool other;     /* on a different machine */
};

struct peer_clocks_config {
	uint16_t host, hosts;
	uint32_t clock;        /* name of this machine's clock, not 0 */
	const uint8_t *secret; /* NIC_SECRET_BYTES; owned by the caller */
	const bool *same;      /* [hosts] true: host with this clock; read at creation only */
};

struct peer_clocks {
	struct peer_clocks_config config;
	struct peer_clock peer[];
};

/* Returns NULL if out of memory. */
struct peer_clocks *peer_clocks_create(const struct peer_clocks_config *config);
void peer_clocks_destroy(struct peer_clocks *clocks);

/* Returns true if a question to the peer is due. */
static inline bool peer_clocks_wants(const struct peer_clocks *clocks, uint16_t peer, weft_time now)
{
	return clocks->peer[peer].other && now >= clocks->peer[peer].next;
}

/* Schedules the next question. Call when a question to the peer is about to be sent. */
void peer_clocks_ask(struct peer_clocks *clocks, uint16_t peer, weft_time now);

/* Return the contents of a frame that is sent now: a question, or the answer to the last question
 * received. */
struct control_clock peer_clocks_question(struct peer_clocks *clocks, uint16_t peer, weft_time now);
struct control_clock peer_clocks_answer(struct peer_clocks *clocks, uint16_t peer, weft_time now);

enum peer_clocks_verdict {
	PEER_CLOCKS_DUE,     /* question; an answer is due */
	PEER_CLOCKS_TAKEN,   /* answer that was used */
	PEER_CLOCKS_STEPPED, /* answer that shows that a clock was set */
	PEER_CLOCKS_REFUSED, /* too many questions, or an answer without a question */
};

/* Handles a frame from the peer that arrived at or before 'now'. */
enum peer_clocks_verdict peer_clocks_receive(struct peer_clocks *clocks, uint16_t peer,
	const struct control_clock *clock, weft_time now);

/* Records that a flow was offered to a sender that may be the peer. 'name': its request, not 0. */
void peer_clocks_offer(struct peer_clocks *clocks, uint16_t peer, uint64_t name, weft_time now);

/* Call when the peer starts a flow from the last offer or an earlier one. If the last answer may
 * have come from a different session of the peer, the estimate is not used before the next answer,
 * and a question is due immediately. */
void peer_clocks_begin(struct peer_clocks *clocks, uint16_t peer, bool last);
