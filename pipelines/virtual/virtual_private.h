/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Structs of a virtual fabric, for its files (virtual_*.c) and tests. Functions are declared in the
 * header of their file. */

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

/* Events with equal times are ordered by device, port and kind. Switches have the lowest device
 * numbers, followed by the hosts.
 *	CREDIT	a credit frame arrives; item: its record. Also credits for a single packet
 *		(virtual_credit_item()) and notifications (virtual_is_arn(), virtual_is_cn())
 *	DONE	the tail of the port's packet has left; only if armed
 *	ARRIVE	a packet can be forwarded or, at a host, has arrived completely; item: the packet
 *	WAKE	a host's next message is due; item 1: a frame will not arrive at the host; from
 *		VIRTUAL_LOST_ITEM on, at any port: a frame was lost on the link (virtual_faults.h)
 */
enum virtual_event { VIRTUAL_CREDIT, VIRTUAL_DONE, VIRTUAL_ARRIVE, VIRTUAL_WAKE };

/* Lanes of the event queue: arrivals at switches, arrivals at hosts, and those transmission ends of
 * switches that were armed at the start. Each occurs a constant time after its packet starts to
 * leave, provided that frames have equal lengths. */
enum virtual_lane { VIRTUAL_LANE_SWITCH, VIRTUAL_LANE_HOST, VIRTUAL_LANE_END };

/* A switch's order consists of its number, the port and the kind. Hosts' orders follow and consist
 * of the host's number and the kind. With fewer bits, the event queue's lanes reach further. */
#define VIRTUAL_SWITCH_ORDER(at, port, kind) \
	(((uint32_t)(at)*PORT_SET_PORTS + (uint32_t)(port)) << 2 | (uint32_t)(kind))
#define VIRTUAL_SWITCH(order) ((order) / (4 * PORT_SET_PORTS))
#define VIRTUAL_PORT(order)   ((order) >> 2 & (PORT_SET_PORTS - 1))
#define VIRTUAL_KIND(order)   ((enum virtual_event)((order)&3))

/* As many packets as all buffers can hold; memory is touched only when needed. The most recently
 * freed packets are reused first. */
struct virtual_pool {
	struct weft_packet *packet;
	struct datagram_origin *origin; /* one per packet, accessed only at both ends */
	struct weft_packet *returned;   /* free packets, linked by 'next' */
	uint32_t used, size;            /* high-water mark; number reserved */
	uint64_t out;                   /* packets in use now */
};

/* The sending end of a link. It stores when the tail of its current frame will have left, so most
 * transmissions end without an event. An event is armed (virtual_arm()) only if something waits for
 * the end, or if a credit frame to the neighbour may then be due. */
struct virtual_tx {
	weft_time free_at;   /* when the last packet's tail has left or will leave */
	uint64_t byte_time;  /* as in weft_time.h */
	weft_time arrive_ps; /* link delay plus the receiver's routing delay */
	/* Since when it has been waiting for credits to send; WEFT_TIME_NEVER: not waiting. */
	weft_time blocked_since;
	uint64_t busy_ps;
	uint32_t arrive, credit; /* event orders at the far end */
	uint32_t done;           /* order of its DONE event */
	uint16_t blocks;         /* input-buffer blocks of the last packet sent */
	uint8_t vc;              /* VC of the blocks (input: virtual_crossbar) */
	bool armed;              /* a DONE event is queued for free_at */
	bool waits;              /* the receiver acts only once the tail has arrived */
	uint8_t lane;            /* VIRTUAL_LANE_* of arrivals at the far end */
	bool special;            /* virtual_is_special(), or traced (virtual_trace.h) */
	bool crosses; /* the far end is in a different partition (virtual_partitions.h) */
	/* A packet's credit frame is scheduled when transmission starts: virtual_send_freed(). */
	bool foretells;
	uint8_t reserved;
	uint16_t rest; /* remainder for wire_takes() */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct virtual_tx) == 64, "one cache line");

/* State of a switch's ports that is read for many ports at once, or for uncached ports. */
struct virtual_crossbar {
	uint8_t input[PORT_SET_PORTS];   /* by output: the last input, or SWITCH_PORT_NONE */
	port_set watched[FRAME_VCS_MAX]; /* [VC]: inputs whose departing packets have an event that
					    checks for a due credit (watch_input()) */
} __attribute__((aligned(64)));

