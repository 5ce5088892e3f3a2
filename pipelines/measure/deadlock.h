/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Finds circular waits in the live buffers of switches: cycles of channels in which each can
 * advance only after the next one has. The fabrics of both clocks use it. It only reads the
 * switches, which must not change meanwhile. */

#include <stdbool.h>

#include "experiment/result/run_result.h"
#include "switch/switch.h"
#include "topo/topology.h"

#define DEADLOCK_CIRCLE_MAX 64 /* channels of a cycle that are recorded */

/* The parts of a fabric that the search needs. */
struct deadlock_view {
	const struct topology *topology;
	/* By number; NULL: in another process, assumed able to send. */
	struct weft_switch *const *sw;
	weft_time now;
};

struct deadlock_circle {
	struct topology_port port[DEADLOCK_CIRCLE_MAX]; /* that send into its buffers */
	unsigned channels;                              /* 0: none was found; there may be more */
};

/* The head of a queue that lacks credits. A buffer belongs to an input and a VC of a switch, or
 * stands for a host. */
struct deadlock_head {
	uint32_t buffer; /* the buffer that it is in */
	uint32_t awaits; /* the buffer that it waits for */
	uint32_t room;   /* blocks that its own buffer can hold; 0: a host */
	uint32_t queued; /* blocks in its queue */
	uint32_t needs;  /* blocks of the head */
	uint8_t output;  /* its own */
	bool dead;       /* set by deadlock_search(): will never advance */
	weft_time waited_ps;
	weft_time since; /* when it was first found without credits; 0: unknown */
};

/* All zeros: empty. Lists from the switches of several processes can be concatenated. */
struct deadlock_heads {
	struct deadlock_head *head;
	size_t count, room;
};

/* Makes room for this many. Returns 0 or -ENOMEM. */
int deadlock_heads_reserve(struct deadlock_heads *heads, size_t count);
void deadlock_heads_free(struct deadlock_heads *heads);

/* The input port that the buffer belongs to; a host's port. */
struct topology_port deadlock_input(uint32_t buffer);
bool deadlock_is_host(const struct deadlock_head *head);

/* Adds the heads in the switches that have lacked credits for 'age_ps' (0: all that lack some now).
 * Heads that wait for a host are left out, because a host takes every frame. Returns 0 or
 * -ENOMEM. */
int deadlock_collect(
	const struct deadlock_view *view, weft_time age_ps, struct deadlock_heads *heads);
/* The same for a single switch with this number, or for a shard of one. */
int deadlock_collect_switch(const struct deadlock_view *view, uint32_t number,
	const struct weft_switch *sw, weft_time age_ps, struct deadlock_heads *heads);
/* Adds a host that, since 'since', has had frames of at least 'needs' blocks in the VCs of the set
 * 'vcs', but no credits for any of them. Returns 0 or -ENOMEM. */
int deadlock_collect_host(const struct deadlock_view *view, uint32_t host, uint32_t vcs,
	uint32_t needs, weft_time since, struct deadlock_heads *heads);

/* For heads that several threads or processes collected, each at its own time. Keeps the heads in
 * 'before' that still wait in 'now', a collection that started later. They all waited at one
 * instant between the two, so a cycle of them is real. Sorts both. */
void deadlock_keep_common(struct deadlock_heads *before, struct deadlock_heads *now);
/* The first writes [[…]] of numbers; it returns NULL if memory ran out. The second adds such a
 * list, and returns 0, -ENOMEM, or -EINVAL if it is not a list of this topology. */
json_t *deadlock_heads_json(const struct deadlock_heads *heads);
int deadlock_heads_read(
	struct deadlock_heads *heads, const json_t *list, const struct topology *topology);

/* Sorts the heads, marks the dead ones, and finds a cycle: channels that wait for each other and
 * will never carry anything again, unless a watchdog discards. Returns their number (0: no cycle)
 * or -ENOMEM, and the first 'room' of them, by the ports that send into them. */
int deadlock_search(struct deadlock_heads *heads, const struct topology *topology,
	struct topology_port *cycle, unsigned room);

/* Puts the cycle, if there is one, into a result. Returns 0 or -ENOMEM. */
int deadlock_result(const struct deadlock_circle *circle, const struct topology *topology,
	struct run_result *result);
