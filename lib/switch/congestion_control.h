/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Congestion control of one switch: an adaptive mode, AFI, the detector and the ARN table, combined
 * as in the paper's pseudo-codes. The switch asks for the output of each packet that it routes by
 * its table, reports what happens to its VOQs, passes on the notifications that arrive, and sends
 * those that it finds here.
 *
 * A state machine without packets of its own; it asks for heads of VOQs. One thread; no allocation
 * after congestion_control_create(). */

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
 * adapted bit. From the next device on it is stored in the adapted-flow channel (AFC), whatever its
 * service level, and no device adapts it again: adapted packets neither spread further nor share a
 * queue with the others.
 *
 * The AFC is the last VC. The VC of the queuing scheme stays in the header (vc_original). Inline:
 * per packet. Where AFI is off, nothing here is called. */

static inline uint8_t afi_channel(uint8_t vcs)
{
	return (uint8_t)(vcs - 1);
}

static inline bool afi_is_adapted(const struct weft_packet *packet)
{
	return (packet->flags & FRAME_F_ADAPTED) != 0;
}

/* Written as one word, like all changes of the mutable bytes inside a switch. */
static inline void afi_adapt(struct weft_packet *packet)
{
	packet->mutable_word |= MUTABLE_FLAGS(FRAME_F_ADAPTED);
}

/* Where the next device stores the packet; 'vc' is the VC of its service level. */
static inline uint8_t afi_next_vc(const struct weft_packet *packet, uint8_t vc, uint8_t channel)
{
	return afi_is_adapted(packet) ? channel : vc;
}

#define CONGESTION_CONTROL_OUTBOX 256 /* notifications to be sent, a power of two */

/* Departures from queues that are reported, and to which function. */
#define CONGESTION_LEFT  0x1 /* congestion_control_left() */
#define CONGESTION_TIMED 0x2 /* contention_leave() */

/* In an alert: the driver looks at inputs after arrivals (switch_set_pauses()). */
#define CONGESTION_PAUSES 0x2
/* In an alert: the driver may pass packets by the host that would absorb them (switch_set_itbs()).
 */
#define CONGESTION_ITBS   0x4
#define CONGESTION_DRIVER (CONGESTION_PAUSES | CONGESTION_ITBS)

/* Read for each packet, in the switch's own memory. With congestion control, only congestion
 * control writes it, except for CONGESTION_TIMED. */
struct congestion_signal {
	uint8_t plain_vcs; /* packets of lower VCs follow their table and SL: nothing to decide */
	/* CONGESTION_DRIVER; or a timer runs or departures are counted: _poll() is called when
	 * due, or _left(). */
	uint8_t alert;
	uint8_t departures; /* set of CONGESTION_* */
};

/* Returns the head of a VOQ, or NULL if it is empty. */
typedef const struct weft_packet *(*congestion_control_head_fn)(
	void *ctx, unsigned input, unsigned vc, unsigned output);

struct congestion_control_config {
	uint32_t device; /* its lower half names roots */
	uint64_t seed;
	uint8_t vcs;       /* the AFC included when there is one */
	uint8_t stage;     /* 1 next to the hosts; 0: none */
	port_set up_ports; /* set: towards higher stages */
	const struct adaptive_mode *mode;
	bool afi;
	uint32_t threshold_ppm;
	weft_time flowlet_gap_ps;
	/* By destination: the ports that lead there. The caller's; NULL: none are known before
	 * congestion_control_set_tables(), which may not bring more hosts than these. */
	const port_set *alternatives;
	uint32_t hosts;
	const struct peer_buffer *output; /* [ports], the caller's */
	const port_set *usable;           /* set: outputs whose link is up, the caller's */
	/* Detector and notifications, or NULL. Filled in here: vcs, hosts, stage, alternative,
	 * ctx. */
	const struct congestion_detector_config *detector;
	const struct arn_table_config *table;
	congestion_control_head_fn head;
	void *ctx;
	struct congestion_signal *signal; /* the caller's; outlives this */
};

struct congestion_control_arn {
	struct control_arn arn;
	uint8_t port; /* through which it leaves */
};

