/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of a virtual fabric, shared by its files (virtual_*.c) and nobody else. */

#include "datagram_order.h"
#include "datagram_recovery.h"
#include "deadlock.h"
#include "event_queue.h"
#include "fabric_routes.h"
#include "fecn.h"
#include "goal_replay.h"
#include "histogram.h"
#include "run_goal.h"
#include "switch.h"
#include "traffic.h"
#include "virtual_arena.h"
#include "virtual_fabric.h"
#include "virtual_trace.h"

/*
 * Events of one time come by device, port and kind. A device is a switch by its number, or a host
 * by the number of switches and its own.
 *	CREDIT	a credit frame arrives; item: the record; or a notification (virtual_is_note())
 *	DONE	the tail of what the port was sending has left; only if somebody asked for it
 *	ARRIVE	a packet can be forwarded, or, at a host, has come whole; item: the packet
 *	WAKE	a host's next message is due
 */
enum virtual_event { VIRTUAL_CREDIT, VIRTUAL_DONE, VIRTUAL_ARRIVE, VIRTUAL_WAKE };

/* Lanes of the event queue: arrivals by what they arrive at, and ends of what switches send that
 * somebody waits for when it begins. Each comes a constant time after its packet has begun to
 * leave, if frames are of one length. */
enum virtual_lane { VIRTUAL_LANE_SWITCH, VIRTUAL_LANE_HOST, VIRTUAL_LANE_END };

#define VIRTUAL_ORDER(device, port, kind) ((uint32_t)(device) << 8 | (uint32_t)(port) << 2 | (kind))
#define VIRTUAL_DEVICE(order)             ((order) >> 8)
#define VIRTUAL_PORT(order)               ((order) >> 2 & 63)
#define VIRTUAL_KIND(order)               ((enum virtual_event)((order)&3))

/* All packets that the buffers can hold; memory is touched as far as it is needed. Those that were
 * given back last are used first. */
struct virtual_pool {
	struct weft_packet *packet;
	struct datagram_origin *origin; /* of each packet: touched at both ends only */
	struct weft_packet *free;
	uint32_t used, size; /* ever used; reserved */
	uint64_t out;        /* now */
};

/*
 * The sending end of a link. It knows when the tail of what it sends will have left, so most
 * transmissions end without an event: only who waits for the end arms one (virtual_arm()), and so
 * does a transmission after which the neighbour may be due a credit frame.
 */
struct virtual_tx {
	weft_time free_at;       /* when the tail of what it sent last has left or will have left */
	uint64_t ps_per_byte;    /* of the link */
	weft_time arrive_ps;     /* its delay, and what the receiver needs for routing */
	weft_time blocked_since; /* something to send, no credits; WEFT_TIME_NEVER: not so */
	uint64_t busy_ps;
	uint32_t arrive, credit; /* orders of the events at the far end */
	uint32_t done;           /* order of its own DONE */
	uint16_t blocks;         /* of what was sent last: its space in the input buffer */
	uint8_t vc;              /* where that lay; by which input: virtual_crossbar */
	bool armed;              /* there is a DONE for free_at */
	bool waits;              /* the receiver wants the tail before it does anything */
	uint8_t lane;            /* VIRTUAL_LANE_*, of arrivals at the far end */
	uint8_t reserved[6];
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct virtual_tx) == 64, "one cache line");

/* What is looked up for many ports of a switch at once, or seldom at a port whose own memory is
 * then far away. */
struct virtual_crossbar {
	uint8_t input[SWITCH_PORTS_MAX];    /* of an output: from which it has sent last, or NONE */
	uint16_t watched[SWITCH_PORTS_MAX]; /* of an input: set of VCs (virtual_switch.c) */
} __attribute__((aligned(64)));

struct virtual_link_use {
	uint64_t busy_ps, blocked_ps, stalls;
};

/* What is seldom needed of a channel. */
struct virtual_tx_cold {
	weft_time delay_ps; /* of the link */
	uint64_t blocked_ps;
	struct virtual_link_use warm; /* when measuring began */
};

struct virtual_host {
	weft_time wake_at;      /* the WAKE event under way; WEFT_TIME_NEVER: none */
	struct traffic *stream; /* the only source, if its messages go past the FIFO; or NULL */
	weft_time next_ps;      /* its next message falls due; WEFT_TIME_NEVER: none */
	struct traffic **source;
	uint32_t sources;
	uint16_t next_destination; /* likely, of the next message */
	struct datagram nic;
};

/* Credit frames under way. */
struct virtual_credits {
	struct control_credit *record;
	uint32_t *next_free;
	uint32_t first_free, size;
};

