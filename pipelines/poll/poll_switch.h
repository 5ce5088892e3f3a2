/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The poll driver of one emulated switch: moves frames between its ports and the state machine of
 * lib/switch. On arrival a frame is checked (frame_check) and its descriptor filled in the mbuf's
 * private area; on departure the mutable header bytes and the CRC are updated. Link-local control
 * frames (credit, hello, adaptive-routing notification) start and end here. With a mapper, its
 * frames for this switch go up to the control thread of the process and that thread's commands are
 * carried out between iterations (device_control.h).
 *
 * A switch on several cores has one for each (poll_division.h), with the ports of that shard.
 *
 * One thread calls poll_switch_run(); others may read counters at any time (each is one aligned
 * 64-bit word, written by that thread alone). */

#include <stdint.h>

#include "base/weft_error.h"
#include "link/arn_policer.h"
#include "link/limit_times.h"
#include "mapping/device_control.h"
#include "poll_control.h"
#include "port/port.h"
#include "port_auth.h"
#include "switch/switch.h"
#include "switch/switch_shard.h"
#include "tx_queue.h"

struct latency_extension;
struct poll_division_control;

/* The source check of a port (docs/reference/lab-file.md, 'Frames of a fabric'): there is a single
 * host behind it, and data and end-to-end control frames must have that host as their source. */
struct poll_switch_source {
	bool known;      /* the host is known; else any source passes */
	bool in_transit; /* it may also re-inject frames of others behind an in-transit mark */
	uint16_t host;
	uint64_t spoofed, control_spoofed; /* frames discarded */
};

/* The last packet that a timed output sent, until its tail has left. 'input' may belong to another
 * shard. */
struct poll_switch_leaving {
	weft_time end;
	uint32_t blocks;
	uint8_t input, vc; /* where it was stored */
};

struct poll_switch_port {
	struct port *port; /* NULL: no cable */
	struct tx_queue tx;
	struct credit_times credits;
	struct poll_switch_leaving leaving;
	port_set leaving_by;  /* set: outputs that may still be sending a packet of this input */
	weft_time left_at;    /* when the last packet of this input has left */
	weft_time granted_at; /* 'left_at' at the last credit frame, but not later than it */
	uint64_t faults[FRAME_FAULT_COUNT]; /* frames refused, by reason */
	uint64_t control_bad;               /* link-local frames with a wrong payload */
	uint64_t no_mbuf;                   /* control frames that could not be built in time */
	/* Data was waiting for this output, but none of it had credits. */
	weft_time blocked_ps;
	uint64_t arns_in, arns_out; /* adaptive-routing notifications */
	uint64_t arns_refused;      /* arn_policer.h */
	struct arn_policer arn_policer;
	uint64_t agent_sent, agent_lost; /* frames of the agent; lost: the link was not up */
	struct port_auth guard;
	struct poll_switch_source source;
	struct link_falls falls;
};

/* Frames that passed the queues and leave with the next flush. */
struct poll_switch_burst {
	uint64_t bytes;
	uint32_t count;
	uint32_t vc; /* the input of the last one */
};

/* The side of the mapper. */
struct poll_switch_control {
	struct device_control *control; /* NULL: static tables */
	struct rte_mempool *pool;       /* for frames that it sends for the agent */
	struct switch_tables *tables;   /* in use; NULL: none came yet */
	bool paused;
	uint64_t data_moved; /* data frames in and out up to the last iteration, while paused */
};

struct capture_filter;

