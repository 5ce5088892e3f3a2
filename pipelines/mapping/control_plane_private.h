/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Structs and functions that the files of the control plane (control_*.c) share. */

#include <stdatomic.h>

#include "base/record_ring.h"
#include "control_plane.h"

#define CONTROL_WHY_MAX (ERROR_TEXT + 128)

struct control_mapper {
	struct mapper mapper;
	bool changing;    /* as of the last poll */
	uint32_t settled; /* generation in use at the end of the last change */
	weft_time began;  /* start of the present change */
	/* A request to the agent of the same host, held until the loop has made an iteration. */
	struct mapper_frame local;
	bool local_waits;
	uint64_t local_since;                   /* the loop's iterations when the request arrived */
	weft_time first_map_ps, last_change_ps; /* durations; 0: none yet */
	char fallback_reported[CONTROL_WHY_MAX];
	char *miscabled; /* lines: differences from the expected topology; NULL: unknown */
};

struct control_device {
	struct control_plane_device config;
	struct device_control *control;
	struct mapper_agent agent;
	struct control_mapper *mapper; /* NULL: no candidate */
	char name[MAPPER_NAME_MAX + 1];
	uint16_t reached;          /* hosts: destinations with a route */
	bool tables_due;           /* not installed for lack of memory; will be retried */
	uint64_t tables_no_memory; /* failed attempts */
};

#define CONTROL_MESSAGES_MAX 16

struct control_message {
	char *text;
	bool warning;
};

struct control_plane {
	struct control_plane_config config;
	struct control_device *device;
	unsigned devices;
	struct record_ring *requests;             /* written by another thread */
	_Atomic(const struct topology *) renewed; /* the same; NULL: none since the last poll */
	atomic_bool routed;
	bool busy;
	struct mapper_frame answer, question;
	struct control_message messages[CONTROL_MESSAGES_MAX]; /* oldest first */
	unsigned messages_count;
};

/* "h3", or the identity in hexadecimal for a device that is not a host of the topology. */
void control_plane_name_of(const struct control_plane *plane, uint64_t id, char out[64]);

/* control_changes.c: why the fallback algorithm computed the routes, and what they lack; "" if the
 * configured algorithm computed them. */
void control_mapper_fallback_reason(const struct control_plane *plane,
	const struct control_mapper *mapper, char out[CONTROL_WHY_MAX]);

/* Its device was removed from the lab. */
bool control_device_is_absent(
	const struct control_plane *plane, const struct control_device *device);

/* control_changes.c: compares the map of a mapper that leads with the expected topology. */
void control_mapper_compare(struct control_plane *plane, const struct control_device *device);

/* control_changes.c: measures and reports the mapper's changes. */
void control_mapper_watch(
	struct control_plane *plane, const struct control_device *device, weft_time wall);

/* control_status.c: serves a request of control_plane_ask(). */
void control_plane_serve(const struct control_plane *plane, const char *request, weft_time now);

/* control_routes.c: serves "MAPPER FROM TO PATH": writes the paths between two hosts. */
void control_serve_routes(const struct control_plane *plane, const char *request);

/* control_routes.c: as control_switch_tables(); '*reached' is the number of destinations with a
 * route. */
struct host_tables *control_host_tables(const uint8_t *image, uint16_t hosts, uint16_t *reached);