/* Adaptive-routing notifications under way. */
struct virtual_notes {
	struct control_arn *record;
	uint32_t *next_free;
	uint32_t first_free, size;
	uint64_t sent;
};

/* Events of buckets to come, by what they need (virtual_prefetch.c). */
#define VIRTUAL_AHEAD_STEPS 3u
#define VIRTUAL_AHEAD_LISTS 4u /* a power of two, above the steps */
#define VIRTUAL_AHEAD_KINDS 2u

struct virtual_prefetch_list {
	uint64_t number; /* of the bucket */
	uint8_t count[VIRTUAL_AHEAD_KINDS];
	uint32_t order[VIRTUAL_AHEAD_KINDS][EVENT_SORT_FEW];
};

/* An arrival to come at a switch. */
struct virtual_prefetch_arrival {
	const struct weft_packet *packet; /* NULL: unknown */
	const struct weft_switch *sw;
	const struct virtual_tx *channel; /* the switch's first */
	uint32_t input;
};

#define VIRTUAL_AHEAD_ARRIVALS 16u /* a power of two */

struct virtual_prefetch {
	unsigned first, count; /* in use */
	struct virtual_prefetch_list list[VIRTUAL_AHEAD_LISTS];
	struct virtual_prefetch_arrival arrival[VIRTUAL_AHEAD_ARRIVALS]; /* by place in the lane */
};

struct virtual_totals {
	uint64_t frames, messages, bytes, wire_bytes; /* delivered */
	uint64_t generated_messages, generated_wire_bytes;
	uint64_t latency_sum_ps;
	uint64_t absorbed; /* frames, by hosts on the way */
	uint64_t adapted;  /* packets, by switches */
	uint64_t notes;    /* sent */
};

struct virtual_fabric {
	const struct topology *topology;
	const struct run_config *run;
	struct virtual_arena arena;
	struct event_queue *events;
	uint64_t items; /* of events: their numbers are below it, those of notifications not */
	uint32_t switches, hosts;
	struct weft_switch **sw;
	struct virtual_host *host;
	struct datagram_number *numbers; /* [hosts][hosts] */
	struct virtual_tx *channel;      /* by switch and port, then by host */
	struct virtual_tx_cold *tx_cold;
	struct virtual_tx **first;         /* channel by switch, then that of the first host */
	struct virtual_crossbar *crossbar; /* [switches] */
	uint32_t margin_blocks; /* more than what can arrive at an input during a transmission */
	weft_time routing_delay_ps;
	bool cut_through;
	bool credit_each; /* a credit frame for each packet */
	/* Each end of a transmission is an event: credit_each needs it, and tests compare with it.
	 */
	bool every_end;
	bool looks_ahead;
	struct virtual_prefetch ahead;
	uint64_t state_bytes; /* of all switches */
	struct virtual_pool pool;
	struct virtual_credits credits;
	struct virtual_notes notes;
	struct fecn *fecn; /* [switches]; NULL: nothing is marked */
	struct fabric_routes routes;
	uint64_t *route_sum; /* [hosts]: elements of a host's first routes to all; NULL: none */
	struct run_hosts *traffic;
	struct run_goal *goal; /* a schedule that hosts replay; NULL: none */
	struct goal_replay *replay;
	uint64_t goal_messages, goal_wire_bytes; /* that they have sent */
	uint64_t goal_delivered;                 /* messages, of those */
	uint32_t goal_ranks_done;                /* ranks before this one have done all they have */
	bool goal_over;                          /* so have all, and their messages have arrived */
	/* What was measured. */
	weft_time now, measure_from;
	weft_time limit; /* no event at that time or later happens for now */
	uint32_t order;  /* of the event that is happening; 0: none is */
	struct histogram network_ns, total_ns;
	uint64_t dropped, fingerprint;
	uint64_t latency_sum_ps; /* of all frames */
	uint64_t wire_bytes;     /* delivered, with everything that a frame costs */
	struct virtual_totals at_warmup, at_end, at_sample;
	struct run_result result; /* samples */
	double wall_seconds;
	bool failed, deadlock, incomplete;
	/* The first circle of waiting that was found (deadlock.h). */
	struct deadlock_circle circle;
	virtual_trace_fn *watch; /* told of every frame; NULL: nobody looks */
	void *watch_ctx;
};

static inline struct virtual_tx *virtual_switch_channel(
	const struct virtual_fabric *fabric, uint32_t at, unsigned port)
{
	return &fabric->first[at][port];
}

static inline struct virtual_tx *virtual_host_channel(
	const struct virtual_fabric *fabric, uint32_t host)
{
	return &fabric->first[fabric->switches][host];
}

