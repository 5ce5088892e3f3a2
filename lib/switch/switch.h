/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* clang-format off */
/* The emulated switch
 *
 *   Input-queued: an input buffer per port divided into VCs, VOQs, credits per VC, source routes or
 *   a destination table, round-robin arbitration. A state machine: the driver hands it packets and
 *   the time, and gets packets back. It owns no port, reads no clock, and allocates nothing after
 *   switch_create(). Parts that are called for each packet are inline, in forward.h.
 *
 * Entry points
 *   poll driver, pipelines/poll/poll_switch.c
 *     switch_receive_direct()     data frame in; if it returns SWITCH_PORT_NONE, switch_receive()
 *     switch_receive_control()    control frame in
 *     switch_transmit()           frames out
 *   virtual driver, pipelines/virtual/virtual_switch.c
 *     switch_admit()              data packet in; then switch_pass(), or else switch_store()
 *     switch_transmit_one()       packet out
 *   both
 *     switch_count_in()           counters, with switch_count_passed()
 *     switch_poll_link()          link protocol, with switch_on_credit(), switch_on_hello()
 *     switch_poll_watchdog()      time
 *     switch_set_routing()        tables
 *     switch_congestion.h         congestion control
 *     contention.h                waiting times and contending flows
 *
 *   Admission, once per data packet: VC, credits, route, output, next VC. A plain packet (nothing
 *   to decide, nothing wrong) is admitted inline, any other by forward_exception() in forward.c.
 *   An admitted packet passes the queues if its output is idle, or joins the queue of
 *   (input, VC, output).
 *
 * Departures and their counters (switch_counters.h)
 *   sent                   data_out, bytes_out, control_out, at the output
 *   for the agent          control_agent, at the input: switch_take_for_agent()
 *   discarded              discard_*, control_discard_*, at the input: switch_take_discards()
 *   At any time data_in = data_out + stored + discarded: switch_check()
 *
 * Threads
 *   One thread per switch, or per part of one (switch_shard.h). Packets are in the driver's memory;
 *   while a packet is stored, it belongs to the switch.
 *
 * Where the behaviour comes from
 *   Credits: InfiniBand FCTBS and FCCL (credit.h). Frames and routes: docs/reference/wire-format.md.
 *   VOQs, adaptive routing, AFI, notifications: the papers named in congestion_detector.h,
 *   arn_table.h, adaptive_routing.c and congestion_control.h. Marks: fecn.h. Waiting times: contention.h. The
 *   watchdog and the reserve for control frames are Weft's own.
 */
/* clang-format on */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arbitration.h"
#include "base/port_set.h"
#include "congestion_control.h"
#include "detour.h"
#include "link/link_end.h"
#include "queuing/vc_rule.h"
#include "switch_counters.h"
#include "voq.h"
#include "wire/packet.h"

#define SWITCH_PORTS_MAX   PORT_SET_LIMIT
#define SWITCH_HOSTS_MAX   65536 /* limit of a table: host numbers have 16 bits */
#define SWITCH_PORT_NONE   0xFF
#define SWITCH_TABLE_BLOCK 64u /* hosts in a block of a table */

