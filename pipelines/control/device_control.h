/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What the poll loop of a device and the control thread of its process say to each other
 * (docs/mapper.md, 'In a process'). Up: mapper frames for the device's agent, which links are up,
 * whether the device is idle. Down: orders, which are frames to send and what the agent was told to
 * do. Both ways one thread writes and one reads; nobody locks or waits, and the loop allocates and
 * frees nothing: tables are built by the control thread, which also frees the ones that the loop
 * gives back.
 *
 * A device with static tables has none of these (a NULL pointer).
 */

#include <stdbool.h>
#include <stdint.h>

#include "nic_routes.h"
#include "queuing.h"
#include "vc_rule.h"

/* Tables of a switch, constant while it uses them. For as many destinations as the process's
 * topology has hosts: those that cannot be reached have SWITCH_PORT_NONE and no alternatives. */
struct switch_tables {
	uint32_t hosts;
	uint8_t *port;           /* [hosts] */
	uint64_t *alternatives;  /* [hosts] */
	struct vc_rule *vc_rule; /* of one switch, number 0; NULL: the queuing scheme's VCs */
	uint8_t stage;
	uint8_t queues; /* service level sl < queues in VC sl; 0: the VCs as they are */
};

/* NULL without memory: nothing reachable, no rule, stage 0. */
struct switch_tables *switch_tables_create(uint32_t hosts);
void switch_tables_destroy(struct switch_tables *tables);

/* Tables of a host, likewise. */
struct host_tables {
	struct nic_routes *routes;
	struct queuing *queuing; /* NULL: the service levels as they are */
};

/* NULL without memory: nothing reachable. */
struct host_tables *host_tables_create(uint16_t hosts);
void host_tables_destroy(struct host_tables *tables);

enum device_order_kind {
	DEVICE_SEND, /* this frame, which is complete, by 'port', before data and without credits */
	DEVICE_PAUSE,  /* inject nothing new */
	DEVICE_PURGE,  /* throw away what is stored */
	DEVICE_COMMIT, /* use these tables */
	DEVICE_RESUME, /* inject again */
};

struct device_order {
	uint8_t kind; /* enum device_order_kind */
	uint8_t port; /* of DEVICE_SEND */
	bool refused; /* of DEVICE_COMMIT; the loop's, before it says done: it cannot use them */
	uint32_t bytes;
	/* Of DEVICE_COMMIT, one of the two. The loop takes them, and puts those here that it uses
	 * no more, or NULL, before it says done. What it refuses it leaves here. */
	struct switch_tables *of_switch;
	struct host_tables *of_host;
	uint8_t frame[]; /* [bytes] of DEVICE_SEND */
};

struct device_control;

/* 'frame_bytes': of the longest frame, either way. 'frames': as many of that length can wait, each
 * way. NULL without memory. */
struct device_control *device_control_create(uint32_t frame_bytes, unsigned frames);
/* When neither thread uses it any more. Frees the tables of all orders; those in use are the
 * device's. NULL is fine. */
void device_control_destroy(struct device_control *control);

/* ---- For the poll loop. */

/* A scout or mapper frame has reached this device's agent element (the cursor is at
 * ROUTE_TYPE_AGENT, the last element) by 'port'. The bytes are copied. False, and counted: there is
 * no room; whoever sent it asks again. */
bool device_control_up(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes);

/* At the end of each turn: the ports whose link_end is LINK_UP, and whether the device is idle:
 * DEVICE_PAUSE was done (and not DEVICE_RESUME since), in this turn no data frame came in or went
 * out, none is stored or half sent, nothing waits in a transmitter. */
void device_control_note(struct device_control *control, uint64_t linked, bool idle);

/* The oldest order that is not done, or NULL; one load if there is none. The loop may leave a
 * DEVICE_SEND for a later turn, and with it all that follow, while the port has no room; a port
 * that is down is no reason, such a frame is dropped. */
struct device_order *device_control_next(struct device_control *control);
/* That order is done; its memory is not the loop's any more. */
void device_control_done(struct device_control *control);

/* ---- For the control thread. */

/* The oldest frame, or NULL. It is given only when the loop has made a whole turn since it came, so
 * that device_control_idle() is no older than the question. */
const uint8_t *device_control_take(struct device_control *control, unsigned *port, unsigned *bytes);
/* That frame is read. */
void device_control_taken(struct device_control *control);

/* The turns that the loop has made; and whether it has made a whole one since there were so many,
 * so that device_control_idle() is no older than a question that came then. */
uint64_t device_control_turns(const struct device_control *control);
bool device_control_has_looked(const struct device_control *control, uint64_t since);

uint64_t device_control_linked(const struct device_control *control);
/* The loop has done all orders but DEVICE_SEND. */
bool device_control_caught_up(const struct device_control *control);
/* It has, and it was idle in its last turn since. */
bool device_control_idle(const struct device_control *control);

/* Room for orders without a frame, besides frames. */
#define DEVICE_ORDERS_KEPT 8
/* There is room for the longest frame and DEVICE_ORDERS_KEPT other orders. */
bool device_control_ready(const struct device_control *control);
/* False: no room; DEVICE_SEND leaves room for DEVICE_ORDERS_KEPT others. */
bool device_control_send(
	struct device_control *control, unsigned port, const uint8_t *frame, unsigned bytes);
/* PAUSE, PURGE or RESUME. */
bool device_control_order(struct device_control *control, enum device_order_kind kind);
/* One of the two is not NULL. They are the loop's if this is true. */
bool device_control_commit(struct device_control *control, struct switch_tables *of_switch,
	struct host_tables *of_host);
/* Frees what the loop has given back, and makes room. Returns how many orders were done since. */
unsigned device_control_collect(struct device_control *control);

/* It could not use the last tables that it was given, and has those from before. True only when it
 * has caught up; how often, tells the other. Any thread. */
bool device_control_has_refused(const struct device_control *control);
uint64_t device_control_refusals(const struct device_control *control);

/* Frames that came and had no room (the loop's), and that were to be sent and had none (the control
 * thread's). */
uint64_t device_control_dropped_up(const struct device_control *control);
uint64_t device_control_dropped_down(const struct device_control *control);
