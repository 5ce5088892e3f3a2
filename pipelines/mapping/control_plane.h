/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The control plane of a process with mapped routes (docs/explanation/the-mapper.md, 'In a
 * process'): the agents of all its devices and the mappers of its candidate hosts. Poll loops
 * deliver frames and link states, and receive answers and tables (device_control.h). The plane has
 * no clock and no thread: one thread of the process calls control_plane_poll(). */

#include <stdbool.h>
#include <stdint.h>

#include "device_control.h"
#include "mapper/mapper.h"
#include "topo/topology.h"

#define CONTROL_REQUEST_MAX 256

/* A device of this process. Its kind and number determine its identity, as in the link protocol. */
struct control_plane_device {
	enum device_kind kind;
	uint32_t number;
	bool candidate; /* a host that may run the mapper */
	uint16_t priority;
};

struct control_plane_config {
	const struct topology *topology; /* names, ports and counts; its cables are ignored */
	const struct control_plane_device *device;
	unsigned devices;
	uint16_t fabric;  /* fabric number in all frames (frame.h) */
	uint32_t session; /* identifies this run of the process; not 0 */
	uint32_t version; /* hash of the Weft version and its formats */
	uint64_t counter; /* exceeds the counters of all earlier runs (a wall clock), or 0 */
	const struct fabric_key *key; /* NULL: frames are not authenticated */
	struct mapper_config mapper;  /* 'session' is filled in */
	weft_time lease_ps;           /* as in mapper_agent_config */
	weft_time report_retry_ps;    /* as in mapper_agent_config */
	uint32_t frame_bytes;         /* maximum frame length */
	bool adaptive; /* adaptive routing is enabled: report tables without alternatives */
	const struct topology
		*expect;         /* compared with the discovered fabric; NULL: no comparison */
	uint32_t hosts_max;      /* table size, if hosts may be added to the topology; else 0 */
	const char *announce;    /* prefix of reports about differences; NULL: no reports */
	void (*ring)(void *ctx); /* called by the loops when a poll has work to do; NULL: none */
	void *ring_ctx;
};

struct control_plane;

/* The objects that 'config' points to must outlive the plane. Returns NULL with errno ENOMEM. */
struct control_plane *control_plane_create(
	const struct control_plane_config *config, weft_time now);
/* Call when no loop and no thread uses the plane any more. NULL is allowed. */
void control_plane_destroy(struct control_plane *plane);

/* Returns the channel of a device for its poll loop, or NULL if the process has no such device. The
 * channel belongs to the plane. */
struct device_control *control_plane_control(
	const struct control_plane *plane, enum device_kind kind, uint32_t number);

/* Does all work due at 'now', which must never decrease. Returns the latest time for the next call,
 * unless a loop delivers something earlier; 'now' if more work is due immediately. A call may take
 * long, because it may compute routes; 'now' need not advance by that time. 'wall' is used to
 * measure the duration of changes for the status. */
weft_time control_plane_poll(struct control_plane *plane, weft_time now, weft_time wall);

/* Call when the thread was not scheduled for 'away_ps' between two calls of control_plane_poll(): a
 * leading mapper may need to take the lead again (mapper_absent()). */
void control_plane_absent(struct control_plane *plane, weft_time away_ps, weft_time now);

/* Returns the oldest message for the user (one or more lines), which the caller frees, and sets
 * *warning if it is a warning. Returns NULL if there is none. When the queue is full, the oldest
 * message is dropped. Call in the thread of control_plane_poll(). */
char *control_plane_message(struct control_plane *plane, bool *warning);

/* Returns true during a change. Loops do not signal its progress, so poll frequently. Call in the
 * thread of control_plane_poll(). */
bool control_plane_is_busy(const struct control_plane *plane);
/* Returns true if a loop has commands or frames left to take. For the control thread. */
bool control_plane_waits(const struct control_plane *plane);

/* Returns why the leading mapper of this process has no routes, or NULL if no mapper leads or it
 * has routes. The plane owns the text. */
const char *control_plane_why(const struct control_plane *plane);

/* ---- For one additional thread. */

/* Returns true if, as of the last poll, all devices of this process use tables, none is paused, and
 * each host has a route to every other host of the topology. */
bool control_plane_is_routed(const struct control_plane *plane);

/* Sets the topology to use from the next poll on; it must outlive the plane. Removed devices must
 * be marked absent and are ignored. If the discovered fabric was compared with the previous
 * topology, it is compared with the new one. */
void control_plane_renew(struct control_plane *plane, const struct topology *topology);

/* Queues a request for the next poll; returns false if the queue is full.
 *     status PATH      writes the state of agents and mappers as JSON
 *     map HOST PATH    writes the topology that this host's mapper found, if any
 * The file is written atomically. */
bool control_plane_ask(struct control_plane *plane, const char *request);

/* Converts 'image', which table_image_check() accepted for the switch. The tables have 'hosts'
 * destinations, regardless of the number in the image. Returns NULL with errno ENOMEM. */
struct switch_tables *control_switch_tables(const uint8_t *image, unsigned ports, uint32_t hosts);