struct switch_config {
	uint64_t device; /* identity for hellos */
	uint32_t session;
	uint8_t ports;          /* 1..SWITCH_PORTS_MAX */
	uint8_t vcs;            /* 1..FRAME_VCS_MAX, the AFC included when there is one */
	bool voq;               /* false: one queue per (input, VC), only its head can leave */
	uint32_t buffer_blocks; /* per input port, split equally among the VCs */
	uint32_t port_slots[SWITCH_PORTS_MAX]; /* frames that its receive ring holds; 0: no such
						* limit. The buffer advertised for a port never
						* exceeds it */
	port_set open_ports;                   /* set: peers without credits (link_end.h) */
	port_set absent_ports; /* set: no cable; packets routed there are discarded as link down */
	uint8_t sl_to_vc[16];  /* queuing scheme */
	weft_time hello_ps;    /* 10 ms in the papers; 3 missed: down */
	weft_time credit_refresh_ps;
	bool credits_each;        /* link_end_config.each */
	weft_time watchdog_ps;    /* WEFT_TIME_NEVER: off */
	uint16_t control_reserve; /* number of control frames that may wait at an output */
	/* Destination table: for each host, the primary port (SWITCH_PORT_NONE: no route) and the
	 * set of alternative ports, which may be NULL. Owned by the caller, and in use until the
	 * switch is destroyed or switch_set_routing() has exchanged it. */
	const uint8_t *table_port;
	const port_set *table_alternatives;
	uint32_t table_hosts; /* up to SWITCH_HOSTS_MAX */
	/* Not NULL: the primary ports of hosts from n * SWITCH_TABLE_BLOCK on are in block
	 * table_block[n] of table_port, so that many switches can share memory. Owned by the
	 * caller. */
	const uint16_t *table_block;
	/* VC classes that are part of the routes; may be NULL. Otherwise they determine the next VC
	 * instead of sl_to_vc: class n uses VC n, and 'vcs' is at least the number of classes.
	 * Owned by the caller, like the table; 'vc_rule_at' is this switch's number in it. */
	const struct vc_rule *vc_rule;
	uint32_t vc_rule_at;
	struct detour_config detour;           /* used only with the VC rule of a Dragonfly */
	struct arbitration_config arbitration; /* other than round robin: with VOQs */
};

/* The part of a switch's configuration that a mapper may change, all at once. Fields as in
 * switch_config. */
struct switch_routing {
	const uint8_t *port;          /* [hosts]; NULL: no table */
	const port_set *alternatives; /* [hosts] or NULL */
	uint32_t hosts;
	const struct vc_rule *vc_rule; /* NULL: none */
	uint32_t vc_rule_at;
	const uint8_t *sl_to_vc; /* [16], copied; NULL: identity */
	uint8_t stage;           /* for congestion control (switch_congestion.h) */
};

/* A crosspoint of the crossbar: the VCs of an input that have packets for an output. A switch with
 * a single VC does not use it: there the sets of the outputs suffice (switch_ready_vcs()). */
struct crosspoint {
	uint16_t ready;   /* VCs whose head may be able to leave */
	uint16_t stalled; /* VCs whose head waits for credits */
	uint8_t next_vc;  /* round robin */
	uint8_t reserved[3];
};

_Static_assert(sizeof(struct crosspoint) == 8, "eight to a cache line");

struct switch_output {
	port_set ready;   /* inputs with a ready VC */
	port_set stalled; /* inputs with a stalled VC */
	uint8_t next_input;
	uint16_t control_waiting;
	struct weft_packet *control_head;
};

_Static_assert(PORT_SET_WORDS > 1 || sizeof(struct switch_output) == 32, "half a cache line");

/* A packet of VC 0 uses two cache lines of its input port and one of its output port. */
struct switch_port {
	uint64_t count[SWITCH_COUNTER_COUNT];
	struct switch_output output;
	struct weft_packet *control_tail;
	struct link_end link;
} __attribute__((aligned(64)));

#define SWITCH_LINE_OF(member) (offsetof(struct switch_port, member) / 64)
_Static_assert(SWITCH_LINE_OF(count[SWITCH_DATA_IN]) == SWITCH_LINE_OF(count[SWITCH_BYTES_IN]),
	"what comes in counts in one line");
_Static_assert(
	PORT_SET_WORDS > 1 || (SWITCH_LINE_OF(count[SWITCH_DATA_OUT]) == SWITCH_LINE_OF(output) &&
				      SWITCH_LINE_OF(link.tx[0]) == SWITCH_LINE_OF(output)),
	"what leaves needs one line");
_Static_assert(PORT_SET_WORDS > 1 || offsetof(struct switch_port, link.rx) % 64 == 0,
	"VCs 0 to 3 in one line");

struct contention;
struct peer_buffer;
struct fecn;
struct switch_shard;

#define SWITCH_VOQS  1
#define SWITCH_RULES 2