struct virtual_link_use {
	uint64_t busy_ps, blocked_ps, stalls;
};

/* Control frames of one kind that a channel sent and that arrive at the same time. */
struct virtual_control_sent {
	weft_time at;  /* arrival time of the latest ones */
	uint32_t item; /* highest of their records; the others follow by virtual_control.next */
};

/* Rarely used state of a channel. */
struct virtual_tx_cold {
	weft_time delay_ps; /* delay of the link */
	uint64_t blocked_ps;
	struct virtual_control_sent credits, arns;
	struct virtual_link_use warm; /* at the start of the measurement */
} __attribute__((aligned(64)));

/* Congestion notification from one host to another. */
struct virtual_answer {
	struct cn cn;
	uint16_t from;
};

struct virtual_host {
	weft_time wake_at;      /* time of the pending WAKE event; WEFT_TIME_NEVER: none */
	struct traffic *stream; /* the only source, if its messages bypass the FIFO, or NULL */
	weft_time next_ps;      /* when its next message is due; WEFT_TIME_NEVER: none */
	struct traffic **source;
	uint32_t sources;
	uint16_t next_destination;        /* likely destination of the next message */
	bool paused;                      /* sends no messages of its own */
	struct starvation_transit middle; /* state halfway through the measurement */
	struct datagram nic;
	/* Used with fabric->answers. */
	struct answers answers;
	uint32_t first_cn; /* notifications in flight to the host (virtual_cn.c) */
	/* With nic.order: frames for the host that will never arrive, until their 'arrived_ps'. */
	struct weft_packet *lost;
};

/* Contents of a credit frame per VC: the limit and, only for captures, the sender's total. */
struct virtual_credit {
	uint32_t limit, sent;
};

/* Control frames of one kind in flight (virtual_control.h). */
struct virtual_control {
	void *record; /* [size] */
	size_t record_bytes;
	/* Free record: the next free one. Record in flight: the next lower record that arrives at
	 * the same time (virtual_control.c). */
	uint32_t *next;
	uint32_t first_free, size;
};

/* Events of future buckets, sorted by the data that they need (virtual_prefetch.c). */
#define VIRTUAL_PREFETCH_STEPS 3u
#define VIRTUAL_PREFETCH_LISTS 4u /* a power of two greater than the number of steps */
#define VIRTUAL_PREFETCH_KINDS 3u

struct virtual_prefetch_list {
	uint64_t number; /* bucket number */
	uint8_t count[VIRTUAL_PREFETCH_KINDS];
	uint32_t order[VIRTUAL_PREFETCH_KINDS][EVENT_SORT_FEW];
	uint32_t item[EVENT_SORT_FEW]; /* items of the last kind's events */
};

/* A future arrival at a switch. */
struct virtual_prefetch_arrival {
	const struct weft_packet *packet; /* NULL: unknown */
	const struct weft_switch *sw;
	const struct virtual_tx *channel; /* first channel of the switch */
	uint32_t input;
};

#define VIRTUAL_PREFETCH_ARRIVALS 16u /* a power of two */

struct virtual_prefetch {
	unsigned first, count; /* index of the first list; number of lists */
	struct virtual_prefetch_list list[VIRTUAL_PREFETCH_LISTS];
	struct virtual_prefetch_arrival arrival[VIRTUAL_PREFETCH_ARRIVALS]; /* by lane position */
};

/* Waiting times and number of departed packets at a switch. */
struct virtual_waited {
	uint64_t waited_ps, packets;
};

/* Deliveries of a traffic entry. */
struct virtual_entry {
	uint64_t wire_bytes;     /* including all frame overhead */
	uint64_t held_bytes;     /* part of wire_bytes that waits for earlier frames */
	uint64_t latency_sum_ps; /* over all frames */
	uint64_t warm_messages;  /* messages before measuring started; later ones are in total_ns */
	uint64_t goal_messages, goal_wire_bytes; /* sent by ranks of a schedule */
	struct histogram network_ns, total_ns;
	struct measure_flow *flow; /* [hosts]; NULL: none (measure_window.h) */
};

