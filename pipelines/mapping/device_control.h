/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The channel between a device's poll loop and the control thread of its process
 * (docs/explanation/the-mapper.md, 'In a process'). Up: mapper frames for the device's agent, links
 * that are up, whether the device is idle. Down: commands, which are frames to send and the
 * mapper's commands. Each direction has one writer and one reader, without locks or waiting. The
 * loop allocates and frees nothing: the control thread builds the tables and frees those that the
 * loop returns.
 *
 * A device with static tables has none (a NULL pointer). */

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic_routes.h"
#include "queuing/queuing.h"
#include "queuing/vc_rule.h"

/* Tables of a switch, constant while it uses them. They have an entry for each host of the
 * process's topology; an unreachable one has SWITCH_PORT_NONE and no alternatives. */
struct switch_tables {
	uint32_t hosts;
	uint8_t *port;           /* [hosts] */
	uint64_t *alternatives;  /* [hosts] */
	struct vc_rule *vc_rule; /* for one switch, number 0; NULL: the queuing scheme's VCs */
	uint8_t stage;
	uint8_t queues; /* service level sl < queues uses VC sl; 0: keeps the current VCs */
};

/* No host reachable, no rule, stage 0. Returns NULL if memory ran out. */
struct switch_tables *switch_tables_create(uint32_t hosts);
void switch_tables_destroy(struct switch_tables *tables);

/* Tables of a host, constant while it uses them. */
struct host_tables {
	struct nic_routes *routes;
	struct queuing *queuing; /* NULL: keeps the present service levels */
};

/* No host reachable. Returns NULL if memory ran out. */
struct host_tables *host_tables_create(uint16_t hosts);
void host_tables_destroy(struct host_tables *tables);

enum device_order_kind {
	DEVICE_SEND,   /* a complete frame through 'port', before data and without credits */
	DEVICE_PAUSE,  /* stop injecting new packets */
	DEVICE_PURGE,  /* discard stored packets */
	DEVICE_COMMIT, /* use these tables */
	DEVICE_RESUME, /* inject again */
};

struct device_order {
	uint8_t kind; /* enum device_order_kind */
	uint8_t port; /* DEVICE_SEND: where to send */
	bool refused; /* DEVICE_COMMIT: set by the loop if it cannot use the tables */
	uint32_t bytes;
	/* One of the two for DEVICE_COMMIT. The loop replaces it with the tables that it used
	 * before, or NULL. If the loop refuses the tables, they stay here. */
	struct switch_tables *of_switch;
	struct host_tables *of_host;
	uint8_t frame[]; /* [bytes] of DEVICE_SEND */
};

struct device_control;

/* Has room for 'frames' frames of 'frame_bytes' in each direction. Returns NULL if memory ran
 * out. */
struct device_control *device_control_create(uint32_t frame_bytes, unsigned frames);
/* Call only when neither thread uses the channel any more. Frees the tables of all commands; the
 * device owns those in use. NULL is allowed. */
void device_control_destroy(struct device_control *control);
/* Before the loop runs: calls ring(ctx) in the loop when a frame can be taken or
 * device_control_linked() has changed. */
void device_control_watch(struct device_control *control, void (*ring)(void *ctx), void *ctx);

/* ---- For the poll loop. */

/* Copies a scout or mapper frame that arrived on 'port' for this device's agent (the cursor is at
 * ROUTE_TYPE_AGENT, the last element). Without room it is counted, and false is returned; the
 * sender retries. */
bool device_control_up(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes);

/* At the end of each iteration: the ports whose link_end is LINK_UP, and whether the device is
 * idle. It is idle if it is paused, no data frame arrived or left in this iteration, none is stored
 * or half sent, and no transmit queue holds one. */
void device_control_update(struct device_control *control, uint64_t linked, bool idle);

/* The oldest pending command, or NULL; costs one load if there is none. While the port has no room,
 * the loop may leave a DEVICE_SEND, and all commands behind it, for a later iteration. It drops
 * frames for a port that is down. */
struct device_order *device_control_next(struct device_control *control);
/* The loop has finished that command, and must no longer use its memory. */
void device_control_done(struct device_control *control);

/* ---- For the control thread. */

/* The oldest frame, or NULL. A frame is withheld until the loop has made a whole iteration since
 * the frame arrived, so that device_control_idle() is no older than the frame. */
const uint8_t *device_control_take(struct device_control *control, unsigned *port, unsigned *bytes);
/* Frees the room of that frame. */
void device_control_taken(struct device_control *control);

/* The loop's iteration count, and whether the loop has made a whole iteration since the count was
 * 'since', so that device_control_idle() is no older than a request that arrived then. */
uint64_t device_control_iterations(const struct device_control *control);
bool device_control_has_iterated(const struct device_control *control, uint64_t since);

uint64_t device_control_linked(const struct device_control *control);
/* The loop has taken everything, DEVICE_SEND included. */
bool device_control_taken_all(const struct device_control *control);
/* The loop has done all commands except DEVICE_SEND. */
bool device_control_caught_up(const struct device_control *control);
/* It has done all commands, and was idle in its last iteration after the last of them. */
bool device_control_idle(const struct device_control *control);

/* Number of commands without a frame for which frames always leave room. */
#define DEVICE_ORDERS_KEPT 8
/* There is room for the longest frame and DEVICE_ORDERS_KEPT other commands. */
bool device_control_ready(const struct device_control *control);
/* Returns false if there is no room for the frame and DEVICE_ORDERS_KEPT other commands. */
bool device_control_send(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes);
/* PAUSE, PURGE or RESUME. */
bool device_control_order(struct device_control *control, enum device_order_kind kind);
/* At least one of the two is not NULL. The loop owns them if this returns true. */
bool device_control_commit(struct device_control *control, struct switch_tables *of_switch,
	struct host_tables *of_host);
/* Reclaims the room of commands that are done and frees the tables in them. Returns their
 * number. */
unsigned device_control_collect(struct device_control *control);

/* The loop has done all commands but could not use the last tables, and keeps the previous ones.
 * Any thread. */
bool device_control_has_refused(const struct device_control *control);
/* Number of times that the loop could not use its new tables. Any thread. */
uint64_t device_control_refusals(const struct device_control *control);

/* Frames lost for lack of room: from the loop, and to it. */
uint64_t device_control_dropped_up(const struct device_control *control);
uint64_t device_control_dropped_down(const struct device_control *control);
