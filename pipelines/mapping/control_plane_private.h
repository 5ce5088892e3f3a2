/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Structs and functions shared by the files of the control plane (control_*.c). */

#include <stdatomic.h>

#include "base/record_ring.h"
#include "control_plane.h"

#define CONTROL_WHY_MAX (ERROR_TEXT + 128)

struct control_mapper {
	struct mapper mapper;
	bool changing;    /* a change was in progress at the last poll */
	uint32_t settled; /* generation in use when the last change ended */
	weft_time began;  /* start of the current change */
	/* A request to the agent of the same host, held until the loop has made an iteration. */
	struct mapper_frame local;
	bool local_waits;
	uint64_t local_since;                   /* loop iterations when the request arrived */
	weft_time first_map_ps, last_change_ps; /* durations; 0: none yet */
	char fallback_reported[CONTROL_WHY_MAX];
	char *miscabled; /* differences from the expected topology, one per line; NULL: unknown */
};

struct control_device {
	struct control_plane_device config;
	struct device_control *control;
	struct mapper_agent agent;
	struct control_mapper *mapper; /* NULL: not a candidate */
	char name[MAPPER_NAME_MAX + 1];
	uint16_t reached; /* destinations with a route; hosts only */
	bool tables_due;  /* installing tables failed for lack of memory; will be retried */
	uint64_t tables_no_memory; /* failed attempts to install tables */
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
	struct record_ring *requests; /* written by a different thread */
	_Atomic(const struct topology *)
		renewed; /* written by a different thread; NULL: unchanged since the last poll */
	atomic_bool routed;
	bool busy;
	struct mapper_frame answer, question;
	struct control_message messages[CONTROL_MESSAGES_MAX]; /* oldest first */
	unsigned messages_count;
};

/* Writes the name of a host of the topology ("h3"), or any other identity in hexadecimal. */
void control_plane_name_of(const struct control_plane *plane, uint64_t id, char out[64]);

/* control_changes.c: writes why the fallback algorithm computed the routes, and what these lack; ""
 * if the configured algorithm computed them. */
void control_mapper_fallback_reason(const struct control_plane *plane,
	const struct control_mapper *mapper, char out[CONTROL_WHY_MAX]);

/* Returns true if the device was removed from the lab. */
bool control_device_is_absent(
	const struct control_plane *plane, const struct control_device *device);

/* control_changes.c: compares a leading mapper's map with the expected topology. */
void control_mapper_compare(struct control_plane *plane, const struct control_device *device);

/* control_changes.c: measures and reports the mapper's changes. */
void control_mapper_watch(
	struct control_plane *plane, const struct control_device *device, weft_time wall);

/* control_status.c: handles a request from control_plane_ask(). */
void control_plane_serve(const struct control_plane *plane, const char *request, weft_time now);

/* control_routes.c: handles "MAPPER FROM TO PATH": writes the paths between two hosts to a file. */
void control_serve_routes(const struct control_plane *plane, const char *request);

/* control_routes.c: like control_switch_tables(); sets *reached to the number of routed hosts. */
struct host_tables *control_host_tables(const uint8_t *image, uint16_t hosts, uint16_t *reached);