/* Frames waiting at hosts for earlier frames, now or in the past (virtual_measure.h). */
struct virtual_held {
	struct order_wait wait; /* since measure_from */
	uint64_t frames, bytes; /* now waiting: number, payload */
	uint64_t latency_ps;    /* now waiting: sum of latencies */
	uint64_t waited_ps;     /* over all released frames */
};

/* Progress of a schedule at the hosts of a partition. */
struct virtual_goal_state {
	uint64_t sent, delivered; /* message counts */
	uint32_t hosts_done;
	weft_time changed; /* time of the last change */
};

/* Future transmission ends after which a credit frame may go to a different partition
 * (virtual_partitions.h). There are few unless each packet has a credit frame. */
#define VIRTUAL_ENDS_MAX 64u

struct virtual_ends {
	weft_time at[VIRTUAL_ENDS_MAX];
	unsigned count;
	bool wanted;               /* set if ends must be listed */
	weft_time unlisted_before; /* ends before this time may be missing for lack of space */
};

struct virtual_partitions;
struct virtual_fault;
struct virtual_pause;
struct virtual_events;
struct virtual_reroute;
struct virtual_mapper;

/* Frames lost since the start of the run (virtual_faults.h). 'unsent': given up by hosts before
 * they were sent. */
struct virtual_fault_count {
	uint64_t lost, abandoned, unsent, corrupted, credits_lost;
};

struct virtual_fabric {
	const struct topology *topology;
	const struct run_config *run;
	struct arena arena;
	struct event_queue *events;
	uint64_t items; /* bound on item numbers, except notifications */
	uint32_t freed; /* first item that denotes blocks: virtual_credit_item() */
	unsigned block_bits;
	uint32_t switches, hosts;
	unsigned vcs;
	struct weft_switch **sw;
	struct virtual_host *host;
	void *number_table;         /* datagram_config.number_table, or NULL */
	struct virtual_tx *channel; /* by switch and port, then by host */
	struct virtual_tx_cold *tx_cold;
	struct virtual_tx **first; /* first channel of each switch, then of the first host */
	struct virtual_crossbar *crossbar; /* [switches] */
	uint32_t margin_blocks; /* exceeds what can arrive at an input during a transmission */
	weft_time routing_delay_ps;
	bool credit_each; /* each packet has its own credit frame */
	/* Every transmission end is an event: required by credit_each, and used by tests for
	 * comparison. Channels that foretell credits are exempt (virtual_links_foretell()). */
	bool every_end, foretells;
	bool looks_ahead; /* prefetching is enabled */
	bool looks_far;   /* also prefetches the data of credit frames */
	struct virtual_prefetch ahead;
	uint64_t state_bytes; /* memory of all switches */
	struct virtual_pool pool;
	struct virtual_control credits, arns, cns;
	struct latency_extension *extension; /* one per packet; NULL: no flows are recorded */
	uint8_t *hops;                       /* used by virtual_cn.c */
	uint64_t arns_sent;
	struct fecn *fecn;             /* [switches]; NULL: no marking */
	struct contention *contention; /* [switches]; NULL: waiting times are not measured */
	struct virtual_waited *waited; /* [switches]: values at the start of the measurement */
	struct fabric_routes routes;
	uint64_t *route_sum; /* [hosts]: sum of a host's first routes; NULL: no source routes */
	struct run_hosts *traffic;
	struct run_goal *goal; /* schedule replayed by hosts; NULL: none */
	struct goal_replay *replay;
	struct virtual_goal_state goal_state;
	bool *goal_host_done; /* [hosts]: all operations of its ranks have ended */
	/* When all ranks had completed their operations and all messages had arrived;
	 * WEFT_TIME_NEVER: not yet. */
	weft_time goal_ended;
	weft_time goal_rest_ps; /* how long the run then continues (virtual_dispatch.h) */
	/* Measurements. */
	weft_time now, measure_from;
	weft_time limit;             /* events at this time or later are not executed yet */
	uint32_t order;              /* order of the current event; 0: none */
	struct virtual_entry *entry; /* same indices as window.entry */
	struct virtual_held *held;
	bool flows;   /* some entries of 'window' have flows */
	bool answers; /* hosts answer frames with congestion notifications */
	/* Wire overhead per frame, minus the latency extension, which loads do not count. Load and
	 * throughput are thus comparable for all kinds of source control. */
	uint32_t counted_bytes;
	uint64_t dropped, unsent, fingerprint; /* 'unsent': packets not yet sent by any host */
	struct measure_window window;
	double wall_seconds;
	bool failed, deadlock, stopped;
	struct virtual_pause *pauses;      /* by channel; NULL: links use credits */
	struct virtual_fault *faults;      /* by channel; NULL: links lose nothing */
	struct virtual_events *happenings; /* NULL: no events */
	struct virtual_reroute *reroute;   /* NULL: routes do not change, or mappers change them */
	struct virtual_mapper *mapper;     /* NULL: no mappers (virtual_reroute.h) */
	/* Counts of this partition; sums over all partitions and processes, after the run. */
	struct virtual_fault_count fault_count, fault_total;
	const char *refused; /* reason for failing if the run requires a single worker; else NULL */
	/* Used with several threads; NULL: one thread. */
	struct virtual_partitions *partitions;
	unsigned partition; /* number of this partition */
	struct virtual_ends ends;
	/* The first cycle found (deadlock.h). */
	struct deadlock_circle circle;
	struct deadlock_heads starved; /* as in starvation.h; in the first partition only */
	virtual_trace_fn *watch;       /* called for each frame; NULL: none */
	void *watch_ctx;
};

