/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The channel between a device's poll loop and the control thread of its process
 * (docs/explanation/the-mapper.md, 'In a process'). Up: mapper frames for the device's agent, the
 * set of links that are up, and whether the device is idle. Down: frames to send, and commands of
 * the mapper. Each direction has one writer and one reader, and is lock-free and wait-free. The
 * loop neither allocates nor frees memory: the control thread builds the tables and frees those
 * that the loop returns.
 *
 * A device with static tables has no channel (a NULL pointer). */

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic_routes.h"
#include "queuing/queuing.h"
#include "queuing/vc_rule.h"

/* Tables of a switch, constant while in use. They have an entry for each host of the process's
 * topology; unreachable hosts have SWITCH_PORT_NONE and no alternatives. */
struct switch_tables {
	uint32_t hosts;
	uint8_t *port;          /* [hosts] */
	uint64_t *alternatives; /* [hosts] */
	struct vc_rule
		*vc_rule; /* for a single switch with index 0; NULL: the queuing scheme's VCs */
	uint8_t stage;
	uint8_t queues; /* service level sl < queues uses VC sl; 0: VCs are unchanged */
};

/* Creates tables without reachable hosts or a rule, for stage 0. Returns NULL if out of memory. */
struct switch_tables *switch_tables_create(uint32_t hosts);
void switch_tables_destroy(struct switch_tables *tables);

/* Tables of a host, constant while in use. */
struct host_tables {
	struct nic_routes *routes;
	struct queuing *queuing; /* NULL: service levels are unchanged */
};

/* Creates tables in which no host is reachable. Returns NULL if out of memory. */
struct host_tables *host_tables_create(uint16_t hosts);
void host_tables_destroy(struct host_tables *tables);

enum device_order_kind {
	DEVICE_SEND,   /* send a complete frame through 'port', ahead of data and without credits */
	DEVICE_PAUSE,  /* stop injecting new packets */
	DEVICE_PURGE,  /* discard stored packets */
	DEVICE_COMMIT, /* start using these tables */
	DEVICE_RESUME, /* resume injection */
};

struct device_order {
	uint8_t kind; /* enum device_order_kind */
	uint8_t port; /* DEVICE_SEND: output port */
	bool refused; /* DEVICE_COMMIT: set by the loop if it cannot use the tables */
	uint32_t bytes;
	/* DEVICE_COMMIT: one of the two. The loop replaces it with its previous tables, or NULL.
	 * Refused tables remain here. */
	struct switch_tables *of_switch;
	struct host_tables *of_host;
	uint8_t frame[]; /* [bytes], DEVICE_SEND only */
};

struct device_control;

/* Creates a channel for 'frames' frames of 'frame_bytes' per direction; NULL if out of memory. */
struct device_control *device_control_create(uint32_t frame_bytes, unsigned frames);
/* Call when neither thread uses the channel any more. Frees the tables of all commands; those in
 * use belong to the device. NULL is allowed. */
void device_control_destroy(struct device_control *control);
/* Call before the loop runs. Makes the loop call ring(ctx) when a frame can be taken or
 * device_control_linked() has changed. */
void device_control_watch(struct device_control *control, void (*ring)(void *ctx), void *ctx);

/* ---- For the poll loop. */

/* Passes a scout or mapper frame that arrived on 'port' to this device's agent; the cursor is at
 * ROUTE_TYPE_AGENT, the last element. The frame is copied. If the channel is full, counts the frame
 * and returns false; the sender retries. */
bool device_control_up(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes);

/* Call at the end of each iteration with the ports whose link_end is LINK_UP, and whether the
 * device is idle. A device is idle if it is paused, no data frame arrived or was sent in this
 * iteration, none is stored or partly sent, and no transmit queue holds one. */
void device_control_update(struct device_control *control, uint64_t linked, bool idle);

/* Returns the oldest pending command, or NULL; the latter costs one load. If the port is busy, the
 * loop may leave a DEVICE_SEND, and all commands behind it, for a later iteration. It drops frames
 * for ports that are down. */
struct device_order *device_control_next(struct device_control *control);
/* Completes that command. The loop must not use its memory afterwards. */
void device_control_done(struct device_control *control);

/* ---- For the control thread. */

/* Returns the oldest frame, or NULL. A frame is withheld until the loop has made a whole iteration
 * since the frame arrived, so that device_control_idle() is no older than the frame. */
const uint8_t *device_control_take(struct device_control *control, unsigned *port, unsigned *bytes);
/* Releases that frame. */
void device_control_taken(struct device_control *control);

/* device_control_iterations() returns the loop's iteration count. device_control_has_iterated()
 * returns true if the loop has made a whole iteration since the count was 'since':
 * device_control_idle() is then no older than a request that arrived at that count. */
uint64_t device_control_iterations(const struct device_control *control);
bool device_control_has_iterated(const struct device_control *control, uint64_t since);

uint64_t device_control_linked(const struct device_control *control);
/* Returns true if the loop has taken all commands, including DEVICE_SEND. */
bool device_control_taken_all(const struct device_control *control);
/* Returns true if the loop has completed all commands except DEVICE_SEND. */
bool device_control_caught_up(const struct device_control *control);
/* Returns true if the loop has completed all commands and its last iteration since was idle. */
bool device_control_idle(const struct device_control *control);

/* Frames always leave space for this many commands without a frame. */
#define DEVICE_ORDERS_KEPT 8
/* Returns true if there is space for the longest frame and DEVICE_ORDERS_KEPT other commands. */
bool device_control_ready(const struct device_control *control);
/* Queues a frame. Returns false unless it fits together with DEVICE_ORDERS_KEPT other commands. */
bool device_control_send(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes);
/* Queues DEVICE_PAUSE, DEVICE_PURGE or DEVICE_RESUME. Returns false if the channel is full. */
bool device_control_order(struct device_control *control, enum device_order_kind kind);
/* Queues tables, at least one of which is not NULL. If this returns true, the loop owns them. */
bool device_control_commit(struct device_control *control, struct switch_tables *of_switch,
	struct host_tables *of_host);
/* Reclaims completed commands and frees their tables. Returns the number of commands. */
unsigned device_control_collect(struct device_control *control);

/* Returns true if the loop has completed all commands but could not use the last tables, and still
 * uses the previous ones. Any thread. */
bool device_control_has_refused(const struct device_control *control);
/* Returns the number of tables that the loop could not use. Any thread. */
uint64_t device_control_refusals(const struct device_control *control);

/* Frames dropped because the channel was full: from the loop, and to the loop. */
uint64_t device_control_dropped_up(const struct device_control *control);
uint64_t device_control_dropped_down(const struct device_control *control);
