/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The structs of a virtual fabric, for its files (virtual_*.c) and tests. The functions of a file
 * are in its header. */

#include "experiment/workload/run_goal.h"
#include "goal/goal_replay.h"
#include "measure/deadlock.h"
#include "measure/measure_window.h"
#include "measure/starvation.h"
#include "nic/congestion/cn_generator.h"
#include "nic/datagram/datagram_recovery.h"
#include "nic/datagram/datagram_reorder.h"
#include "setup/fabric_routes.h"
#include "sim/event_queue.h"
#include "stats/histogram.h"
#include "stats/lateness.h"
#include "switch/contention.h"
#include "switch/fecn.h"
#include "switch/switch.h"
#include "traffic/traffic.h"
#include "virtual/parallel/arena.h"
#include "virtual_fabric.h"
#include "virtual_trace.h"
#include "wire/cn.h"

/* Events with equal times are ordered by device, port and kind. Devices are numbered with the
 * switches first, followed by the hosts.
 *	CREDIT	a credit frame arrives; item: the record; or it is one for a single packet
 *		(virtual_credit_item()), or a notification of congestion (virtual_is_arn(),
 *		virtual_is_cn())
 *	DONE	the tail of what the port was sending has left; only if it was armed
 *	ARRIVE	a packet can be forwarded, or, at a host, has come whole; item: the packet
 *	WAKE	a host's next message is due; item 1: it is told that a frame will not arrive; from
 *		VIRTUAL_LOST_ITEM on, at any port: a frame was lost on the link (virtual_faults.h)
 */
enum virtual_event { VIRTUAL_CREDIT, VIRTUAL_DONE, VIRTUAL_ARRIVE, VIRTUAL_WAKE };

/* Lanes of the event queue: arrivals at switches, arrivals at hosts, and ends of switches'
 * transmissions that were armed at their start. Each occurs at a constant time after its packet
 * starts to leave, if frames have equal lengths. */
enum virtual_lane { VIRTUAL_LANE_SWITCH, VIRTUAL_LANE_HOST, VIRTUAL_LANE_END };

/* A switch's order consists of its number, the port and the kind. A host's order comes after all
 * switches and consists of its number and the kind: the fewer bits, the farther ahead the lanes of
 * the event queue reach. */
#define VIRTUAL_SWITCH_ORDER(at, port, kind) \
	(((uint32_t)(at)*PORT_SET_PORTS + (uint32_t)(port)) << 2 | (uint32_t)(kind))
#define VIRTUAL_SWITCH(order) ((order) / (4 * PORT_SET_PORTS))
#define VIRTUAL_PORT(order)   ((order) >> 2 & (PORT_SET_PORTS - 1))
#define VIRTUAL_KIND(order)   ((enum virtual_event)((order)&3))

/* All packets that the buffers can hold; memory is touched only as needed. The most recently freed
 * ones are used first. */
struct virtual_pool {
	struct weft_packet *packet;
	struct datagram_origin *origin; /* one per packet: touched at both ends only */
	struct weft_packet *returned;   /* free ones, linked by next */
	uint32_t used, size;            /* high-water mark; reserved */
	uint64_t out;                   /* now */
};

/* The sending end of a link. It knows when the tail of its current frame will have left, so most
 * transmissions end without an event: one is armed (virtual_arm()) only if something waits for the
 * end, or if a credit frame may be due to the neighbour then. */
struct virtual_tx {
	weft_time free_at;   /* when the tail of its last packet left or will leave */
	uint64_t byte_time;  /* weft_time.h */
	weft_time arrive_ps; /* its delay, and the receiver's routing delay */
	/* Waiting to send without credits since then; WEFT_TIME_NEVER: not waiting. */
	weft_time blocked_since;
	uint64_t busy_ps;
	uint32_t arrive, credit; /* orders of the events at the far end */
	uint32_t done;           /* order of its own DONE */
	uint16_t blocks;         /* input-buffer space of the last packet sent */
	uint8_t vc;              /* input of that space: virtual_crossbar */
	bool armed;              /* there is a DONE for free_at */
	bool waits;              /* the receiver needs the tail before it does anything */
	uint8_t lane;            /* VIRTUAL_LANE_*, of arrivals at the far end */
	bool special;            /* virtual_is_special(), or traced (virtual_trace.h) */
	bool crosses;            /* the far end is in another partition (virtual_partitions.h) */
	/* The credit frame for one packet is scheduled as an event when the packet's transmission
	 * starts (virtual_send_freed()). */
	bool foretells;
	uint8_t reserved;
	uint16_t rest; /* wire_takes() */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct virtual_tx) == 64, "one cache line");

