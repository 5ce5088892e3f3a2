/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The poll driver of one emulated interface. It moves frames between its port and the state
 * machine of lib/nic, which is fed by traffic sources and a TAP. It checks each received frame
 * (frame_check), describes it in the mbuf's private area and passes it on, and it builds the
 * frames that the interface sends. Delivered messages go to a measurement sink, IP packets to the
 * TAP. With a mapper, frames for this host's agent go to the control thread of the process, and the
 * loop executes that thread's commands (device_control.h).
 *
 * One thread calls poll_nic_run(). Any thread may read counters: each is an aligned 64-bit
 * word with one writer. */

#include <stdint.h>

#include "arrival_stamps.h"
#include "base/weft_error.h"
#include "experiment/workload/run_goal.h"
#include "goal/goal_replay.h"
#include "host/measure_sink.h"
#include "link/limit_times.h"
#include "mapping/device_control.h"
#include "nic/nic.h"
#include "poll_control.h"
#include "port/port.h"
#include "port/tsc_clock.h"
#include "port_auth.h"
#include "traffic/traffic.h"
#include "tx_queue.h"

#define POLL_NIC_SOURCES_MAX 128
/* Includes a VLAN tag. */
#define POLL_NIC_TAP_BYTES (sizeof(struct virtio_net_hdr) + EDGE_ETHERNET_BYTES + 4 + UINT16_MAX)

struct poll_nic_config {
	/* The driver sets 'above' and raises 'ack_frames' to a quarter of the window or 48,
	 * whichever is smaller. */
	struct nic_config nic;
	const struct link_key *key; /* for control frames of its link; NULL: none */
	struct port *port;
	struct rte_mempool *pool; /* port_pool_create() with space for the MTU, header and route */
	/* For an in-memory link, whose rate and delay the transmit queue enforces (tx_queue.h);
	 * otherwise NULL. Copied. */
	const struct tx_timing *timing;
	struct impairment *impairment; /* NULL: none */
	/* Read when frames compare clocks. Borrowed. NULL: poll_nic_set_clocks() fails. */
	const struct clock *clock;
};

struct poll_nic_tap {
	int fd; /* -1: none */
	struct edge *edge;
	weft_time due;   /* time of the next read; an empty read costs as much as a few frames */
	weft_time pause; /* until the next read after an empty one */
	bool held;       /* the interface has not accepted 'action' yet */
	uint16_t member; /* next member of the group, for a packet to a group */
	struct edge_action action;
	uint8_t *frame; /* POLL_NIC_TAP_BYTES: the kernel's header (edge.h) and the frame */
	uint64_t read_errors;
	uint64_t frames; /* fabric frames of messages from the TAP */
};

/* The ranks of a schedule that this host replays (goal_replay.h). */
struct poll_nic_goal {
	struct goal_replay *replay; /* NULL: none; time 0 of its clock is 'from_ps' */
	uint16_t host;
	uint8_t entry; /* index in the run's traffic */
	weft_time from_ps;
	uint64_t messages, frames, bytes; /* accepted by the interface */
	uint64_t strays;                  /* messages that arrived without a matching send */
};

struct poll_nic_control {
	struct device_control *control; /* NULL: static routes */
	struct host_tables *tables;     /* in use; NULL: none received yet */
	uint64_t data_moved;  /* data frames in and out up to the last iteration, while paused */
	uint64_t orders_lost; /* frames of commands that were lost: link down or frame too long */
};

struct poll_nic {
	struct nic *nic;
	struct port *port;
	struct rte_mempool *pool;
	const struct clock *clock; /* NULL: see struct poll_nic_config */
	struct tx_queue tx;
	struct credit_times credits;
	struct rte_mbuf *spare; /* allocated but not used yet */
	struct measure_sink *sink;
	struct host_demux demux;
	struct poll_nic_tap tap;
	struct poll_nic_endpoints *endpoints; /* see poll_nic_endpoints.h; NULL: none */
	struct traffic *source[POLL_NIC_SOURCES_MAX];
	unsigned sources;
	struct poll_nic_goal goal;
	struct port_auth guard;
	uint64_t faults[FRAME_FAULT_COUNT]; /* refused frames, by reason */
	uint64_t no_mbuf;                   /* failed allocations of send buffers */
	unsigned carried; /* frames moved by the last run, except link-local ones */
	struct poll_nic_control mapper;
	struct link_falls falls;
	struct arrival_stamps stamps;
};

/* Returns NULL with 'error' set (EINVAL, ENOMEM). Port, pool, routes and impairment are borrowed
 * and must outlive the driver. */
struct poll_nic *poll_nic_create(
	const struct poll_nic_config *config, weft_time now, struct error *error);
/* Also frees all stored packets. Accepts NULL. */
void poll_nic_destroy(struct poll_nic *pn);

/* Adds traffic sources, one per queue of the queuing scheme (traffic.h). Sets host, hosts if 0,
 * index, lane and frame_bytes. Returns 0, or -errno with 'error' set (ENOSPC: more than
 * POLL_NIC_SOURCES_MAX). */
int poll_nic_add_traffic(
	struct poll_nic *pn, const struct traffic_config *config, struct error *error);

/* Makes the host replay its ranks from 'from_ps' on, as 'entry' of the run's traffic. 'replay' is
 * borrowed. Hosts with ranks must not exchange other synthetic messages, because the order of
 * arrival identifies messages. */
void poll_nic_set_goal(
	struct poll_nic *pn, uint8_t entry, struct goal_replay *replay, weft_time from_ps);

/* Binds the host to a TAP, a borrowed non-blocking descriptor (tap.h). The interface needs payloads
 * (nic_config.payloads), and payload_bytes limits what it carries. 'address' is as in edge.h; NULL:
 * from EDGE_BASE_DEFAULT. Returns 0, or -errno with 'error' set. */
int poll_nic_attach_tap(struct poll_nic *pn, int fd, const uint32_t *address, struct error *error);

/* Like nic_set_clocks(), with the port's arrival stamps if available. Latencies use the measured
 * offsets. Returns -EINVAL without a clock to read, because the loop's time is older than the
 * frames that it received. */
int poll_nic_set_clocks(struct poll_nic *pn, const bool *same, uint32_t clock);

/* Accepts routes from the host's agent in the control thread. A host created without routes sends
 * nothing and does not poll its sources, schedule and TAP until the first routes arrive. 'control'
 * is borrowed and must outlive the driver, which frees the tables in use. Call at most once, before
 * the first iteration. NULL changes nothing. */
void poll_nic_set_control(struct poll_nic *pn, struct device_control *control);

/* Runs one iteration. Returns the number of frames and messages moved. If it is 0, the loop may
 * yield. */
unsigned poll_nic_run(struct poll_nic *pn, weft_time now);

/* Ends the traffic. Due messages that were not accepted count as generated. */
void poll_nic_stop_traffic(struct poll_nic *pn, weft_time now);

/* Returns true if sources have more to send or a message has not been acknowledged. */
bool poll_nic_busy(const struct poll_nic *pn, weft_time now);

/* Returns the sums over all sources. */
struct traffic_counters poll_nic_traffic(const struct poll_nic *pn);
/* Returns the number of frames of the generated messages. */
uint64_t poll_nic_generated_frames(const struct poll_nic *pn);