/* The first cache line has everything that a plain packet needs. */
struct weft_switch {
	uint8_t ports, vcs;
	uint8_t voq; /* 0: no VOQs; SWITCH_VOQS; SWITCH_RULES: VOQs, and 'arbitration' */
	struct congestion_signal signal;
	uint16_t table_last; /* last host of the table; without a table 0, and host 0 is
			      * unreachable */
	const uint8_t *table_port;
	const uint16_t *table_block; /* indexed by host / SWITCH_TABLE_BLOCK; NULL: table_port is
				      * indexed by host */
	uint8_t sl_to_vc[16];
	port_set usable; /* outputs whose link is not down */
	port_set busy;   /* outputs that may have something to send */
	port_set idle; /* usable outputs where no packet waits, ready or stalled (switch_pass()) */
	struct voq *queue; /* all queues: [output][input][vc], or [input][vc] without VOQs */
	/* A queue that grows above this size is reported to congestion control; UINT32_MAX: none.
	 */
	uint32_t report_above_blocks;
	const struct vc_rule *vc_rule;
	struct crosspoint *cross; /* [output][input] */
	const port_set *table_alternatives;
	struct congestion_control *congestion; /* NULL: none (switch_congestion.h) */
	/* Inputs whose packet is being transmitted. Without VOQs such an input provides no other
	 * packet before the tail has left (switch_hold()). */
	port_set held;
	struct weft_packet *discarded;
	port_set linked;                                /* ports whose link is up */
	port_set absent;                                /* ports without a cable */
	struct weft_packet *for_agent, *for_agent_tail; /* the tail is valid only if there is a
							 * head */
	bool has_agent;
	weft_time watchdog_ps, watchdog_due;
	uint32_t vc_rule_at;
	uint16_t control_reserve;
	struct fecn *fecn;                /* the caller's; NULL: nothing is marked */
	struct contention *contention;    /* owned by the caller; NULL: departures are not timed */
	struct peer_buffer *peer_buffers; /* [ports], the buffers behind the outputs, if there is
					   * congestion control */
	struct arbitration *arbitration;  /* NULL: round robin */
	struct switch_shard *shard;       /* NULL: the switch is not divided (switch_shard.h) */
	struct detour detour;
	struct switch_port port[]; /* [ports] */
};

_Static_assert(PORT_SET_WORDS > 1 || offsetof(struct weft_switch, queue) == 64,
	"the rest is in other lines");

/* Returns NULL with errno EINVAL (a number out of range) or ENOMEM. */
struct weft_switch *switch_create(const struct switch_config *config, weft_time now);
/* The same in the caller's memory, for many switches close together: switch_bytes() zeroed bytes at
 * an address that is a multiple of 64. The caller frees it. Returns NULL with errno EINVAL. */
struct weft_switch *switch_place(void *memory, const struct switch_config *config, weft_time now);
/* Returns 0 if a number is out of range. */
size_t switch_bytes(const struct switch_config *config);
/* The driver frees stored packets first: switch_drain(). */
void switch_destroy(struct weft_switch *sw);

/* Takes a control frame that passes through the switch into the reserve of its output. A mapper's
 * frame (FRAME_SCOUT or FRAME_MAPPER) is routed by its list of ports only; if its last element is
 * for the agent of the device that it has reached, and that is this one, it goes there
 * (switch_take_for_agent()). Any other element in such a frame is a routing error. Filled in by the
 * driver: as for switch_receive(), and 'kind'. */
void switch_receive_control(struct weft_switch *sw, struct weft_packet *packet, weft_time now);

/* Up to 'max' packets that may leave through 'output' now, control frames first; returns how many.
 * Their credits are taken, and their space in the input buffers is free. */
unsigned switch_transmit(struct weft_switch *sw, unsigned output, struct weft_packet **packets,
	unsigned max, weft_time now);

/* Without VOQs an input reads one packet out at a time: nothing more is taken from a held input.
 * Drivers whose transmissions take time call these two functions; with VOQs they have no effect. */
static inline void switch_hold(struct weft_switch *sw, unsigned input)
{
	sw->held |= port_set_of(input);
}

static inline void switch_let_go(struct weft_switch *sw, unsigned input)
{
	sw->held &= ~port_set_of(input);
}

/* The discarded packets, linked by 'next', each with 'discard'; NULL if none. The caller frees
 * them.
 */
struct weft_packet *switch_take_discards(struct weft_switch *sw);

