/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Congestion control of one switch: an adaptive mode, AFI, the detector and the ARN table, combined
 * as in the paper's pseudo-codes. The switch requests the output of each packet that it routes by
 * table, reports changes of its VOQs, passes on received notifications, and sends those that
 * originate here.
 *
 * A state machine that stores no packets; it obtains heads of VOQs from the switch.
 * Single-threaded; no allocation after congestion_control_create(). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "adaptive_routing.h"
#include "arn_table.h"
#include "congestion_detector.h"
#include "voq.h"
#include "wire/packet.h"

/* Adapted-flow isolation (AFI; Rocher-Gonzalez et al., CCGrid 2019, section IV of the Spanish
 * version): a device that sends a packet through a port other than the deterministic one sets its
 * adapted bit. Later devices store the packet in the adapted-flow channel (AFC), whatever its
 * service level, and do not adapt it again. Adapted packets therefore neither spread further nor
 * share queues with the others.
 *
 * The AFC is the last VC. The VC of the queuing scheme stays in the header (vc_original). Inline,
 * because it is used per packet. Without AFI none of this is called. */

static inline uint8_t afi_channel(uint8_t vcs)
{
	return (uint8_t)(vcs - 1);
}

static inline bool afi_is_adapted(const struct weft_packet *packet)
{
	return (packet->flags & FRAME_F_ADAPTED) != 0;
}

/* Writes one word, like all changes of the mutable bytes inside a switch. */
static inline void afi_adapt(struct weft_packet *packet)
{
	packet->mutable_word |= MUTABLE_FLAGS(FRAME_F_ADAPTED);
}

/* Returns the VC in which the next device stores the packet. 'vc' is the VC of its SL. */
static inline uint8_t afi_next_vc(const struct weft_packet *packet, uint8_t vc, uint8_t channel)
{
	return afi_is_adapted(packet) ? channel : vc;
}

#define CONGESTION_CONTROL_OUTBOX 256 /* capacity for notifications to send, a power of two */

/* Functions to which departures from queues are reported. */
#define CONGESTION_LEFT  0x1 /* congestion_control_left() */
#define CONGESTION_TIMED 0x2 /* contention_leave() */

/* Bit of an alert: the driver checks inputs after arrivals (switch_set_pauses()). */
#define CONGESTION_PAUSES 0x2
/* Bit of an alert: packets may bypass the host that would absorb them (switch_set_itbs()). */
#define CONGESTION_ITBS   0x4
#define CONGESTION_DRIVER (CONGESTION_PAUSES | CONGESTION_ITBS)

/* Read for each packet, in the switch's own memory. If there is congestion control, it is the only
 * writer, except for CONGESTION_TIMED. */
struct congestion_signal {
	uint8_t plain_vcs; /* packets of lower VCs follow their table and SL: no decision is needed
			    */
	/* Bits of CONGESTION_DRIVER, and 1 while a timer runs or departures are counted. */
	uint8_t alert;
	uint8_t departures; /* set of CONGESTION_* */
};

/* Returns the head of a VOQ, or NULL if it is empty. */
typedef const struct weft_packet *(*congestion_control_head_fn)(
	void *ctx, unsigned input, unsigned vc, unsigned output);

struct congestion_control_config {
	uint32_t device; /* the lower half identifies roots */
	uint64_t seed;
	uint8_t vcs;       /* number of VCs, including the AFC */
	uint8_t stage;     /* 1 next to the hosts; 0: none */
	port_set up_ports; /* ports towards higher stages */
	const struct adaptive_mode *mode;
	bool afi;
	uint32_t threshold_ppm;
	weft_time flowlet_gap_ps;
	/* By destination: the ports that lead there; borrowed. NULL: no tables before
	 * congestion_control_set_tables(), which may not increase the number of hosts. */
	const port_set *alternatives;
	uint32_t hosts;
	const struct peer_buffer *output; /* [ports], borrowed */
	const port_set *usable;           /* outputs whose link is up; borrowed */
	/* Detector and notifications, or NULL. congestion_control_create() fills in vcs, hosts,
	 * stage, alternative and ctx. */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
	congestion_control_head_fn head;
	void *ctx;
	struct congestion_signal *signal; /* borrowed; must outlive this */
};

struct congestion_control_arn {
	struct control_arn arn;
	uint8_t port; /* output port */
};

struct congestion_control {
	/* Read for each packet that is not plain, in one cache line. */
	const port_set *alternatives, *usable;
	struct congestion_detector *detector; /* NULL: no detector and no table */
	struct arn_table *table;
	weft_time due;  /* latest time of the next poll; WEFT_TIME_NEVER: after the next event */
	uint32_t hosts; /* entries in 'alternatives' */
	uint32_t out_count;
	struct adaptive adaptive;
	/* Read less often. */
	struct congestion_signal *signal;
	uint8_t calm_vcs; /* value of signal->plain_vcs while congestion control has no decision to
			     make */
	uint32_t device;
	uint32_t hosts_max;
	port_set up_ports;
	congestion_control_head_fn head;
	void *ctx;
	uint64_t adapted;      /* packets that left their primary port */
	uint64_t out_overflow; /* notifications dropped because 'out' was full */
	uint32_t out_first;
	struct congestion_control_arn out[CONGESTION_CONTROL_OUTBOX];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct congestion_control, adaptive.mode) < 64, "one cache line");