/* State of a switch's ports that is read for many ports at once, or rarely, while the port's own
 * memory is not in the cache. */
struct virtual_crossbar {
	uint8_t input[PORT_SET_PORTS];   /* by output: the input from which it last sent, or NONE */
	port_set watched[FRAME_VCS_MAX]; /* by VC: set of inputs (virtual_switch.c) */
} __attribute__((aligned(64)));

struct virtual_link_use {
	uint64_t busy_ps, blocked_ps, stalls;
};

/* Control frames of a kind that a channel sent and that arrive at the same time. */
struct virtual_control_sent {
	weft_time at;  /* when those sent last arrive */
	uint32_t item; /* the largest of their records; the rest: virtual_control.next */
};

/* Seldom used state of a channel. */
struct virtual_tx_cold {
	weft_time delay_ps; /* the link's delay */
	uint64_t blocked_ps;
	struct virtual_control_sent credits, arns;
	struct virtual_link_use warm; /* when measuring began */
} __attribute__((aligned(64)));

/* A notification of congestion from one host to another. */
struct virtual_answer {
	struct cn cn;
	uint16_t from;
};

struct virtual_host {
	weft_time wake_at;      /* the WAKE event under way; WEFT_TIME_NEVER: none */
	struct traffic *stream; /* the only source, if its messages bypass the FIFO; or NULL */
	weft_time next_ps;      /* when its next message falls due; WEFT_TIME_NEVER: none */
	struct traffic **source;
	uint32_t sources;
	uint16_t next_destination;        /* likely, of the next message */
	bool paused;                      /* sends nothing of its own */
	struct starvation_transit middle; /* state halfway through the measurement */
	struct datagram nic;
	/* With fabric->answers. */
	struct answers answers;
	uint32_t first_cn; /* in flight to the host (virtual_cn.c) */
	/* With nic.order: frames for the host that will never arrive, of which it learns at their
	 * 'arrived_ps'. */
	struct weft_packet *lost;
};

/* The content of a credit frame per VC: the limit, and the sender's total, which only captures
 * show. All sessions are the first ones. */
struct virtual_credit {
	uint32_t limit, sent;
};

/* Control frames of a kind that are in flight (virtual_control.h). */
struct virtual_control {
	void *record; /* [size] */
	size_t record_bytes;
	/* For a free record, the next free one. For one in flight, the next smaller record that
	 * arrives at the same time (virtual_control.c). */
	uint32_t *next;
	uint32_t first_free, size;
};

/* Events of coming buckets, sorted by the data that they need (virtual_prefetch.c). */
#define VIRTUAL_PREFETCH_STEPS 3u
#define VIRTUAL_PREFETCH_LISTS 4u /* a power of two, above the steps */
#define VIRTUAL_PREFETCH_KINDS 3u

struct virtual_prefetch_list {
	uint64_t number; /* number of the bucket */
	uint8_t count[VIRTUAL_PREFETCH_KINDS];
	uint32_t order[VIRTUAL_PREFETCH_KINDS][EVENT_SORT_FEW];
	uint32_t item[EVENT_SORT_FEW]; /* items of the last kind */
};

/* A future arrival at a switch. */
struct virtual_prefetch_arrival {
	const struct weft_packet *packet; /* NULL: unknown */
	const struct weft_switch *sw;
	const struct virtual_tx *channel; /* the switch's first */
	uint32_t input;
};

#define VIRTUAL_PREFETCH_ARRIVALS 16u /* a power of two */

struct virtual_prefetch {
	unsigned first, count; /* in use */
	struct virtual_prefetch_list list[VIRTUAL_PREFETCH_LISTS];
	struct virtual_prefetch_arrival
		arrival[VIRTUAL_PREFETCH_ARRIVALS]; /* by place in the lane */
};

/* At a switch: waiting times, and number of packets that left. */
struct virtual_waited {
	uint64_t waited_ps, packets;
};

/* Deliveries of a traffic entry. */
struct virtual_entry {
	uint64_t wire_bytes;     /* with everything that a frame costs */
	uint64_t held_bytes;     /* part of these, of frames that wait for earlier ones */
	uint64_t latency_sum_ps; /* sum over all frames */
	uint64_t warm_messages;  /* before measuring started; the others are in total_ns */
	uint64_t goal_messages, goal_wire_bytes; /* that ranks of a schedule have sent */
	struct histogram network_ns, total_ns;
	struct measure_flow *flow; /* [hosts]; NULL: none (measure_window.h) */
};