struct congestion_control {
	/* Read for each packet that is not plain, in one cache line. */
	const port_set *alternatives, *usable;
	struct congestion_detector *detector; /* NULL: none, and then there is no table either */
	struct arn_table *table;
	weft_time due;  /* latest time to poll; WEFT_TIME_NEVER: not before an event */
	uint32_t hosts; /* in 'alternatives' */
	uint32_t out_count;
	struct adaptive adaptive;
	/* The rest. */
	struct congestion_signal *signal;
	uint8_t calm_vcs; /* signal->plain_vcs while there is nothing to decide here */
	uint32_t device;
	uint32_t hosts_max;
	port_set up_ports;
	congestion_control_head_fn head;
	void *ctx;
	uint64_t adapted;      /* packets that left their primary port */
	uint64_t out_overflow; /* notifications dropped because the list was full */
	uint32_t out_first;
	struct congestion_control_arn out[CONGESTION_CONTROL_OUTBOX];
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct congestion_control, adaptive.mode) < 64, "one cache line");

/* Returns NULL with errno EINVAL (a number out of range, a detector without a table or heads, AFI
 * with one VC) or ENOMEM. */
struct congestion_control *congestion_control_create(
	const struct congestion_control_config *config);
void congestion_control_destroy(struct congestion_control *congestion);

/* Uses these tables from now on, in a switch of this stage, for no more hosts than in the config.
 * All entries are forgotten, as they name ports of the old tables; standing roots notify again. */
void congestion_control_set_tables(struct congestion_control *congestion,
	const port_set *alternatives, uint32_t hosts, uint8_t stage);

/* Packets of VCs below 'vcs', except the AFC's, are plain while there is nothing to decide here. 0:
 * the switch decides on each packet for other reasons. */
void congestion_control_set_calm(struct congestion_control *congestion, uint8_t vcs);

/* The rare part of congestion_control_route(): the packet's destination has entries. Returns true
 * if '*output' is the alternative of an entry. A packet that arrived earlier than the entry's
 * notification is ready when that was due. */
bool congestion_control_consult(struct congestion_control *congestion, struct weft_packet *packet,
	unsigned *output, weft_time now);

/* The packet leaves its primary port, because of congestion or because that link is down. */
static inline void congestion_control_detour(
	struct congestion_control *congestion, struct weft_packet *packet)
{
	congestion->adapted++;
	if (congestion->adaptive.afi)
		afi_adapt(packet);
}

/* The output of a packet that just arrived on packet->in_port and whose primary port, which is
 * usable, is 'primary'. 'vc': the next VC by its SL; congestion_control_next_vc() gives the VC that
 * counts afterwards. Sets the adapted bit of a packet that leaves its primary port. */
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

/* True if the detector considers the output a root. Returns NULL if there is no congestion
 * control. */
static inline bool congestion_control_is_root(
	const struct congestion_control *congestion, unsigned output)
{
	return congestion != NULL && congestion->detector != NULL &&
	       congestion->detector->output[output].state == CONGESTION_ROOT;
}

/* The packet joined 'queue', the queue of (its input, its VC, output), which grew above
 * congestion_detector_report_above(). */
void congestion_control_grown(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue, weft_time now);

/* The rare part of congestion_control_left(). */
void congestion_control_shrunk(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue);

/* The packet left 'queue', the queue of (its input, its VC, output): sent or discarded. May be left
 * out while there is no alert. */
static inline void congestion_control_left(struct congestion_control *congestion,
	const struct weft_packet *packet, unsigned output, const struct voq *queue)
{
	if (congestion->detector != NULL &&
		__builtin_expect(port_set_has(congestion->detector->crowded, output), 0))
		congestion_control_shrunk(congestion, packet, output, queue);
}

/* A notification that was due at 'due' arrived on 'port'. */
void congestion_control_on_arn(struct congestion_control *congestion, unsigned port,
	const struct control_arn *arn, weft_time due, weft_time now);

/* Runs timers. Cheap when nothing is due. */
void congestion_control_poll(struct congestion_control *congestion, weft_time now);

/* All counters by name: packets adapted and, with a detector, roots, entries and notifications. */
typedef void (*congestion_control_count_fn)(void *ctx, const char *name, uint64_t value);
void congestion_control_counters(
	const struct congestion_control *congestion, congestion_control_count_fn count, void *ctx);

/* The next notification to be sent. Returns false if there is none. */
bool congestion_control_take_arn(
	struct congestion_control *congestion, struct congestion_control_arn *out);

/* Checks invariants, including the detector's and the table's. Returns NULL, or a description of
 * the violation. */
const char *congestion_control_check(const struct congestion_control *congestion);
