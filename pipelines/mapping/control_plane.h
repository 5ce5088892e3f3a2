/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The control plane of a process with mapped routes (docs/explanation/the-mapper.md, 'In a
 * process'): the agents of all its devices and the mappers of its candidate hosts. The devices'
 * poll loops deliver frames and link states, and receive answers and tables (device_control.h). It
 * has no clock and no thread of its own: one thread calls control_plane_poll(). */

#include <stdbool.h>
#include <stdint.h>

#include "device_control.h"
#include "mapper/mapper.h"
#include "topo/topology.h"

#define CONTROL_REQUEST_MAX 256

/* A device of this process. Kind and number determine its identity, as in the link protocol. */
struct control_plane_device {
	enum device_kind kind;
	uint32_t number;
	bool candidate; /* this host may run the mapper */
	uint16_t priority;
};

struct control_plane_config {
	const struct topology *topology; /* names, ports and counts; its cables are not used */
	const struct control_plane_device *device;
	unsigned devices;
	uint16_t fabric;  /* number in all frames (frame.h) */
	uint32_t session; /* identifies this run of the process, not 0 */
	uint32_t version; /* a hash of the version of Weft and of its formats */
	uint64_t counter; /* above the counters of all earlier runs (a wall clock), or 0 */
	const struct fabric_key *key; /* NULL: none */
	struct mapper_config mapper;  /* session is filled in */
	weft_time lease_ps;           /* mapper_agent.h */
	weft_time report_retry_ps;    /* likewise */
	uint32_t frame_bytes;         /* length of the longest frame */
	bool adaptive; /* adaptive routing is on: report tables without alternatives */
	const struct topology *expect; /* to compare the found fabric with; NULL: none */
	uint32_t hosts_max; /* destinations of tables, if hosts may be added to the topology's; else
			       0 */
	const char *announce;    /* prefix of the reports of differences; NULL: no reports */
	void (*ring)(void *ctx); /* the loops' call when a poll has something to do; NULL: none */
	void *ring_ctx;
};

struct control_plane;

/* Everything that 'config' points to must outlive the plane. Returns NULL with errno ENOMEM if out
 * of memory. */
struct control_plane *control_plane_create(
	const struct control_plane_config *config, weft_time now);
/* Only when no loop and no thread uses the plane any more. NULL is allowed. */
void control_plane_destroy(struct control_plane *plane);

/* The device's end for its poll loop; the plane owns it. Returns NULL if there is no such device in
 * this process. */
struct device_control *control_plane_control(
	const struct control_plane *plane, enum device_kind kind, uint32_t number);

/* Does all work due at 'now', which must never decrease. Returns the latest time for the next call,
 * unless a loop delivers something earlier; 'now' if more work is due at once. It may compute
 * routes, which takes long: 'now' need not advance by that time. The status measures the duration
 * of changes with 'wall'. */
weft_time control_plane_poll(struct control_plane *plane, weft_time now, weft_time wall);

/* The thread was not scheduled for this long between two calls of control_plane_poll(): a leading
 * mapper may need to take the lead again (mapper_absent()). */
void control_plane_absent(struct control_plane *plane, weft_time away_ps, weft_time now);

/* Takes the oldest message for the user (one or more lines) and whether it is a warning; the caller
 * frees it. Returns NULL if there is none. A full queue drops its oldest message. Thread of
 * control_plane_poll(). */
char *control_plane_message(struct control_plane *plane, bool *warning);

/* True if a change is in progress, which loops do not announce: frequent polling pays off. Thread
 * of control_plane_poll(). */
bool control_plane_is_busy(const struct control_plane *plane);
/* True if a loop has not yet taken all commands and frames. For the control thread. */
bool control_plane_waits(const struct control_plane *plane);

/* Why the leading mapper of this process has no routes; NULL if none leads or it has routes. The
 * plane owns the text. */
const char *control_plane_why(const struct control_plane *plane);

/* ---- For one other thread. */

/* As of the last poll: all devices of this process use tables, none is paused, and each host has a
 * route to every other host of the topology. */
bool control_plane_is_routed(const struct control_plane *plane);

/* Sets the topology to use from the next poll on; it must outlive the plane. Removed devices are
 * absent from it and do not count. The discovered fabric is compared with it if it was compared
 * with the previous topology. */
void control_plane_renew(struct control_plane *plane, const struct topology *topology);

/* Queues a request for the next poll; returns false if the queue is full.
 *     status PATH      writes the state of agents and mappers as JSON
 *     map HOST PATH    writes the topology that this host's mapper has found, if any
 * The file appears complete or not at all. */
bool control_plane_ask(struct control_plane *plane, const char *request);

/* The switch's form of 'image', which table_image_check() accepted for it. The tables have 'hosts'
 * destinations, however many the image has. NULL with errno ENOMEM. */
struct switch_tables *control_switch_tables(const uint8_t *image, unsigned ports, uint32_t hosts);