/* Frames that wait, or waited, at their hosts for earlier ones (virtual_measure.h). */
struct virtual_held {
	struct order_wait wait; /* from warm-up on */
	uint64_t frames, bytes; /* waiting now: number, payload, */
	uint64_t latency_ps;    /* and the sum of their latencies */
	uint64_t waited_ps;     /* sum over all that were released */
};

/* The progress of a schedule, over the hosts of a partition. */
struct virtual_goal_state {
	uint64_t sent, delivered; /* messages */
	uint32_t hosts_done;
	weft_time changed; /* when, last */
};

/* Future ends of transmissions after which a credit frame may go to another partition
 * (virtual_partitions.h). They are few unless a credit frame is sent for each packet. */
#define VIRTUAL_ENDS_MAX 64u

struct virtual_ends {
	weft_time at[VIRTUAL_ENDS_MAX];
	unsigned count;
	bool wanted;               /* something depends on them */
	weft_time unlisted_before; /* ends before it may have been dropped for lack of room */
};

struct virtual_partitions;
struct virtual_fault;
struct virtual_pause;
struct virtual_events;
struct virtual_reroute;
struct virtual_mapper;

/* Frames lost since the start (virtual_faults.h). */
struct virtual_fault_count {
	uint64_t lost, abandoned, corrupted, credits_lost;
};

struct virtual_fabric {
	const struct topology *topology;
	const struct run_config *run;
	struct arena arena;
	struct event_queue *events;
	uint64_t items; /* upper bound of event numbers, except for notifications */
	uint32_t freed; /* the first that names blocks: virtual_credit_item() */
	unsigned block_bits;
	uint32_t switches, hosts;
	unsigned vcs;
	struct weft_switch **sw;
	struct virtual_host *host;
	void *number_table;         /* datagram_config.number_table, or NULL */
	struct virtual_tx *channel; /* by switch and port, then by host */
	struct virtual_tx_cold *tx_cold;
	struct virtual_tx **first;         /* channel by switch, then that of the first host */
	struct virtual_crossbar *crossbar; /* [switches] */
	uint32_t margin_blocks; /* more than what can arrive at an input during a transmission */
	weft_time routing_delay_ps;
	bool credit_each; /* a credit frame for each packet */
	/* The end of each transmission is an event: credit_each needs it, and tests compare with
	 * it. Not for channels that foretell credits (virtual_links_foretell()). */
	bool every_end, foretells;
	bool looks_ahead; /* prefetches */
	bool looks_far;   /* also prefetches what credit frames need */
	struct virtual_prefetch ahead;
	uint64_t state_bytes; /* memory of all switches */
	struct virtual_pool pool;
	struct virtual_control credits, arns, cns;
	struct latency_extension *extension; /* one per packet; NULL: no flows are recorded */
	uint8_t *hops;                       /* virtual_cn.c */
	uint64_t arns_sent;
	struct fecn *fecn;             /* [switches]; NULL: nothing is marked */
	struct contention *contention; /* [switches]; NULL: no waiting times */
	struct virtual_waited *waited; /* [switches] when measuring began */
	struct fabric_routes routes;
	uint64_t *route_sum; /* [hosts]: elements of a host's first routes to all; NULL: none */
	struct run_hosts *traffic;
	struct run_goal *goal; /* a schedule that hosts replay; NULL: none */
	struct goal_replay *replay;
	struct virtual_goal_state goal_state;
	bool *goal_host_done; /* [hosts]: whether all operations of its ranks have ended */
	/* When all ranks had finished all their operations, and all messages had arrived.
	 * WEFT_TIME_NEVER: not yet. */
	weft_time goal_ended;
	weft_time goal_rest_ps; /* how long the run continues after it (virtual_dispatch.h) */
	/* Measurements. */
	weft_time now, measure_from;
	weft_time limit;             /* for now no event at this time or later is executed */
	uint32_t order;              /* order of the event being executed; 0: none */
	struct virtual_entry *entry; /* as window.entry */
	struct virtual_held *held;
	bool flows;   /* some of window.entry have flows */
	bool answers; /* hosts answer frames with notifications */
	/* A frame's cost on the wire in addition to its bytes, minus the latency extension, which
	 * loads do not count. So loads and throughput mean the same under all kinds of source
	 * control. */
	uint32_t counted_bytes;
	uint64_t dropped, unsent, fingerprint; /* 'unsent': packets that no host has sent yet */
	struct measure_window window;
	double wall_seconds;
	bool failed, deadlock, stopped;
	struct virtual_pause *pauses;      /* by channel; NULL: links have credits */
	struct virtual_fault *faults;      /* one per channel; NULL: links lose nothing */
	struct virtual_events *happenings; /* NULL: the run has no events */
	struct virtual_reroute *reroute;   /* NULL: routes stay, or mappers change them */
	struct virtual_mapper *mapper;     /* NULL: there is none (virtual_reroute.h) */
	/* Counts in this part; after the run, sums over all parts and processes. */
	struct virtual_fault_count fault_count, fault_total;
	const char *refused; /* why it has failed: it would need a single worker; else NULL */
	/* For a fabric on several threads; NULL: it runs on one. */
	struct virtual_partitions *partitions;
	unsigned partition; /* which of them */
	struct virtual_ends ends;
	/* The first circular wait that was found (deadlock.h). */
	struct deadlock_circle circle;
	struct deadlock_heads starved; /* starvation.h; the first partition's */
	virtual_trace_fn *watch;       /* called for every frame; NULL: none */
	void *watch_ctx;
};