/* Sets whether the driver accepts the mapper's frames for this device. If not (the default), such
 * frames are routing errors. */
static inline void switch_serve_agent(struct weft_switch *sw, bool served)
{
	sw->has_agent = served;
}

/* The mapper's frames that arrived for this device, in order, linked by 'next'; NULL if none. The
 * caller frees them. */
struct weft_packet *switch_take_for_agent(struct weft_switch *sw);

/* Link protocol: returns a set of LINK_SEND_* for 'port'; handles a link that went down (its queues
 * are discarded) or came back. */
unsigned switch_poll_link(struct weft_switch *sw, unsigned port, weft_time now);
void switch_on_credit(
	struct weft_switch *sw, unsigned port, const struct control_credit *credit, weft_time now);
void switch_on_hello(
	struct weft_switch *sw, unsigned port, const struct control_hello *hello, weft_time now);

/* Discards heads that did not move for the watchdog's time. Cheap when nothing is due. */
void switch_poll_watchdog(struct weft_switch *sw, weft_time now);

/* The table of destinations, as in switch_config; NULL: none. For the files of this folder. */
void switch_set_table(
	struct weft_switch *sw, const uint8_t *port, const uint16_t *block, uint32_t hosts);
/* Hosts in it; 0: there is no table. */
uint32_t switch_table_hosts(const struct weft_switch *sw);

/* Exchanges tables, VC rule and SL to VC, at any time: packets that arrive from now on use the new
 * ones. The old ones are not read again, so they may be freed. A stored packet keeps its output and
 * next VC; such packets are the old generation that transition_check.h counts. Congestion control
 * removes its entries. Returns 0, or -EINVAL with the switch unchanged: a number out of range, or,
 * with congestion control, VC classes, no alternatives, or more hosts than it has room for. */
int switch_set_routing(struct weft_switch *sw, const struct switch_routing *routing);

/* Discards all stored packets, for the end of a run. */
void switch_drain(struct weft_switch *sw);
/* Discards all stored data; control frames, the mapper's among them, stay. */
void switch_purge(struct weft_switch *sw);

/* Whether no data packet is stored. A single comparison if no control frame waits either. */
bool switch_is_empty(const struct weft_switch *sw);

/* Data packets and blocks stored at all inputs. */
uint64_t switch_stored_packets(const struct weft_switch *sw);

/* Checks invariants, for tests and debug builds: accounting of packets, no buffer over its limit,
 * blocks of the queues equal to the credits' view, bitmaps equal to the queues. Returns NULL, or a
 * description of the violation. */
const char *switch_check(const struct weft_switch *sw);

/* The primary port of a host whose number is at most table_last. */
static inline uint8_t switch_table_port(const struct weft_switch *sw, unsigned destination)
{
	const uint8_t *port = sw->table_port;

	if (sw->table_block == NULL)
		return port[destination];
	port += (size_t)sw->table_block[destination / SWITCH_TABLE_BLOCK] * SWITCH_TABLE_BLOCK;
	return port[destination % SWITCH_TABLE_BLOCK];
}

/* The address of the port, or of the number of its block, for prefetching. */
static inline const void *switch_table_place(const struct weft_switch *sw, unsigned destination)
{
	if (sw->table_block == NULL)
		return &sw->table_port[destination];
	return &sw->table_block[destination / SWITCH_TABLE_BLOCK];
}

static inline struct crosspoint *switch_cross(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	return &sw->cross[output * sw->ports + input];
}

/* VCs of an input whose head may be able to leave through an output, or waits for credits of that
 * output. */
static inline uint16_t switch_ready_vcs(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	if (sw->vcs == 1)
		return port_set_has(sw->port[output].output.ready, input);
	return switch_cross(sw, output, input)->ready;
}

static inline uint16_t switch_stalled_vcs(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	if (sw->vcs == 1)
		return port_set_has(sw->port[output].output.stalled, input);
	return switch_cross(sw, output, input)->stalled;
}

/* The queues [vc] of a crosspoint; without VOQs the same for all outputs of an input. */
static inline struct voq *switch_queues(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	return &sw->queue[((sw->voq ? output * sw->ports : 0u) + input) * sw->vcs];
}