/* Returns NULL with errno EINVAL (a number out of range, a detector without a table or 'head', AFI
 * with one VC) or ENOMEM. */
struct congestion_control *congestion_control_create(
	const struct congestion_control_config *config);
void congestion_control_destroy(struct congestion_control *congestion);

/* Replaces the tables and the stage. 'hosts' may not exceed the number in the config. Removes all
 * entries, because they name ports of the old tables; roots that still exist notify again. */
void congestion_control_set_tables(struct congestion_control *congestion,
	const port_set *alternatives, uint32_t hosts, uint8_t stage);

/* Makes packets of VCs below 'vcs', except the AFC's, plain while congestion control has no
 * decision to make. 0: the switch decides on each packet for other reasons. */
void congestion_control_set_calm(struct congestion_control *congestion, uint8_t vcs);

/* The rare part of congestion_control_route(), for destinations with entries. Returns true if
 * '*output' was set to an entry's alternative. If the packet arrived before the entry's
 * notification was due, its arrival time is set to that time. */
bool congestion_control_consult(struct congestion_control *congestion, struct weft_packet *packet,
	unsigned *output, weft_time now);

/* Records that a packet leaves its primary port because of congestion or a link that is down. */
static inline void congestion_control_detour(
	struct congestion_control *congestion, struct weft_packet *packet)
{
	congestion->adapted++;
	if (congestion->adaptive.afi)
		afi_adapt(packet);
}

/* Returns the output for a packet that arrived on packet->in_port. 'primary' is its primary port,
 * which must be usable; 'vc' is the next VC by its SL. Sets the adapted bit if the packet leaves
 * its primary port. Call congestion_control_next_vc() afterwards for the VC that applies. */
static inline unsigned congestion_control_route(struct congestion_control *congestion,
	struct weft_packet *packet, unsigned primary, unsigned vc, weft_time now)
{
	unsigned output = primary;
	bool adapted = congestion->adaptive.afi && afi_is_adapted(packet);
	bool found =
		congestion->table != NULL &&
		__builtin_expect(arn_table_concerns(congestion->table, packet->destination), 0) &&
		congestion_control_consult(congestion, packet, &output, now);

	if (!found && adaptive_chooses(&congestion->adaptive)) {
		congestion->adaptive.packet = packet;
		congestion->adaptive.now = now;
		output = adaptive_route(&congestion->adaptive, primary,
			congestion->alternatives[packet->destination] & *congestion->usable, vc,
			adapted);
	}
	if (output != primary || found)
		congestion_control_detour(congestion, packet);
	return output;
}

static inline uint8_t congestion_control_next_vc(
	const struct congestion_control *congestion, const struct weft_packet *packet, uint8_t vc)
{
	return congestion->adaptive.afi ? afi_next_vc(packet, vc, congestion->adaptive.channel)
					: vc;
}

/* Returns true if the detector considers the output a root. 'congestion' may be NULL. */
static inline bool congestion_control_is_root(
	const struct congestion_control *congestion, unsigned output)
{
	return congestion != NULL && congestion->detector != NULL &&
	       congestion->detector->output[output].state == CONGESTION_ROOT;
}

/* Call when a packet has joined 'queue', the queue of (its input, its VC, output), and the queue is
 * above congestion_detector_report_above(). */
void congestion_control_grown(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue, weft_time now);

/* The rare part of congestion_control_left(). */
void congestion_control_shrunk(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue);

/* Call when a packet has left 'queue', the queue of (its input, its VC, output), sent or discarded.
 * Optional while there is no alert. */
static inline void congestion_control_left(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue)
{
	if (congestion->detector != NULL &&
		__builtin_expect(port_set_has(congestion->detector->crowded, output), 0))
		congestion_control_shrunk(congestion, packet, output, queue);
}

/* Handles a notification that was due at 'due' and arrived on 'port'. */
void congestion_control_on_arn(struct congestion_control *congestion, unsigned port,
	const struct control_arn *arn, weft_time due, weft_time now);

/* Runs timers. Cheap if none has expired. */
void congestion_control_poll(struct congestion_control *congestion, weft_time now);

/* Passes all counters to 'count': adapted packets and, with a detector, roots, entries and
 * notifications. */
typedef void (*congestion_control_count_fn)(void *ctx, const char *name, uint64_t value);
void congestion_control_counters(
	const struct congestion_control *congestion, congestion_control_count_fn count, void *ctx);

/* Takes the next notification to send. Returns false if there is none. */
bool congestion_control_take_arn(
	struct congestion_control *congestion, struct congestion_control_arn *out);

/* Checks invariants, including the detector's and the table's. Returns NULL or a description of the
 * violation. */
const char *congestion_control_check(const struct congestion_control *congestion);
