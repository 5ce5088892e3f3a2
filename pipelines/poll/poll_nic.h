/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The poll driver of one emulated interface: moves frames between its port and the state machine of
 * lib/nic, and feeds that from traffic sources and a TAP. What arrives is checked (frame_check),
 * described in the mbuf's private area and handed over; what the interface wants to send is built
 * into mbufs. What is delivered goes to a measuring sink, or to the TAP if it is an IP packet.
 * Where there is a mapper, its frames for this host go up to the control thread of the process and
 * that thread's orders are done, between turns (device_control.h).
 *
 * One thread calls poll_nic_run(); counters may be read by others at any time (each is one aligned
 * 64-bit word, written by that thread alone).
 */

#include <stdint.h>

#include "device_control.h"
#include "fault.h"
#include "goal_replay.h"
#include "host_demux.h"
#include "nic.h"
#include "port.h"
#include "run_goal.h"
#include "traffic.h"
#include "tx_queue.h"

#define POLL_NIC_SOURCES_MAX 128
#define POLL_NIC_TAP_BYTES   (EDGE_ETHERNET_BYTES + 4 + UINT16_MAX) /* with a VLAN tag */

struct poll_nic_config {
	struct nic_config nic; /* 'above' is filled here */
	struct port *port;
	struct rte_mempool *pool; /* port_pool_create() with room for the MTU, header and route */
	/* In-memory links: rate and delay are kept here (tx_queue.h). */
	bool timed;
	uint64_t rate_bps;
	weft_time delay_ps, slack_ps;
	struct impairment *impairment; /* NULL: none */
};

/* The side of a TAP. */
struct poll_nic_tap {
	int fd; /* -1: none */
	struct edge *edge;
	weft_time due;  /* next look; an empty read costs as much as some frames */
	uint32_t held;  /* bytes in 'frame' that the interface has not taken yet */
	uint8_t *frame; /* POLL_NIC_TAP_BYTES */
	uint64_t read_errors;
};

/* A rank of a schedule that this host replays (goal_replay.h). */
struct poll_nic_goal {
	struct goal_replay *replay; /* NULL: none; by a clock that is 0 at 'from_ps' */
	uint32_t rank;
	weft_time from_ps;
	const struct run_goal *goal;      /* which rank is which host */
	uint64_t messages, frames, bytes; /* taken by the interface */
	uint64_t strays;                  /* arrived, but nothing was under way from there */
};

/* The side of the mapper. */
struct poll_nic_control {
	struct device_control *control; /* NULL: static routes */
	struct host_tables *tables;     /* in use; NULL: none came yet */
	uint64_t data_moved;  /* data frames in and out until the last turn, while paused */
	uint64_t orders_lost; /* frames to send while the link was down, or too long */
};

struct poll_nic {
	struct nic *nic;
	struct port *port;
	struct rte_mempool *pool;
	struct tx_queue tx;
	struct rte_mbuf *spare; /* allocated, nothing to send in it yet */
	struct measure_sink *sink;
	struct host_demux demux;
	struct poll_nic_tap tap;
	struct traffic *source[POLL_NIC_SOURCES_MAX];
	unsigned sources;
	struct poll_nic_goal goal;
	uint64_t faults[FRAME_FAULT_COUNT]; /* frames refused, by reason */
	uint64_t no_mbuf;                   /* times that there was no buffer to send from */
	struct poll_nic_control mapper;
};

/* NULL and fault (EINVAL, ENOMEM). Port, pool, routes and damage stay the caller's and outlive it.
 */
struct poll_nic *poll_nic_create(
	const struct poll_nic_config *config, weft_time now, struct fault *fault);
/* Frees all packets that it holds, too. NULL is fine. */
void poll_nic_destroy(struct poll_nic *pn);

/* Adds a traffic source; host, hosts, index, lane and frame_bytes are filled in here. With a
 * queuing scheme it counts as one for each queue (traffic.h). 0 or -errno and fault (ENOSPC: more
 * than POLL_NIC_SOURCES_MAX). */
int poll_nic_add_traffic(
	struct poll_nic *pn, const struct traffic_config *config, struct fault *fault);

/* The host replays 'rank' from 'from_ps' on; both stay the caller's. Its messages are the only
 * synthetic ones between hosts with ranks: that they arrive in order tells which ones they are. */
void poll_nic_set_goal(struct poll_nic *pn, const struct run_goal *goal, struct goal_replay *replay,
	uint32_t rank, weft_time from_ps);

/* Binds the host to a TAP, a non-blocking descriptor (tap.h) that stays the caller's. The interface
 * needs payloads (nic_config.payloads, payload_bytes of mtu_bytes or more). 'base': network of the
 * hosts' addresses, as in edge.h. 0 or -errno and fault. */
int poll_nic_attach_tap(
	struct poll_nic *pn, int fd, uint32_t base, uint32_t mtu_bytes, struct fault *fault);

/* The host has an agent in the control thread, and its routes from there: if it was made without,
 * it sends nothing, and sources, schedule and TAP are not looked at, until the first ones come.
 * 'control' stays the caller's and outlives it; the tables in use are freed with it. At most once,
 * before the first turn; NULL changes nothing. */
void poll_nic_set_control(struct poll_nic *pn, struct device_control *control);

/* One turn. Returns the number of frames and messages moved: 0 means that the loop may yield. */
unsigned poll_nic_run(struct poll_nic *pn, weft_time now);

/* Traffic ends; what fell due and was not taken counts as generated. */
void poll_nic_stop_traffic(struct poll_nic *pn, weft_time now);

/* True while traffic will still come or a message is not acknowledged. */
bool poll_nic_busy(const struct poll_nic *pn, weft_time now);

/* Sums over the sources. */
struct traffic_counters poll_nic_traffic(const struct poll_nic *pn);
/* Frames of the generated messages. */
uint64_t poll_nic_generated_frames(const struct poll_nic *pn);
