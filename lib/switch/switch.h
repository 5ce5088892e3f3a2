/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The emulated switch: input-queued, an input buffer per port divided into VCs, VOQs,
 * per-VC credits, source routes or a table, round-robin arbitration. A plain state machine: it is
 * handed packets and the time and hands packets back; it owns no port, reads no clock and allocates
 * nothing after switch_create(). The poll driver and the virtual driver call the same functions.
 *
 * One thread per switch. Packets are the driver's memory; while stored they belong to the switch.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bits.h"
#include "link_end.h"
#include "packet.h"
#include "switch_counters.h"
#include "vc_rule.h"
#include "voq.h"

#define SWITCH_PORTS_MAX 64
#define SWITCH_PORT_NONE 0xFF

struct switch_config {
	uint64_t device; /* identity for hellos */
	uint32_t session;
	uint8_t ports;          /* 1..SWITCH_PORTS_MAX */
	uint8_t vcs;            /* 1..FRAME_VCS_MAX, the AFC included when there is one */
	bool voq;               /* false: one queue per (input, VC), only its head counts */
	uint32_t buffer_blocks; /* per input port, split equally among the VCs */
	uint32_t port_slots[SWITCH_PORTS_MAX]; /* frames its receive ring holds; 0: no such limit.
						* All that is advertised never exceeds it */
	uint64_t open_ports;                   /* set: peers without credits (link_end.h) */
	uint64_t absent_ports; /* set: no cable; what is routed there is discarded as link down */
	uint8_t sl_to_vc[16];  /* queuing scheme */
	weft_time hello_ps;    /* 10 ms in the papers' manner; 3 missed: down */
	weft_time credit_refresh_ps;
	weft_time watchdog_ps;    /* WEFT_TIME_NEVER: off */
	uint16_t control_reserve; /* control frames that may wait at an output */
	/* Destination table: by host, the primary port (SWITCH_PORT_NONE: no route) and the set of
	 * alternative ports, which may be NULL. The caller's, until the switch is destroyed or
	 * switch_set_routing() has exchanged it. */
	const uint8_t *table_port;
	const uint64_t *table_alternatives;
	uint32_t table_hosts;
	/* VC classes that are part of the routes, or NULL: then they choose the next VC instead of
	 * sl_to_vc, class n in VC n, and 'vcs' is not less than the classes. The caller's, as the
	 * table is; 'vc_rule_at' is this switch in it. */
	const struct vc_rule *vc_rule;
	uint32_t vc_rule_at;
};

/* What a mapper may change in a switch: all of it at once, and nothing else. As in switch_config.
 */
struct switch_routing {
	const uint8_t *port;          /* [hosts]; NULL: no table */
	const uint64_t *alternatives; /* [hosts] or NULL */
	uint32_t hosts;
	const struct vc_rule *vc_rule; /* NULL: none */
	uint32_t vc_rule_at;
	const uint8_t *sl_to_vc; /* [16], copied; NULL: as it is */
	uint8_t stage;           /* for an adaptation (switch_congestion.h) */
};

/* One crossing of the crossbar: the VCs of an input that have something for an output. Not used by
 * a switch with a single VC: the sets of its outputs say it all (switch_ready_vcs()). */
struct crosspoint {
	uint16_t ready;   /* VCs whose head may be able to go */
	uint16_t stalled; /* VCs whose head waits for credits */
	uint8_t next_vc;  /* round robin */
	uint8_t reserved[3];
};

_Static_assert(sizeof(struct crosspoint) == 8, "eight to a cache line");

struct switch_output {
	uint64_t ready;   /* inputs with a ready VC */
	uint64_t stalled; /* inputs with a stalled VC */
	uint8_t next_input;
	uint16_t control_waiting;
	struct weft_packet *control_head;
};

_Static_assert(sizeof(struct switch_output) == 32, "half a cache line");

/* What a packet of VC 0 needs of the port that it comes in by is in two cache lines, what it needs
 * of the one that it leaves by in a single one. */
struct switch_port {
	uint64_t count[SWITCH_COUNTER_COUNT];
	struct switch_output output;
	struct weft_packet *control_tail;
	struct link_end link;
} __attribute__((aligned(64)));

#define SWITCH_LINE_OF(member) (offsetof(struct switch_port, member) / 64)
_Static_assert(SWITCH_LINE_OF(count[SWITCH_DATA_IN]) == SWITCH_LINE_OF(count[SWITCH_BYTES_IN]),
	"what comes in counts in one line");
