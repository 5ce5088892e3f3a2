/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Circles of waiting in the live buffers of switches: channels of which each can only go on when
 * the next one has. The fabrics of both clocks use it. It only reads the switches, which must not
 * change meanwhile.
 */

#include <stdbool.h>

#include "run_result.h"
#include "switch.h"
#include "topology.h"

#define DEADLOCK_CIRCLE_MAX 64 /* channels that are kept of a circle */

/* A fabric, as far as the search wants to know it. */
struct deadlock_view {
	const struct topology *topology;
	struct weft_switch *const *sw; /* by number; NULL: not here, counts as one that can send */
	weft_time now;
};

struct deadlock_circle {
	struct topology_port port[DEADLOCK_CIRCLE_MAX]; /* that send into its buffers */
	unsigned channels;                              /* 0: none was found; may be more */
};

/* A head without credits. A buffer is a switch's, of an input and a VC. */
struct deadlock_head {
	uint32_t buffer; /* that it is in */
	uint32_t awaits; /* that it waits for */
	uint32_t output; /* its own */
};

/* Zeroed: empty. Those of switches of several processes can be put one behind another. */
struct deadlock_heads {
	struct deadlock_head *head;
	size_t count, room;
};

/* Room for so many. 0 or -ENOMEM. */
int deadlock_heads_reserve(struct deadlock_heads *heads, size_t count);
void deadlock_heads_free(struct deadlock_heads *heads);

/* deadlock_find() in two steps: adds the heads of all buffers that cannot move by themselves, 0 or
 * -ENOMEM; and finds the circle in them, which it sorts: the number of its channels, or -ENOMEM. */
int deadlock_collect(
	const struct deadlock_view *view, weft_time age_ps, struct deadlock_heads *heads);
int deadlock_search(struct deadlock_heads *heads, const struct topology *topology,
	struct topology_port *cycle, unsigned room);

/* Channels that wait for each other in a circle: their heads have had no credits for 'age_ps', none
 * that is on its way counts; 0: without any regard to time. Their number, 0 if there is no circle;
 * the first 'room' of them, by the ports that send into them. Allocates. */
unsigned deadlock_find(const struct deadlock_view *view, weft_time age_ps,
	struct topology_port *cycle, unsigned room);

/* False if no head has waited for so long, so that there cannot be a circle. Cheap. */
bool deadlock_is_possible(const struct deadlock_view *view, weft_time age_ps);

/* Puts the circle, if there is one, into a result. 0 or -ENOMEM. */
int deadlock_result(const struct deadlock_circle *circle, const struct topology *topology,
	struct run_result *result);