static inline struct virtual_tx_cold *virtual_tx_cold(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return &fabric->tx_cold[channel - fabric->channel];
}

/* virtual_links.c: channels of all links, credits of all ends as after start-up. */
int virtual_links_create(struct virtual_fabric *fabric, struct fault *fault);
void virtual_links_destroy(struct virtual_fabric *fabric);
/* The end of the last transmission that has begun anywhere. */
weft_time virtual_links_free_at(const struct virtual_fabric *fabric);

/* virtual_pool.c */
int virtual_pool_init(struct virtual_pool *pool, uint64_t packets);
void virtual_pool_fini(struct virtual_pool *pool);
int virtual_credits_init(struct virtual_credits *credits, uint32_t records);
void virtual_credits_fini(struct virtual_credits *credits);

static inline uint32_t virtual_item_of(
	const struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	return (uint32_t)(packet - fabric->pool.packet);
}

static inline struct datagram_origin *virtual_origin_of(
	const struct virtual_fabric *fabric, const struct weft_packet *packet)
{
	return &fabric->pool.origin[packet - fabric->pool.packet];
}

/* virtual_dispatch.c: up to '*most' events before fabric->limit; false: there are no more, and
 * '*most' is what is left of it. */
bool virtual_dispatch(struct virtual_fabric *fabric, uint32_t *most);

/* virtual_switch.c */
void virtual_switch_arrive(struct virtual_fabric *fabric, uint32_t at, unsigned input,
	struct weft_packet *packet, weft_time now);