_Static_assert(SWITCH_LINE_OF(count[SWITCH_DATA_OUT]) == SWITCH_LINE_OF(output) &&
		       SWITCH_LINE_OF(link.tx[0]) == SWITCH_LINE_OF(output),
	"what leaves needs one line");
_Static_assert(offsetof(struct switch_port, link.rx) % 64 == 0, "VCs 0 to 3 in one line");

struct congestion_control;
struct adaptive_output;
struct fecn;

/* For each packet: there is a VC rule, or packets are marked. */
#define SWITCH_DECIDES_ALWAYS 0x01
/* There is an adaptation: packets with the adapted bit keep to the AFC, and all are asked for while
 * CONGESTION_CONTROL_ALERT stands (congestion_control.h). */
#define SWITCH_DECIDES_ADAPTED 0x02

/* The first cache line has all that a packet needs of a switch with nothing to decide. */
struct weft_switch {
	uint8_t ports, vcs;
	bool voq;
	uint8_t decision_flags; /* set of SWITCH_DECIDES_*, CONGESTION_CONTROL_ALERT:
				   forward_decide() */
	uint32_t table_hosts;
	const uint8_t *table_port;
	uint8_t sl_to_vc[16];
	uint64_t usable; /* outputs whose link is not down */
	uint64_t busy;   /* outputs that may have something to send */
	uint64_t idle;   /* usable outputs where nothing waits, ready or stalled (forward_direct) */
	struct switch_port *port; /* [ports] */
	struct voq *queue;        /* all queues: [output][input][vc], or [input][vc] without VOQs */
	/* VCs whose packets may pass the queues by: all, or 0 if it decides; then a driver may know
	 * better for a while (switch_congestion_note_quiet()). */
	uint8_t direct_vcs;
	/* A queue that has grown to no more need not be told of; UINT32_MAX: none need. */
	uint32_t report_above_blocks;
	const struct vc_rule *vc_rule;
	struct crosspoint *cross; /* [output][input] */
	const uint64_t *table_alternatives;
	struct congestion_control *congestion; /* switch_congestion.h; NULL: none. It decides. */
	/* Inputs that are reading a packet out. Without VOQs they have nothing else to give before
	 * its tail has left: a driver whose transmissions take time says so (switch_hold()). */
	uint64_t held;
	struct weft_packet *discarded;
	uint64_t linked;                                /* ports whose link is up */
	struct weft_packet *for_agent, *for_agent_tail; /* the latter means nothing without it */
	bool has_agent;
	weft_time watchdog_ps, watchdog_due;
	uint32_t vc_rule_at;
	uint16_t control_reserve;
	struct fecn *fecn; /* the caller's; NULL: nothing is marked */
	struct adaptive_output
		*peer_buffers; /* [ports], the buffers behind them, for the adaptation */
	struct switch_config config;
};

_Static_assert(offsetof(struct weft_switch, queue) == 64, "the rest is in other lines");

/* NULL with errno EINVAL (a number out of range) or ENOMEM. */
struct weft_switch *switch_create(const struct switch_config *config, weft_time now);
/* The same in memory of the caller's, for many switches close together: switch_bytes(), zeroed, at
 * an address that is a multiple of 64. It is the caller's again after the last call. NULL with
 * errno EINVAL. */
struct weft_switch *switch_place(void *memory, const struct switch_config *config, weft_time now);
/* 0 if a number is out of range. */
size_t switch_bytes(const struct switch_config *config);
/* Packets still stored are the driver's to free first: switch_drain(). */
void switch_destroy(struct weft_switch *sw);

/* Packets that have arrived whole at 'input'. Filled by the driver: bytes, blocks, vc, the mutable
 * header bytes, hop, route_length, sl, control, destination. Here (forward.h): routing error
 * detection, the credits' check, the output, the next VC, the queue. On return the mutable header
 * bytes are as the next device shall see them. */
void switch_receive(struct weft_switch *sw, unsigned input, struct weft_packet **packets,
	unsigned count, weft_time now);

/* Up to 'max' packets that may leave by 'output' now, control frames first; returns how many. Their
 * credits are taken. */
unsigned switch_transmit(struct weft_switch *sw, unsigned output, struct weft_packet **packets,
	unsigned max, weft_time now);

/* The buffer space of a data packet is free. */
static inline void switch_release(struct weft_switch *sw, const struct weft_packet *packet)
{
	credit_release(&sw->port[packet->in_port].link.rx[packet->vc], packet->blocks);
}

