/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The poll driver of one emulated switch: moves frames between its ports and the state machine of
 * lib/switch. It checks an arriving frame (frame_check) and fills in its descriptor in the mbuf's
 * private area. On departure it updates the mutable header bytes and the CRC. It processes and
 * creates link-local control frames (credit, hello, adaptive-routing notification). With a mapper,
 * frames for this switch's agent go to the control thread of the process, whose commands are
 * executed between iterations (device_control.h).
 *
 * A switch on several cores has one driver per shard (poll_division.h), with the ports of that
 * shard.
 *
 * One thread calls poll_switch_run(). Other threads may read counters at any time: each is one
 * aligned 64-bit word, which only that thread writes. */

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
 * host behind the port, and data and end-to-end control frames must have it as their source. */
struct poll_switch_source {
	bool known;      /* the host is known; otherwise any source is accepted */
	bool in_transit; /* the host may also re-inject frames of others after an in-transit mark */
	uint16_t host;
	uint64_t spoofed, control_spoofed; /* discarded frames */
};

/* The packet that a timed output is sending. 'input' may belong to another shard. */
struct poll_switch_leaving {
	weft_time end;
	uint32_t blocks;
	uint8_t input, vc; /* where the packet was stored */
};

struct poll_switch_port {
	struct port *port; /* NULL: no cable */
	struct tx_queue tx;
	struct credit_times credits;
	struct poll_switch_leaving leaving;
	port_set leaving_by; /* outputs that may still be sending a packet from this input */
	weft_time
		left_at; /* when the tail of the last packet from this input was or will be sent */
	weft_time
		granted_at; /* 'left_at' at the last credit frame, at most the time of that frame */
	uint64_t faults[FRAME_FAULT_COUNT]; /* refused frames, by reason */
	uint64_t control_bad;               /* link-local frames with an invalid payload */
	uint64_t no_mbuf; /* control frames that could not be built for lack of buffer space */
	/* Time during which data was waiting for this output, but none had credits. */
	weft_time blocked_ps;
	uint64_t arns_in, arns_out; /* adaptive-routing notifications */
	uint64_t arns_refused;      /* refused by arn_policer.h */
	struct arn_policer arn_policer;
	uint64_t agent_sent, agent_lost; /* frames of the agent; lost: link not up, or no space */
	struct port_auth guard;
	struct poll_switch_source source;
	struct link_falls falls;
};

/* Frames that bypassed the queues and will be sent with the next flush. */
struct poll_switch_burst {
	uint64_t bytes;
	uint32_t count;
	uint32_t vc; /* VC of the last frame at its input */
};

/* State for the mapper. */
struct poll_switch_control {
	struct device_control *control; /* NULL: static tables */
	struct rte_mempool *pool;       /* for frames sent on behalf of the agent */
	struct switch_tables *tables;   /* in use; NULL: none received yet */
	bool paused;
	uint64_t data_moved; /* data frames in and out up to the last iteration, while paused */
};

struct capture_filter;

struct poll_switch {
	struct weft_switch *sw;
	struct rte_mempool *pool; /* for control frames that the driver creates */
	unsigned ports;
	port_set present;    /* ports with a cable */
	port_set direct;     /* outputs whose queues frames may bypass */
	port_set filled;     /* ports with a non-empty burst */
	port_set needs_idle; /* ports that need service even if no frame moves */
	struct poll_switch_burst burst[SWITCH_PORTS_MAX];
	struct rte_mbuf *burst_mbuf[SWITCH_PORTS_MAX][PORT_BURST];
	struct poll_switch_port port[SWITCH_PORTS_MAX];
	unsigned carried; /* frames moved by the last run, except link-local ones */
	/* No frame of the current burst passes the quick test of this filter. None will pass it on
	 * departure either, because switches do not change the words that it tests. NULL: some may.
	 */
	const struct capture_filter *unwanted;
	bool learns_hosts;     /* set by poll_switch_learn_hosts() */
	bool hosts_in_transit; /* whether the learnt hosts are in-transit hosts */
	struct poll_switch_control mapper;
	struct arn_policer_config arn_policer;
	weft_time before; /* time of the last iteration */
	port_set blocked; /* ports blocked at the end of the last iteration */
	/* This shard of a divided switch; NULL: the switch is not divided. */
	struct switch_shard *shard;
	struct poll_switch *const *shards;    /* all shards, by number */
	struct poll_division_control *orders; /* shared with all shards (poll_division.h) */
};

/* Returns the driver that owns the port. */
static inline const struct poll_switch *poll_switch_owner(const struct poll_switch *ps, unsigned at)
{
	return ps->shard == NULL ? ps : ps->shards[ps->shard->division->owner[at]];
}

/* 'sw', 'pool' and the ports are borrowed and must outlive the driver. */
struct poll_switch *poll_switch_create(struct weft_switch *sw, struct rte_mempool *pool);
/* Also frees stored packets. */
void poll_switch_destroy(struct poll_switch *ps);

/* Attaches 'port' as port 'at'. See tx_queue_init() for 'timing' and 'impairment'. */
void poll_switch_attach(struct poll_switch *ps, unsigned at, struct port *port,
	const struct tx_timing *timing, struct impairment *impairment);

/* Marks an attached port as having no cable: it is not polled. Call before poll_switch_run(). */
void poll_switch_unplug(struct poll_switch *ps, unsigned at);
/* Marks the port as having a cable, which may differ from an earlier one. Call between iterations.
 */
void poll_switch_plug(struct poll_switch *ps, unsigned at);

/* Sets the port's fabric number and, with a key, adds seals to its control frames. The defaults are
 * number 0 and no seals. Call before the first poll_switch_run(). 'key' is borrowed; NULL: none. */
void poll_switch_guard(
	struct poll_switch *ps, unsigned at, uint16_t fabric, const struct link_key *key);

/* Sets the host behind the port. Frames from other sources are discarded, unless 'in_transit' is
 * set and the element before the frame's cursor is an in-transit mark. Call after
 * poll_switch_guard(). */
void poll_switch_set_host(struct poll_switch *ps, unsigned at, uint16_t host, bool in_transit);

/* Learns the hosts from hellos (FRAME_HOST_DEVICE), for cables that may differ from the plan. A
 * neighbour has no credits before its first hello, so the port accepts no data until then. */
void poll_switch_learn_hosts(struct poll_switch *ps, bool in_transit);

/* Sets which notifications the ports accept. By default they accept all from switches. */
void poll_switch_limit_arns(struct poll_switch *ps, const struct arn_policer_config *guard);

/* Adds an agent in the control thread, which also provides the tables. Until the first ones arrive,
 * those in switch_config, if any, apply. 'pool' must have buffers for the longest frame. 'control'
 * and 'pool' are borrowed and must outlive the driver, which frees the tables in use. Call at most
 * once, before the first poll_switch_run(). */
void poll_switch_set_control(
	struct poll_switch *ps, struct device_control *control, struct rte_mempool *pool);

/* Returns the latency extension of a frame that the switch stores. The frame must have
 * FRAME_F_LATENCY and have passed all checks. Serves as contention_config.extension, with any
 * 'ctx'. */
struct latency_extension *poll_switch_extension(void *ctx, const struct weft_packet *packet);

/* Runs one iteration: reads every port once, sends through every output that can send, and sends
 * due control frames. Returns the number of frames moved, including those passed between shards. If
 * it is 0, the loop may yield. */
unsigned poll_switch_run(struct poll_switch *ps, weft_time now);
/* Data frames in and out so far, without those that a divided switch's other shards moved. */
uint64_t poll_switch_data_moved(const struct poll_switch *ps);
