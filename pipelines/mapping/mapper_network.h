/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Agents in all devices of a network, mappers beside some hosts, and their frames on its cables, on
 * a virtual clock. Switches store and forward these frames. The owner knows how long a cable takes
 * for a frame, and carries out what mappers command. Routes take no time to compute. */

#include "mapper/mapper.h"
#include "topo/topology.h"

struct mapper_network_config {
	const struct topology *topology;
	struct mapper_config mapper;
	/* Time of an agent for an answer, and of a mapper for each frame that it sends. */
	weft_time agent_ps, mapper_ps;
	weft_time lease_ps, report_retry_ps;
	void *ctx;
	/* Priority of the mapper in this host; 0: it has none. */
	uint16_t (*priority)(void *ctx, uint32_t host);
	/* A port sends a frame as soon as it can. Returns when the far end has the whole frame;
	 * WEFT_TIME_NEVER: it is lost. */
	weft_time (*send)(void *ctx, struct topology_port from, unsigned bytes, weft_time now);
	/* NULL: devices are always idle, and commands have no effect. */
	bool (*is_idle)(void *ctx, struct topology_port device);
	/* 'orders': a set of MAPPER_AGENT_*, without ANSWER. */
	void (*obey)(void *ctx, struct topology_port device, const struct mapper_agent *agent,
		unsigned orders, weft_time now);
};

struct mapper_network {
	struct mapper_network_config config;
	struct mapper_flight *flight; /* a heap: the first one is the next to arrive or leave */
	uint32_t flights, room;
	struct mapper_station *station; /* switches, then hosts */
	uint32_t stations;
	/* When each station is due, 'leaves' of them, below a tree of their minima: due[i] is that
	 * of due[2 i] and due[2 i + 1]. */
	weft_time *due;
	uint32_t leaves;
	const struct mapper **leader; /* [leaders], as mapper_network_look() found them */
	uint32_t leaders;
	bool changed;
	weft_time now;
	uint64_t frames; /* sent by mappers and agents */
	uint64_t hops;   /* the same, over each cable */
	bool failed;     /* no memory */
	struct mapper_frame frame;
};

/* Everything that 'config' points to must outlive it. -ENOMEM; mapper_network_fini() in any case.
 */
int mapper_network_init(struct mapper_network *network, const struct mapper_network_config *config);
void mapper_network_fini(struct mapper_network *network);

weft_time mapper_network_due(const struct mapper_network *network);
/* Does what is due at 'now', which is not after mapper_network_due(). */
void mapper_network_poll(struct mapper_network *network, weft_time now);

/* Both ends notice that the link is up or down. */
void mapper_network_notice(struct mapper_network *network, uint32_t link, bool up, weft_time now);
/* Loses the frames that are on the cable. */
void mapper_network_cut(struct mapper_network *network, uint32_t link);

const struct mapper_agent *mapper_network_agent(
	const struct mapper_network *network, struct topology_port device);

/* Finds the mappers that lead other devices: one for each plane, and for each part that cut cables
 * separate. The functions below refer to that moment. */
void mapper_network_look(struct mapper_network *network);
/* Looks if some mapper's devices have begun to use new tables since the last call; false: none. */
bool mapper_network_changed(struct mapper_network *network);
/* Number of devices with a cable that no mapper leads or, 'settled', whose mapper does not know
 * that all of its devices use its tables; and the first of these devices. */
uint32_t mapper_network_unled(
	const struct mapper_network *network, bool settled, struct topology_port *first);
/* All devices at the ends of this cable that have another one, and all mappers, have routes that
 * avoid it. */
bool mapper_network_avoids(const struct mapper_network *network, uint32_t link);
/* The sum of all mappers. */
struct mapper_counters mapper_network_counters(const struct mapper_network *network);
