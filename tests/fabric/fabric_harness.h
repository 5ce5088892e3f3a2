/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Small networks without EAL, for the invariants of the data plane: real switches (lib/switch),
 * simple hosts with a link end each, wires with a delay, a clock of steps that the test turns. Data
 * frames are descriptors from a plain pool; credit and hello frames are encoded, cross the wire as
 * bytes, are checked and decoded.
 *
 * Each host sends packets with a sequence number per (source, destination, VC) and checks what
 * arrives: what is doubled, overtaken, misrouted or altered fails the test at once, gaps are
 * counted and have to be explained in the end. fabric_check() is about the state between two steps.
 * Not thread-safe; the same seed gives the same run. */

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "link/link_end.h"
#include "route/route_algorithm.h"
#include "switch/switch.h"
#include "topo/topology.h"
#include "wire/packet.h"

#define FABRIC_STEP_PS      PS_PER_US
#define FABRIC_CONTROL_ROOM 64 /* control frames on a wire at a time */

/* How the switches are driven. */
enum fabric_driver {
	FABRIC_DIRECT, /* like the poll driver: bypasses queues if possible */
	FABRIC_STORED, /* the same, always through the queues */
	FABRIC_SINGLE, /* like the virtual driver: admits, then passes or stores; sends one by one
			*/
	FABRIC_DRIVERS
};

struct fabric_config {
	uint64_t seed;
	uint8_t vcs;
	bool voq;
	enum fabric_driver driver;
	uint32_t buffer_blocks;  /* per port, hosts' too */
	uint32_t link_blocks;    /* that a wire takes in one step */
	uint32_t consume_blocks; /* taken from the host's buffer per step */
	uint16_t packet_blocks;  /* the longest packet */
	uint16_t delay_steps;    /* delays of wires: 1 to this */
	uint32_t load_ppm;       /* chance of a new packet, per host, VC and opportunity */
	uint32_t hot_ppm;        /* packets that go to 'hot_host' */
	uint16_t hot_host;
	uint32_t source_route_ppm; /* packets with a source route; others use tables */
	weft_time hello_ps, refresh_ps, watchdog_ps;
	const struct route_algorithm *algorithm; /* how tables are computed; NULL: up/down */
	bool no_classes;                         /* switches ignore the VC classes of tables */
	bool overtakes;                          /* packets of a flow may take several ways */
};

struct fabric_control {
	uint32_t bytes;
	uint8_t frame[252];
};

struct fabric_item {
	weft_time arrives_ps;
	struct weft_packet *packet; /* NULL: the next of the wire's control frames */
};

/* One direction of a link, which keeps frames in order. */
struct fabric_wire {
	weft_time delay_ps;
	struct fabric_item *item;
	uint32_t mask, head, tail;
	int32_t budget_blocks; /* may still be accepted in this step; a frame may overdraw it */
	bool cut;              /* loses everything */
	struct fabric_control control[FABRIC_CONTROL_ROOM];
	uint32_t control_head, control_tail;
	uint64_t lost_blocks, lost_packets, lost_credits;
};

struct fabric_end {
	struct link_end *link;
	struct fabric_wire *out, *in;
	struct fabric_end *peer;
	struct topology_port at;
};

struct fabric_switch {
	struct weft_switch *sw;
	struct fabric_end *end[SWITCH_PORTS_MAX]; /* NULL: no cable */
};

struct fabric_host {
	struct link_end link;
	struct fabric_end *end;
	struct rng rng;
	struct weft_packet *pending[FRAME_VCS_MAX]; /* made, waits for credits */
	unsigned next_vc;
	struct weft_packet *stored_head, *stored_tail;
	uint64_t refused; /* arrivals without credit */
};

struct fabric {
	struct fabric_config config;
	const struct topology *topology;
	struct route_table *table;
	weft_time now;
	struct rng rng;
	struct fabric_switch *switch_at;
	struct fabric_host *host_at;
	struct fabric_end *end; /* two for each link */
	struct fabric_wire *wire;
	unsigned ends;
	uint8_t *route; /* [source * hosts + destination][FRAME_ROUTE_MAX] */
	uint8_t *route_length;
	/* [(source * hosts + destination) * vcs + vc] */
	uint32_t *sent_sequence, *expected_sequence;
	struct weft_packet *pool, *free;
	uint64_t pool_packets, live;
	bool injecting;
	uint32_t credit_loss_ppm, data_loss_ppm;
	uint64_t injected, delivered, missing, discarded, lost, overtaken;
};

/* Creates a network with all links up, all buffers granted, and no sender active. Borrows the
 * topology. Routes are tables from lib/route, and the source routes that follow them. */
struct fabric *fabric_create(const struct topology *topology, const struct fabric_config *config);
void fabric_destroy(struct fabric *fabric);

void fabric_step(struct fabric *fabric);
/* Runs 'steps' steps, with a check every 'check_every' (0: none). */
void fabric_run(struct fabric *fabric, uint64_t steps, uint64_t check_every);
/* Runs until 'packets' more are delivered. Fails if nothing arrives for too long. */
void fabric_run_packets(struct fabric *fabric, uint64_t packets, uint64_t check_every);
/* Stops all senders, and runs until nothing is under way and all credits are returned. Fails
 * if that is not reached. */
void fabric_drain(struct fabric *fabric);

/* Makes the switch use this table, which has no VC classes and outlives the switch. */
void fabric_exchange(struct fabric *fabric, uint32_t at, const struct route_table *table);

/* Cuts or repairs both directions of this end's link. */
void fabric_cut(struct fabric_end *end, bool cut);

/* Fails the test if something is wrong: the switches' own invariants, missing packets, credits not
 * conserved on a link and VC, a buffer too full, something refused. Links must be up. */
void fabric_check(const struct fabric *fabric);
/* Fails unless nothing is stored or under way, all missing packets were lost on a wire or
 * discarded, and each sender has credits for its neighbour's whole buffer. */
void fabric_check_drained(const struct fabric *fabric);

/* Data discards of all switches. */
uint64_t fabric_switch_discards(const struct fabric *fabric);
