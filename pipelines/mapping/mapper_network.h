/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A network of agents in all devices and mappers in some hosts, with their frames on its cables, on
 * a virtual clock. Switches store and forward these frames. The caller determines how long a frame
 * takes on a cable, and executes mapper commands. Computing routes takes no time. */

#include "mapper/mapper.h"
#include "topo/topology.h"

struct mapper_network_config {
	const struct topology *topology;
	struct mapper_config mapper;
	/* Time that an agent takes per answer, and a mapper per frame that it sends. */
	weft_time agent_ps, mapper_ps;
	weft_time lease_ps, report_retry_ps;
	void *ctx;
	/* Returns the priority of the mapper in this host; 0: the host has none. */
	uint16_t (*priority)(void *ctx, uint32_t host);
	/* Sends a frame through a port as soon as possible. Returns when the far end has received
	 * the whole frame; WEFT_TIME_NEVER: the frame is lost. */
	weft_time (*send)(void *ctx, struct topology_port from, unsigned bytes, weft_time now);
	/* NULL: devices are always idle, and commands have no effect. */
	bool (*is_idle)(void *ctx, struct topology_port device);
	/* Executes 'orders', a set of MAPPER_AGENT_* without MAPPER_AGENT_ANSWER. */
	void (*obey)(void *ctx, struct topology_port device, const struct mapper_agent *agent,
		unsigned orders, weft_time now);
};

struct mapper_network {
	struct mapper_network_config config;
	struct mapper_flight *flight; /* heap; the first frame is the next to arrive or be sent */
	uint32_t flights, room;
	struct mapper_station *station; /* switches, then hosts */
	uint32_t stations;
	/* Time at which each station is due, in a tree of minima with 'leaves' leaves: due[i] is
	 * the minimum of due[2 i] and due[2 i + 1]. */
	weft_time *due;
	uint32_t leaves;
	const struct mapper **leader; /* [leaders], found by mapper_network_look() */
	uint32_t leaders;
	bool changed;
	weft_time now;
	uint64_t frames; /* sent by mappers and agents */
	uint64_t hops;   /* transmissions of these frames over cables */
	bool failed;     /* out of memory */
	struct mapper_frame frame;
};

/* Everything that 'config' points to must outlive the network. Returns 0 or -ENOMEM; call
 * mapper_network_fini() in either case. */
int mapper_network_init(struct mapper_network *network, const struct mapper_network_config *config);
void mapper_network_fini(struct mapper_network *network);

weft_time mapper_network_due(const struct mapper_network *network);
/* Does the work due at 'now', which must not exceed mapper_network_due(). */
void mapper_network_poll(struct mapper_network *network, weft_time now);

/* Call when both ends detect that the link is up or down. */
void mapper_network_notice(struct mapper_network *network, uint32_t link, bool up, weft_time now);
/* Discards the frames on the cable. */
void mapper_network_cut(struct mapper_network *network, uint32_t link);

const struct mapper_agent *mapper_network_agent(
	const struct mapper_network *network, struct topology_port device);

/* Finds the mappers that lead other devices: one per plane, and one per part separated by cut
 * cables. The functions below refer to the time of this call. */
void mapper_network_look(struct mapper_network *network);
/* Returns true if all devices of some mapper have started using new tables since the last call;
 * then also calls mapper_network_look(). */
bool mapper_network_changed(struct mapper_network *network);
/* Returns the number of connected devices without a leading mapper or, if 'settled', whose mapper
 * has not confirmed that all of its devices use its tables. Sets *first to the first of them. */
uint32_t mapper_network_unled(
	const struct mapper_network *network, bool settled, struct topology_port *first);
/* Returns true if the routes of all leading mappers avoid this cable, and the devices at its ends
 * use such routes. Devices without a further cable are ignored. */
bool mapper_network_avoids(const struct mapper_network *network, uint32_t link);
/* Returns sums over all mappers. */
struct mapper_counters mapper_network_counters(const struct mapper_network *network);