/* Returns the first order of a host. */
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

/* Returns the host whose order this is. */
static inline uint32_t virtual_host_of(const struct virtual_fabric *fabric, uint32_t order)
{
	return (order - virtual_host_orders(fabric)) >> 2;
}

/* Returns a switch, or a host plus the number of switches. */
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

static inline uint32_t virtual_channels(const struct virtual_fabric *fabric)
{
	return (uint32_t)(&fabric->first[fabric->switches][fabric->hosts] - fabric->channel);
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

/* Returns true if sending requires more than virtual_start() does. */
static inline bool virtual_is_special(
	const struct virtual_fabric *fabric, const struct virtual_tx *channel)
{
	return channel->crosses || fabric->faults != NULL || fabric->pauses != NULL ||
	       byte_time_part(channel->byte_time) != 0;
}

/* Returns the link's delay, but not from the cold state, which other partitions may be writing. */
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

/* Returns true if sources react to congestion. */
static inline bool virtual_is_controlled(const struct virtual_fabric *fabric)
{
	return fabric->run->nic.control != SOURCE_CONTROL_NONE;
}

/* Returns the item of a CREDIT event for the blocks of a single packet. Items of events with equal
 * times are ordered by the outputs through which the packets left. */
static inline uint32_t virtual_credit_item(
	const struct virtual_fabric *fabric, unsigned output, unsigned vc, unsigned blocks)
{
	return fabric->freed + ((output * FRAME_VCS_MAX + vc) << fabric->block_bits | blocks);
}

/* Adds the freed blocks to the limit of their VC. */
static inline void virtual_take_freed(
	const struct virtual_fabric *fabric, uint32_t item, struct link_end *end)
{
	uint32_t freed = item - fabric->freed;

	end->tx[(freed >> fabric->block_bits) % FRAME_VCS_MAX].limit +=
		freed & ((1u << fabric->block_bits) - 1);
}

/* Returns true if this item of a CREDIT event is an ARN. */
static inline bool virtual_is_arn(const struct virtual_fabric *fabric, uint32_t item)
{
	return item >= fabric->items;
}

/* Returns true if the item is a congestion notification between hosts. */
static inline bool virtual_is_cn(const struct virtual_fabric *fabric, uint32_t item)
{
	return item >= 2 * fabric->items;
}

/* Allocates packets, events and control frames, per partition. Returns 0 or -ENOMEM. */
int virtual_fabric_open_own(struct virtual_fabric *fabric);
/* Creates an event queue for the share of events of this partition. Returns 0 or -ENOMEM. */
int virtual_fabric_fit_events(struct virtual_fabric *fabric);
void virtual_fabric_close_own(struct virtual_fabric *fabric);

/* Returns the payload in bytes of the shortest frame of the traffic. */
uint64_t virtual_min_payload(const struct virtual_fabric *fabric);