/* Without VOQs an input gives one packet at a time: nothing more is taken from it until it is let
 * go. With VOQs this means nothing. */
static inline void switch_hold(struct weft_switch *sw, unsigned input)
{
	sw->held |= BIT64(input);
}

static inline void switch_let_go(struct weft_switch *sw, unsigned input)
{
	sw->held &= ~BIT64(input);
}

/* switch_transmit(), and switch_release() of what it returns: for a driver that hands frames on at
 * once. */
unsigned switch_transmit_released(struct weft_switch *sw, unsigned output,
	struct weft_packet **packets, unsigned max, weft_time now);

/* The discarded packets, linked by 'next'; NULL if none. The caller frees them. */
struct weft_packet *switch_take_discards(struct weft_switch *sw);

/* Frames of the mapper for this device itself: whether somebody takes them. If not, and at first,
 * they are routing errors. */
static inline void switch_serve_agent(struct weft_switch *sw, bool served)
{
	sw->has_agent = served;
}

/* Those that have come, in order, linked by 'next'; NULL if none. The caller frees them. */
struct weft_packet *switch_take_for_agent(struct weft_switch *sw);

/* Link protocol: a set of LINK_SEND_* for 'port'; handles a link that went down (its queues are
 * discarded) and one that is back. */
unsigned switch_poll_link(struct weft_switch *sw, unsigned port, weft_time now);
void switch_on_credit(
	struct weft_switch *sw, unsigned port, const struct control_credit *credit, weft_time now);
void switch_on_hello(
	struct weft_switch *sw, unsigned port, const struct control_hello *hello, weft_time now);

/* Discards heads that could not move for the watchdog's time. Cheap when nothing is due. */
void switch_poll_watchdog(struct weft_switch *sw, weft_time now);

/*
 * Exchanges tables, VC rule and SL to VC, at any time: what arrives from now on goes by the new
 * ones, and nothing of the old ones is looked at again, so they may be freed. What is stored has
 * its output and the next VC already and goes there: the old generation that transition_check.h
 * counts. An adaptation forgets what it knew of other ways. 0; -EINVAL, and nothing has changed: a
 * number out of range, or with an adaptation VC classes, no alternatives, or more hosts than it has
 * room for.
 */
int switch_set_routing(struct weft_switch *sw, const struct switch_routing *routing);

/* What a packet costs depends on whether there is anything to decide. */
static inline void switch_note_decisions(struct weft_switch *sw)
{
	bool always = sw->vc_rule != NULL || sw->fecn != NULL;

	/* The adaptation sees to the rest. */
	sw->decision_flags =
		sw->congestion != NULL ? (uint8_t)(sw->decision_flags | SWITCH_DECIDES_ADAPTED) : 0;
	sw->decision_flags &= (uint8_t)~SWITCH_DECIDES_ALWAYS;
	sw->decision_flags |= always ? SWITCH_DECIDES_ALWAYS : 0;
	sw->direct_vcs = sw->decision_flags != 0 ? 0 : sw->vcs;
}

/* Discards everything that is stored, for the end of a run. */
void switch_drain(struct weft_switch *sw);
/* Discards all data that is stored; control frames, the mapper's among them, stay. */
void switch_purge(struct weft_switch *sw);

/* No data packet is stored. One comparison while no control frame waits either; counts neither what
 * switch_transmit() has given out nor what was discarded. */
bool switch_is_empty(const struct weft_switch *sw);

/* Data packets and blocks stored at all inputs. */
uint64_t switch_stored_packets(const struct weft_switch *sw);

/* Invariants, for tests and debug builds: accounting of packets, buffers never over, blocks of the
 * queues equal to the credits' view, bitmaps equal to the queues. NULL, or what is wrong. */
const char *switch_check(const struct weft_switch *sw);

static inline struct crosspoint *switch_cross(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	return &sw->cross[output * sw->ports + input];
}

/* VCs of an input whose head may be able to go to an output, or waits for its credits. */
static inline uint16_t switch_ready_vcs(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	if (sw->vcs == 1)
		return sw->port[output].output.ready >> input & 1;
	return switch_cross(sw, output, input)->ready;
}

static inline uint16_t switch_stalled_vcs(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	if (sw->vcs == 1)
		return sw->port[output].output.stalled >> input & 1;
	return switch_cross(sw, output, input)->stalled;
}

/* The queues [vc] of a crosspoint; without VOQs the same for all outputs of an input. */
static inline struct voq *switch_queues(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	return &sw->queue[((sw->voq ? output * sw->ports : 0u) + input) * sw->vcs];
}