struct poll_switch {
	struct weft_switch *sw;
	struct rte_mempool *pool; /* for control frames that it generates */
	unsigned ports;
	port_set present;    /* ports with a cable */
	port_set direct;     /* ports to which frames may pass the queues: untimed, none waits */
	port_set filled;     /* bursts that are not empty */
	port_set needs_idle; /* ports that need service even when nothing moves */
	struct poll_switch_burst burst[SWITCH_PORTS_MAX];
	struct rte_mbuf *burst_mbuf[SWITCH_PORTS_MAX][PORT_BURST];
	struct poll_switch_port port[SWITCH_PORTS_MAX];
	unsigned carried; /* frames moved by the last run, except the neighbours' own link frames
			   */
	/* No frame of the burst being received passes the quick test of this filter. They will not
	 * pass it on departure either, because no switch changes the words that it tests. NULL:
	 * some may. */
	const struct capture_filter *unwanted;
	bool learns_hosts;     /* poll_switch_learn_hosts() */
	bool hosts_in_transit; /* whether the hosts that it learns are in-transit hosts */
	struct poll_switch_control mapper;
	struct arn_policer_config arn_policer;
	weft_time before; /* time of the last iteration */
	port_set blocked; /* ports that were blocked at its end */
	/* This shard of a divided switch; NULL: the switch is not divided. */
	struct switch_shard *shard;
	struct poll_switch *const *shards;    /* all of them, by number */
	struct poll_division_control *orders; /* number of this shard (poll_division.h) */
};

/* The loop that has the port. */
static inline const struct poll_switch *poll_switch_owner(const struct poll_switch *ps, unsigned at)
{
	return ps->shard == NULL ? ps : ps->shards[ps->shard->division->owner[at]];
}

/* 'sw', 'pool' and the ports belong to the caller and must outlive it. */
struct poll_switch *poll_switch_create(struct weft_switch *sw, struct rte_mempool *pool);
/* Also frees what is stored. */
void poll_switch_destroy(struct poll_switch *ps);

/* Attaches 'port' as port 'at'; see tx_queue_init() for the rest. */
void poll_switch_attach(struct poll_switch *ps, unsigned at, struct port *port,
	const struct tx_timing *timing, struct impairment *impairment);

/* An attached port has no cable yet, and is not polled until there is one. Call before the first
 * poll_switch_run(). */
void poll_switch_unplug(struct poll_switch *ps, unsigned at);
/* The port now has a cable. Call between two iterations; it may have had another cable before. */
void poll_switch_plug(struct poll_switch *ps, unsigned at);

/* Number of the fabric that the port belongs to; with a key its control frames have seals. Before
 * the first poll_switch_run(); without it number 0 and no seals. The caller keeps 'key' (NULL:
 * none). */
void poll_switch_guard(
	struct poll_switch *ps, unsigned at, uint16_t fabric, const struct link_key *key);

/* This host is behind the port: frames from other sources are discarded there, unless 'in_transit'
 * is set and the element before their cursor is an in-transit mark. Call after
 * poll_switch_guard(). */
void poll_switch_set_host(struct poll_switch *ps, unsigned at, uint16_t host, bool in_transit);

/* The same for hosts that hellos name (FRAME_HOST_DEVICE), where cables may be other than
 * planned. Before its first hello a neighbour has no credits, so that the port takes no data. */
void poll_switch_learn_hosts(struct poll_switch *ps, bool in_transit);

/* Selects the notifications that the ports accept from now on; until then they accept all that come
 * from switches. */
void poll_switch_limit_arns(struct poll_switch *ps, const struct arn_policer_config *guard);

/* The switch has an agent in the control thread, and its tables from there: the tables in its
 * switch_config, if any, count until the first ones come. 'pool': buffers for the longest frame.
 * Both belong to the caller and must outlive it; the tables in use are freed with it. At most once,
 * before the first poll_switch_run(). */
void poll_switch_set_control(
	struct poll_switch *ps, struct device_control *control, struct rte_mempool *pool);

/* The latency extension of a frame that the switch stores. The frame has FRAME_F_LATENCY and has
 * passed all checks: contention_config.extension, for any 'ctx'. */
struct latency_extension *poll_switch_extension(void *ctx, const struct weft_packet *packet);

/* One iteration: reads every port once, sends through every output that can send, and sends due
 * control frames. Returns the number of frames moved, also between shards: 0 means that the loop
 * may yield. */
unsigned poll_switch_run(struct poll_switch *ps, weft_time now);
