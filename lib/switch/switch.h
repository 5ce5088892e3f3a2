/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* clang-format off */
/* The emulated switch
 *
 *   Input-queued: an input buffer per port divided into VCs, VOQs, credits per VC, source routes or
 *   a destination table, round-robin arbitration. A state machine: the driver passes packets and
 *   the time to it, and takes packets from it. It owns no port, reads no clock, and allocates nothing
 *   after switch_create(). Functions that are called for each packet are inline, in forward.h.
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
 *   Admission, once per data packet, covers VC, credits, route, output and next VC. A plain packet
 *   (no fault, no decision needed) is admitted inline, any other by forward_exception() in forward.c.
 *   An admitted packet bypasses the queues if its output is idle, or is added to the queue of
 *   (input, VC, output).
 *
 * Departures and their counters (switch_counters.h)
 *   sent                   data_out, bytes_out, control_out, at the output
 *   for the agent          control_agent, at the input: switch_take_for_agent()
 *   discarded              discard_*, control_discard_*, at the input: switch_take_discards()
 *   At any time data_in = data_out + stored + discarded: switch_check()
 *
 * Threads
 *   One thread per switch, or per shard of a divided one (switch_shard.h). Packets are in the
 *   driver's memory; while a packet is stored, the switch owns it.
 *
 * Sources of the behaviour
 *   Credits: InfiniBand FCTBS and FCCL (credit.h). Frames and routes: docs/reference/wire-format.md.
 *   VOQs, adaptive routing, AFI, notifications: the papers named in congestion_detector.h,
 *   arn_table.h, adaptive_routing.c and congestion_control.h. Marks: fecn.h. Waiting times: contention.h.
 *   Specific to Weft: the watchdog and the reserve for control frames. */
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
#define SWITCH_HOSTS_MAX   65536 /* maximum size of a table: host numbers have 16 bits */
#define SWITCH_PORT_NONE   0xFF
#define SWITCH_TABLE_BLOCK 64u /* hosts per block of a table */

struct switch_config {
	uint64_t device; /* identity for hellos */
	uint32_t session;
	uint8_t ports; /* 1..SWITCH_PORTS_MAX */
	uint8_t vcs;   /* 1..FRAME_VCS_MAX, including the AFC */
	bool voq;      /* false: one queue per (input, VC), of which only the head can be sent */
	uint32_t buffer_blocks;                /* per input port, split equally among the VCs */
	uint32_t port_slots[SWITCH_PORTS_MAX]; /* frames that each receive ring holds, which limits
						  the buffer advertised for the port; 0: no limit */
	port_set open_ports;                   /* ports whose peers use no credits (link_end.h) */
	port_set absent_ports; /* ports without a cable; packets routed there are discarded as link
				  down */
	uint8_t sl_to_vc[16];  /* the queuing scheme */
	weft_time hello_ps;    /* 10 ms in the papers; the link is down after 3 missed hellos */
	weft_time credit_refresh_ps;
	bool credits_each;        /* see link_end_config.each */
	weft_time watchdog_ps;    /* WEFT_TIME_NEVER: off */
	uint16_t control_reserve; /* maximum number of control frames waiting at an output */
	/* Destination table: the primary port for each host (SWITCH_PORT_NONE: no route) and the
	 * set of alternative ports, which may be NULL. Borrowed until the switch is destroyed or
	 * switch_set_routing() has replaced the table. */
	const uint8_t *table_port;
	const port_set *table_alternatives;
	uint32_t table_hosts; /* at most SWITCH_HOSTS_MAX */
	/* If not NULL, the primary ports of hosts from n * SWITCH_TABLE_BLOCK on are in block
	 * table_block[n] of table_port, so that many switches can share memory. Borrowed. */
	const uint16_t *table_block;
	/* VC classes that are part of the routes; may be NULL. If set, they determine the next VC
	 * instead of sl_to_vc: class n uses VC n, and 'vcs' must be at least the number of classes.
	 * Borrowed, like the table. 'vc_rule_at' is this switch's index in the rule. */
	const struct vc_rule *vc_rule;
	uint32_t vc_rule_at;
	struct detour_config detour;           /* used only if the VC rule is a ladder */
	struct arbitration_config arbitration; /* rules other than round robin require VOQs */
};

/* The part of a switch's configuration that a mapper may replace as a whole (see switch_config). */
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
 * a single VC does not use it, because the output's sets suffice (switch_ready_vcs()). */