void virtual_switch_done(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
void virtual_switch_credit(
	struct virtual_fabric *fabric, uint32_t at, unsigned port, uint32_t item, weft_time now);
/* An output looks for something to send. */
void virtual_switch_try(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
/* Gives back what a switch has discarded. */
void virtual_take_discards(struct virtual_fabric *fabric, uint32_t at);

/* virtual_host.c: events at hosts. */
void virtual_host_arrive(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
void virtual_host_done(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_wake(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* The frame was discarded on the way, and nobody sends it again: who waits for it at its
 * destination waits no longer. */
void virtual_give_up(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now);
void virtual_host_credit(
	struct virtual_fabric *fabric, uint32_t host, uint32_t item, weft_time now);
/* Before a run: hosts that can do so send past their FIFOs. */
void virtual_hosts_open(struct virtual_fabric *fabric);
/* Nothing is under way any more: when hosts that are held back stop counting messages that fall
 * due, because they have no more room for any. */
weft_time virtual_hosts_full_at(const struct virtual_fabric *fabric);
/* Counts them. */
void virtual_hosts_fill(struct virtual_fabric *fabric);
/* A host looks for something to send. */
void virtual_host_try(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* It looks at that time at the latest. */
void virtual_host_wake_by(struct virtual_fabric *fabric, uint32_t host, weft_time at);

/* virtual_prefetch.c: to be called when the events of a bucket of the calendar begin. */
void virtual_look_ahead(struct virtual_fabric *fabric);
/* When a packet arrives at a switch or at a host. */
void virtual_look_ahead_switch(struct virtual_fabric *fabric);
void virtual_look_ahead_host(struct virtual_fabric *fabric);
/* When a switch has sent what it was sending. */
void virtual_look_ahead_end(struct virtual_fabric *fabric);

/* virtual_credits.c */
/* A credit frame of this end, over the link that 'channel' sends by. */
void virtual_send_credit(struct virtual_fabric *fabric, struct link_end *end,
	const struct virtual_tx *channel, weft_time now);
/* Two credit frames that an end sends at the same time may arrive in either order: what the older
 * one would take back stays granted. */
void virtual_renew_credit(struct control_credit *credit, const struct link_end *end);
/* The credit frame that arrives at this end, until the next one is sent. */
struct control_credit *virtual_open_credit(
	struct virtual_fabric *fabric, uint32_t item, const struct link_end *end);

/* virtual_notes.c */
int virtual_notes_init(struct virtual_notes *notes, uint32_t records);
void virtual_notes_fini(struct virtual_notes *notes);
/* Sends the notifications that a switch, which has an adaptation, has to send. */
void virtual_send_notes(struct virtual_fabric *fabric, uint32_t at, weft_time now);
/* True if this item of a CREDIT is one. */
static inline bool virtual_is_note(const struct virtual_fabric *fabric, uint32_t item)
{
	return item >= fabric->items;
}

/* The one that arrives; it is no longer under way. */
struct control_arn virtual_take_note(struct virtual_fabric *fabric, uint32_t item);

/* virtual_trace.c; only called when somebody looks. */
/* An event is about to happen; of a packet at a switch virtual_trace_admitted() tells. */
void virtual_trace_in(struct virtual_fabric *fabric, const struct sim_event *event);
/* Switch 'at' has admitted or discarded a packet and done nothing else with it. 'header': its
 * mutable bytes on arrival. */
void virtual_trace_admitted(struct virtual_fabric *fabric, uint32_t at, struct weft_packet *packet,
	uint32_t header, unsigned output, weft_time now);
/* The port of which 'order' is an event begins to send the packet. */
void virtual_trace_out(struct virtual_fabric *fabric, uint32_t order,
	const struct weft_packet *packet, weft_time now);
/* A credit frame leaves for the port of which 'order' is an event. */
void virtual_trace_credit(struct virtual_fabric *fabric, uint32_t order,
	const struct control_credit *credit, weft_time now);
void virtual_trace_note(struct virtual_fabric *fabric, uint32_t order,
	const struct control_arn *note, weft_time now);

/* virtual_transit.c; of hosts with in-transit buffers. */
/* The packet in transit that the host sends next; NULL: none can go, or it is the turn of its own.
 */
struct weft_packet *virtual_transit_next(
	struct virtual_fabric *fabric, uint32_t host, weft_time now);
uint64_t virtual_transit_held(const struct virtual_fabric *fabric);     /* frames, now */
uint64_t virtual_transit_absorbed(const struct virtual_fabric *fabric); /* frames, ever */
const char *virtual_transit_check(const struct virtual_fabric *fabric); /* NULL, or what is wrong */
void virtual_transit_result(const struct virtual_fabric *fabric, struct run_result *result);

/* virtual_recovery.c; of fabrics whose hosts discard what is in transit (datagram_recovery.h). */
/* A host has discarded the frame, which goes back to its source. */
void virtual_recovery_report(
	struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now);
uint64_t virtual_recovery_held(const struct virtual_fabric *fabric); /* frames, now */
const char *virtual_recovery_check(const struct virtual_fabric *fabric);
void virtual_recovery_result(const struct virtual_fabric *fabric, struct run_result *result);

/* virtual_order.c; of fabrics where frames can overtake each other (datagram_order.h). */
/* Packets of which there is room beside those in the network and in pools: held at destinations, or
 * about to be sent again. */
uint64_t virtual_order_reserve(const struct virtual_fabric *fabric);
/* There is none left: no host of such a fabric may send anything new. */
static inline bool virtual_order_is_full(const struct virtual_fabric *fabric)
{
	return fabric->pool.out + fabric->hosts >= fabric->pool.size;
}

uint64_t virtual_order_held(const struct virtual_fabric *fabric); /* frames, now */
const char *virtual_order_check(const struct virtual_fabric *fabric);
void virtual_order_result(const struct virtual_fabric *fabric, struct run_result *result);

/* virtual_deadlock.c: keeps the first circle that is found, of heads that have waited for so long.
 */
void virtual_deadlock_note(struct virtual_fabric *fabric, weft_time age_ps);
/* -ENOMEM. */
int virtual_deadlock_result(const struct virtual_fabric *fabric, struct run_result *result);

/* virtual_goal.c. Reads the run's schedule, if it has one; virtual_goal_close() in any case. */
int virtual_goal_open(struct virtual_fabric *fabric, struct fault *fault);
void virtual_goal_close(struct virtual_fabric *fabric);
/* The others only in a fabric with a schedule. */
/* Sends what is due. Returns when to look again if nothing arrives. */
weft_time virtual_goal_poll(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* A frame has arrived, with which a message may be whole. */
void virtual_goal_take(struct virtual_fabric *fabric, uint32_t host,
	const struct weft_packet *packet, weft_time now);

/* virtual_wire_cost.c: what traffic takes on the wire. 0 or -ENOMEM with fault. */
int virtual_wire_cost_open(struct virtual_fabric *fabric, struct fault *fault);
void virtual_wire_cost_close(struct virtual_fabric *fabric);
/* Of route in a frame of this source, by the first routes to where it can send to, as
 * traffic_config.mean_route. */
uint32_t virtual_wire_cost_route(
	const struct virtual_fabric *fabric, const struct traffic_config *config);
/* Of a message. */
uint64_t virtual_wire_cost_wire_bytes(
	const struct virtual_fabric *fabric, uint32_t source, uint32_t destination, uint32_t bytes);

/* virtual_measure.c */
void virtual_totals_read(const struct virtual_fabric *fabric, struct virtual_totals *totals);
/* What links do from now on counts. */
void virtual_links_mark(struct virtual_fabric *fabric);
void virtual_take_sample(struct virtual_fabric *fabric, weft_time since, weft_time now);
