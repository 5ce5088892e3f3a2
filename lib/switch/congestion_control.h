/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What one switch does about congestion, as a whole: an adaptive mode, AFI, the
 * detector and the ARN table, put together as the paper's pseudo-codes do. The switch asks for the
 * output of each packet that it routes by its table, tells what happens to its VOQs, hands over the
 * notifications that arrive, and sends those that it finds here.
 *
 * A state machine without packets of its own; heads of VOQs are asked for. One thread; no
 * allocation after congestion_control_create().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adaptive_routing.h"
#include "afi.h"
#include "arn_table.h"
#include "congestion_detector.h"
#include "voq.h"

#define CONGESTION_CONTROL_OUTBOX 256 /* notifications to be sent, a power of two */

/* In the byte of congestion_control_config.alert. */
#define CONGESTION_CONTROL_ALERT 0x80

/* The head of a VOQ, NULL if it is empty. */
typedef const struct weft_packet *(*congestion_control_head_fn)(
	void *ctx, unsigned input, unsigned vc, unsigned output);

struct congestion_control_config {
	uint32_t device; /* its lower half names roots */
	uint64_t seed;
	uint8_t vcs;       /* the AFC included when there is one */
	uint8_t stage;     /* 1 next to the hosts; 0: none */
	uint64_t up_ports; /* set: towards higher stages */
	const struct adaptive_mode *mode;
	bool afi;
	uint32_t threshold_ppm;
	/* By destination: the ports that lead there. The caller's; NULL: none are known before
	 * congestion_control_set_tables(), which may not bring more hosts than these. */
	const uint64_t *alternatives;
	uint32_t hosts;
	const struct adaptive_output *output; /* [ports], the caller's */
	const uint64_t *usable;               /* set: outputs whose link is up, the caller's */
	/* Detector and notifications; NULL: without. What is said above need not be said there
	 * again: vcs, hosts, stage, alternative, ctx are filled in. */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
	congestion_control_head_fn head;
	void *ctx;
	/*
	 * A byte of the caller's, in which CONGESTION_CONTROL_ALERT stands for as long as a packet
	 * may make a difference here: there are entries, something is suspected, VOQs are above
	 * HCDTh, a time runs, or the mode chooses each time. Without it packets that have not been
	 * adapted go by their primary port and their SL, nothing waits for
	 * congestion_control_poll(), and what leaves a VOQ need not be told of. NULL: nobody wants
	 * to know.
	 */
	uint8_t *alert;
};

struct congestion_control_arn {
	struct control_arn arn;
	uint8_t port; /* by which it leaves */
};

struct congestion_control {
	/* What each packet looks at, in one cache line. */
	const uint64_t *alternatives, *usable;
	struct congestion_detector *detector; /* NULL: none, and then there is no table either */
	struct arn_table *table;
	weft_time due;                /* congestion_control_next_due() */
	uint64_t crowded;             /* outputs of which the detector has to hear what leaves */
	uint32_t report_above_blocks; /* a VOQ that has grown to no more need not be told of */
	uint32_t entries;             /* in the table */
	uint32_t out_count;
	bool chooses; /* the mode may take another port without being told to */
	bool afi;
	uint8_t channel; /* the AFC */
	/* The rest. */
	struct adaptive adaptive;
	struct congestion_control_config config;
	uint32_t hosts;        /* in 'alternatives' */
	uint64_t adapted;      /* packets that took another way than their primary */
	uint64_t out_overflow; /* notifications that found no room */
	uint32_t out_first;
	struct congestion_control_arn out[CONGESTION_CONTROL_OUTBOX];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct congestion_control, adaptive) <= 64, "one cache line");

/* NULL with errno EINVAL (a number out of range, a detector without a table or heads, AFI with one
 * VC) or ENOMEM. */
struct congestion_control *congestion_control_create(
	const struct congestion_control_config *config);
void congestion_control_destroy(struct congestion_control *congestion);

/* From now on these tables, in a switch of this stage, for no more hosts than the config said. What
 * was known of other ways was known of the old ones and is forgotten; roots that stand tell of
 * themselves again. */
void congestion_control_set_tables(struct congestion_control *congestion,
	const uint64_t *alternatives, uint32_t hosts, uint8_t stage);

/* The rare part of congestion_control_route(): the packet's destination has entries. True:
 * '*output' is what they say. */
bool congestion_control_consult(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned *output, weft_time now);

/* The packet takes another way than its primary port, by what is said here or because that link is
 * down. */
static inline void congestion_control_detour(
	struct congestion_control *congestion, struct weft_packet *packet)
{
	congestion->adapted++;
	if (congestion->afi)
		afi_adapt(packet);
}

/*
 * The output of a packet that has just come in by packet->in_port and whose table says 'primary', a
 * port that is usable. 'vc': where it is stored next by its service level. Sets the adapted bit
 * when that is due; the caller then stores it next in congestion_control_next_vc().
 */
static inline unsigned congestion_control_route(struct congestion_control *congestion,
	struct weft_packet *packet, unsigned primary, unsigned vc, weft_time now)
{
	unsigned output = primary;
	bool adapted = congestion->afi && afi_is_adapted(packet);
	bool told = __builtin_expect(congestion->entries != 0, 0) &&
		    arn_table_concerns(congestion->table, packet->destination) &&
		    congestion_control_consult(congestion, packet, &output, now);

	if (!told && congestion->chooses)
		output = adaptive_route(&congestion->adaptive, primary,
			congestion->alternatives[packet->destination] & *congestion->usable, vc,
			adapted);
	if (output != primary || told)
		congestion_control_detour(congestion, packet);
	return output;
}

/* What congestion_control_route() would say, of a packet that is only looked at: nothing is drawn,
 * sent or set. */
unsigned congestion_control_foresee(const struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned primary, unsigned vc, weft_time now);

static inline uint8_t congestion_control_next_vc(
	const struct congestion_control *congestion, const struct weft_packet *packet, uint8_t vc)
{
	return congestion->afi ? afi_next_vc(packet, vc, congestion->channel) : vc;
}

/* The rare parts of the two that follow. */
void congestion_control_grown(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue, weft_time now);
void congestion_control_shrunk(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue);

/* The packet has joined 'queue', that of (its input, its VC, output). */
static inline void congestion_control_stored(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue, weft_time now)
{
	if (__builtin_expect(queue->blocks > congestion->report_above_blocks, 0))
		congestion_control_grown(congestion, packet, output, queue, now);
}

/* The packet has left 'queue', that of (its input, its VC, output): sent or discarded. */
static inline void congestion_control_left(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue)
{
	if (__builtin_expect((congestion->crowded >> output & 1) != 0, 0))
		congestion_control_shrunk(congestion, packet, output, queue);
}

/* A notification has come in by 'port'. */
void congestion_control_on_arn(struct congestion_control *congestion, unsigned port,
	const struct control_arn *arn, weft_time now);

/* Timers. Cheap when nothing is due. */
void congestion_control_poll(struct congestion_control *congestion, weft_time now);
/* When to poll at the latest; WEFT_TIME_NEVER: not before something else happens. */
static inline weft_time congestion_control_next_due(const struct congestion_control *congestion)
{
	return congestion->due;
}

/* Everything that has been counted, each with its name: what was adapted, and, with a detector,
 * roots, entries and notifications. */
typedef void (*congestion_control_count_fn)(void *ctx, const char *name, uint64_t value);
void congestion_control_counters(
	const struct congestion_control *congestion, congestion_control_count_fn count, void *ctx);

/* The next notification to be sent; false: there is none. */
bool congestion_control_take_arn(
	struct congestion_control *congestion, struct congestion_control_arn *out);
