/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of a control plane, shared by its files (control_*.c) and nobody else. */

#include <stdatomic.h>

#include "control_plane.h"
#include "record_ring.h"

#define CONTROL_WHY_MAX (FAULT_TEXT + 128)

struct control_mapper {
	struct mapper mapper;
	bool changing;    /* as of the last turn */
	uint32_t settled; /* generation that was in use when nothing was changing */
	weft_time began;  /* when the present change began */
	/* A question of this mapper to the agent beside it, until the loop has looked. */
	struct mapper_frame local;
	bool local_waits;
	uint64_t local_since;                   /* turns of the loop when it came */
	weft_time first_map_ps, last_change_ps; /* how long they took; 0: none yet */
	char told[CONTROL_WHY_MAX];             /* the last reason for other routes that was told */
	char *miscabled; /* lines: what differs from what is expected; NULL: not known */
};

struct control_device {
	struct control_plane_device config;
	struct device_control *control;
	struct mapper_agent agent;
	struct control_mapper *mapper; /* NULL: no candidate */
	char name[MAPPER_NAME_MAX + 1];
	uint16_t reached;    /* of a host: destinations with a route */
	bool tables_due;     /* there was no memory for them */
	uint64_t not_tables; /* times that there was none */
};

#define CONTROL_NEWS_MAX 16

struct control_message {
	char *text;
	bool warning;
};

struct control_plane {
	struct control_plane_config config;
	struct control_device *device;
	unsigned devices;
	struct record_ring *requests; /* written by another thread */
	atomic_bool routed;
	bool busy;
	struct mapper_frame answer, question;
	struct control_message messages[CONTROL_NEWS_MAX]; /* the oldest first */
	unsigned messages_count;
};

/* "h3", or its identity in hexadecimal if it does not live here. */
void control_plane_name_of(const struct control_plane *plane, uint64_t id, char out[64]);

/* In control_changes.c: why another algorithm than the file's has made the routes, and what that
 * takes away; "" if none has. */
void control_mapper_why_instead(const struct control_plane *plane,
	const struct control_mapper *mapper, char out[CONTROL_WHY_MAX]);

/* In control_changes.c: notes what has come of a mapper's work. */
void control_mapper_watch(
	struct control_plane *plane, const struct control_device *device, weft_time wall);

/* In control_status.c: does what control_plane_ask() was told. */
void control_plane_serve(const struct control_plane *plane, const char *request, weft_time now);