/* The first order of a host. */
static inline uint32_t virtual_host_orders(const struct virtual_fabric *fabric)
{
	return VIRTUAL_SWITCH_ORDER(fabric->switches, 0, 0);
}

static inline uint32_t virtual_host_order(
	const struct virtual_fabric *fabric, uint32_t host, enum virtual_event kind)
{
	return virtual_host_orders(fabric) + (host << 2 | (uint32_t)kind);
}

static inline bool virtual_is_host(const struct virtual_fabric *fabric, uint32_t order)
{
	return order >= virtual_host_orders(fabric);
}

/* The host of such an order. */
static inline uint32_t virtual_host_of(const struct virtual_fabric *fabric, uint32_t order)
{
	return (order - virtual_host_orders(fabric)) >> 2;
}

/* A switch, or a host plus the number of switches. */
static inline uint32_t virtual_device_of(const struct virtual_fabric *fabric, uint32_t order)
{
	return virtual_is_host(fabric, order) ? fabric->switches + virtual_host_of(fabric, order)
					      : VIRTUAL_SWITCH(order);
}

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

/* Sending takes more than virtual_start() does. */
static inline bool virtual_is_special(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return channel->crosses || fabric->faults != NULL || fabric->pauses != NULL ||
	       byte_time_part(channel->byte_time) != 0;
}

/* The link's delay, without the cold state, which another partition may be writing. */
static inline weft_time virtual_delay_of(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return channel->arrive_ps -
	       (channel->lane == VIRTUAL_LANE_SWITCH ? fabric->routing_delay_ps : 0);
}

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

/* Sources do something about congestion. */
static inline bool virtual_is_controlled(const struct virtual_fabric *fabric)
{
	return fabric->run->nic.control != SOURCE_CONTROL_NONE;
}

/* The item of a CREDIT event for the blocks of a single packet. Items of events with equal times
 * are in the order of the outputs through which the packets left. */
static inline uint32_t virtual_credit_item(
	const struct virtual_fabric *fabric, unsigned output, unsigned vc, unsigned blocks)
{
	return fabric->freed + ((output * FRAME_VCS_MAX + vc) << fabric->block_bits | blocks);
}

/* Adds these blocks to the limit of their VC. */
static inline void virtual_take_freed(
	const struct virtual_fabric *fabric, uint32_t item, struct link_end *end)
{
	uint32_t freed = item - fabric->freed;

	end->tx[(freed >> fabric->block_bits) % FRAME_VCS_MAX].limit +=
		freed & ((1u << fabric->block_bits) - 1);
}

/* True if this item of a CREDIT event is an ARN. */
static inline bool virtual_is_arn(const struct virtual_fabric *fabric, uint32_t item)
{
	return item >= fabric->items;
}

/* True if it is a notification of congestion between hosts. */
static inline bool virtual_is_cn(const struct virtual_fabric *fabric, uint32_t item)
{
	return item >= 2 * fabric->items;
}

/* Packets, events and control frames; each partition has its own. Returns 0 or -ENOMEM. */
int virtual_fabric_open_own(struct virtual_fabric *fabric);
/* Before the run: an event queue for the present share of events of this partition. Returns 0 or
 * -ENOMEM. */
int virtual_fabric_fit_events(struct virtual_fabric *fabric);
void virtual_fabric_close_own(struct virtual_fabric *fabric);

/* Payload in bytes of the shortest frame of the traffic. */
uint64_t virtual_min_payload(const struct virtual_fabric *fabric);