struct crosspoint {
	uint16_t ready;   /* VCs whose head may be sendable */
	uint16_t stalled; /* VCs whose head is waiting for credits */
	uint8_t next_vc;  /* round-robin position */
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

/* A packet of VC 0 uses two cache lines of its input port and one of its output port. For any
 * number of counters, the padding keeps the last two in the line of the output and link.tx[0]. */
#define SWITCH_LINE_REST (SWITCH_COUNTER_COUNT % 8)
struct switch_port {
	uint64_t unused[SWITCH_LINE_REST == 3 ? 0 : (10 - SWITCH_LINE_REST) % 8];
	uint64_t count[SWITCH_COUNTER_COUNT];
	struct switch_output output;
	uint64_t unused_too[SWITCH_LINE_REST == 3 ? 0 : 1];
	struct link_end link;
	struct weft_packet *control_tail;
} __attribute__((aligned(64)));

#define SWITCH_LINE_OF(member) (offsetof(struct switch_port, member) / 64)
_Static_assert(SWITCH_LINE_OF(count[SWITCH_DATA_IN]) == SWITCH_LINE_OF(count[SWITCH_BYTES_IN]),
	"counters of arrivals share a cache line");
_Static_assert(
	PORT_SET_WORDS > 1 || (SWITCH_LINE_OF(count[SWITCH_DATA_OUT]) == SWITCH_LINE_OF(output) &&
				      SWITCH_LINE_OF(link.tx[0]) == SWITCH_LINE_OF(output)),
	"departures use one cache line");
_Static_assert(PORT_SET_WORDS > 1 || offsetof(struct switch_port, link.rx) % 64 == 0,
	"VCs 0 to 3 in one line");

struct contention;
struct peer_buffer;
struct fecn;
struct switch_shard;

#define SWITCH_VOQS  1
#define SWITCH_RULES 2

/* The first cache line contains everything that a plain packet needs. */
struct weft_switch {
	uint8_t ports, vcs;
	uint8_t voq; /* 0: no VOQs; SWITCH_VOQS; SWITCH_RULES: VOQs with 'arbitration' */
	struct congestion_signal signal;
	uint16_t
		table_last; /* last host of the table; without a table 0, and host 0 has no route */
	const uint8_t *table_port;
	const uint16_t *table_block; /* indexed by host / SWITCH_TABLE_BLOCK; NULL: table_port is
				      * indexed by host */
	uint8_t sl_to_vc[16];
	port_set usable; /* outputs whose link is not down */
	port_set busy;   /* outputs that may have frames to send */
	port_set
		idle; /* usable outputs without waiting packets, ready or stalled (switch_pass()) */
	struct voq *queue; /* all queues: [output][input][vc], or [input][vc] without VOQs */
	/* Queues that grow above this size are reported to congestion control; UINT32_MAX: none. */
	uint32_t report_above_blocks;
	const struct vc_rule *vc_rule;
	struct crosspoint *cross; /* [output][input] */
	const port_set *table_alternatives;
	struct congestion_control *congestion; /* NULL: none (switch_congestion.h) */
	/* Inputs whose packet is being transmitted. Without VOQs such an input provides no further
	 * packet until the tail has been sent (switch_hold()). */
	port_set held;
	struct weft_packet *discarded;
	port_set linked; /* ports whose link is up */
	port_set absent; /* ports without a cable */
	struct weft_packet *for_agent,
		*for_agent_tail; /* the tail is valid only if the head is not NULL */
	bool has_agent;
	weft_time watchdog_ps, watchdog_due;
	uint32_t vc_rule_at;
	uint16_t control_reserve;
	struct fecn *fecn;                /* borrowed; NULL: no packets are marked */
	struct contention *contention;    /* borrowed; NULL: departures are not timed */
	struct peer_buffer *peer_buffers; /* [ports], the buffers behind the outputs, or NULL */
	struct arbitration *arbitration;  /* NULL: round robin */
	struct switch_shard *shard;       /* NULL: the switch is not divided (switch_shard.h) */
	struct detour detour;
	struct switch_port port[]; /* [ports] */
};

_Static_assert(PORT_SET_WORDS > 1 || offsetof(struct weft_switch, queue) == 64,
	"plain packets need the first cache line only");

/* Returns NULL with errno EINVAL (a number out of range) or ENOMEM. */
struct weft_switch *switch_create(const struct switch_config *config, weft_time now);
/* Like switch_create(), but in memory that the caller provides and frees, so that many switches can
 * be adjacent. 'memory' must be aligned to 64 bytes and contain switch_bytes() zero bytes. Returns
 * NULL with errno EINVAL. */
struct weft_switch *switch_place(void *memory, const struct switch_config *config, weft_time now);
/* Returns the size for switch_place(), or 0 if a number is out of range. */
size_t switch_bytes(const struct switch_config *config);
/* Call switch_drain() first, so that the driver can free the stored packets. */
void switch_destroy(struct weft_switch *sw);

/* Receives a control frame that passes through the switch into the reserve of its output. A
 * mapper's frame (FRAME_SCOUT or FRAME_MAPPER) is routed only by its list of ports. If its last
 * element is reached and addresses this device's agent, it is kept for switch_take_for_agent(). Any
 * other element in such a frame is a routing error. The driver fills in the same fields as for
 * switch_receive(), and 'kind'. */
void switch_receive_control(struct weft_switch *sw, struct weft_packet *packet, weft_time now);

/* Takes up to 'max' packets that may be sent through 'output' now, control frames first, and
 * returns how many. Takes their credits and releases their space in the input buffers. */
unsigned switch_transmit(struct weft_switch *sw, unsigned output, struct weft_packet **packets,
	unsigned max, weft_time now);

/* Without VOQs an input reads one packet at a time: no further packet is taken from a held input.
 * Drivers whose transmissions take time call these two functions, which have no effect with VOQs.
 */
static inline void switch_hold(struct weft_switch *sw, unsigned input)
{
	sw->held |= port_set_of(input);
}

static inline void switch_let_go(struct weft_switch *sw, unsigned input)
{
	sw->held &= ~port_set_of(input);
}

/* Returns the discarded packets, linked by 'next', with the reason in 'discard'; NULL if there are
 * none. The caller frees them. */
struct weft_packet *switch_take_discards(struct weft_switch *sw);

/* Sets whether the driver accepts the mapper's frames for this device. If not (the default), they
 * are routing errors. */
static inline void switch_serve_agent(struct weft_switch *sw, bool served)
{
	sw->has_agent = served;
}

/* Returns the mapper's frames that arrived for this device, in order, linked by 'next'; NULL if
 * there are none. The caller frees them. */
struct weft_packet *switch_take_for_agent(struct weft_switch *sw);

/* Link protocol. switch_poll_link() returns a set of LINK_SEND_* for 'port'. If the link went down,
 * its queues are discarded. The functions also handle a link that comes up again. */
unsigned switch_poll_link(struct weft_switch *sw, unsigned port, weft_time now);
void switch_on_credit(
	struct weft_switch *sw, unsigned port, const struct control_credit *credit, weft_time now);
void switch_on_hello(
	struct weft_switch *sw, unsigned port, const struct control_hello *hello, weft_time now);

/* Discards heads that have not moved for watchdog_ps. Cheap when no check is due. */
void switch_poll_watchdog(struct weft_switch *sw, weft_time now);

/* For the files of this folder: sets the destination table, as in switch_config; NULL: none. */
void switch_set_table(
	struct weft_switch *sw, const uint8_t *port, const uint16_t *block, uint32_t hosts);
/* Returns the number of hosts in the table; 0: no table. */
uint32_t switch_table_hosts(const struct weft_switch *sw);

/* Replaces tables, VC rule and SL to VC, at any time. Packets that arrive afterwards use the new
 * ones. The old ones are not read again and may be freed. A stored packet keeps its output and next
 * VC; transition_check.h counts such packets as the old generation. Congestion control removes its
 * entries. Returns 0, or -EINVAL with the switch unchanged if a number is out of range. With
 * congestion control it also returns -EINVAL for VC classes, a table without alternatives, or too
 * many hosts. */
int switch_set_routing(struct weft_switch *sw, const struct switch_routing *routing);

/* Discards all stored packets, at the end of a run. */
void switch_drain(struct weft_switch *sw);
/* Discards all stored data packets, but no control frames. */
void switch_purge(struct weft_switch *sw);

/* Returns true if no data packet is stored; one comparison if no control frame is waiting either.
 */
bool switch_is_empty(const struct weft_switch *sw);

/* Returns the number of data packets stored at all inputs. */
uint64_t switch_stored_packets(const struct weft_switch *sw);

/* Checks invariants, for tests and debug builds: packet accounting, buffers within their limits,
 * blocks of queues and credits equal, bitmaps equal to the queues. Returns NULL or a description of
 * the violation. */
const char *switch_check(const struct weft_switch *sw);

/* Returns the primary port for a host whose number is at most table_last. */
static inline uint8_t switch_table_port(const struct weft_switch *sw, unsigned destination)
{
	const uint8_t *port = sw->table_port;

	if (sw->table_block == NULL)
		return port[destination];
	port += (size_t)sw->table_block[destination / SWITCH_TABLE_BLOCK] * SWITCH_TABLE_BLOCK;
	return port[destination % SWITCH_TABLE_BLOCK];
}

/* Returns the address of the port or of its block number, for prefetching. */
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

/* Return the VCs of an input whose head may be sendable through an output, or is waiting for its
 * credits. */
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

/* Returns the queues [vc] of a crosspoint. Without VOQs all outputs share an input's queues. */
static inline struct voq *switch_queues(
	const struct weft_switch *sw, unsigned output, unsigned input)
{
	return &sw->queue[((sw->voq ? output * sw->ports : 0u) + input) * sw->vcs];
}
