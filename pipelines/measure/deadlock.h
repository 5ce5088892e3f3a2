/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Finds circular waits in the live buffers of switches: cycles in which each channel can advance
 * only after the next one. Fabrics on both clocks use this search. It only reads the switches,
 * which must not change during the search. */

#include <stdbool.h>

#include "experiment/result/run_result.h"
#include "switch/switch.h"
#include "topo/topology.h"

#define DEADLOCK_CIRCLE_MAX 64 /* maximum number of recorded channels of a cycle */

/* Parts of a fabric that the search needs. */
struct deadlock_view {
	const struct topology *topology;
	/* Switches by number; NULL: in another process, assumed able to send. */
	struct weft_switch *const *sw;
	weft_time now;
};

struct deadlock_circle {
	struct topology_port
		port[DEADLOCK_CIRCLE_MAX]; /* each sends into one of the cycle's buffers */
	unsigned channels;                 /* 0: no cycle found; may exceed DEADLOCK_CIRCLE_MAX */
};

/* A queue head that lacks credits. A buffer is a switch's input and VC, or represents a host. */
struct deadlock_head {
	uint32_t buffer; /* buffer that stores the head */
	uint32_t awaits; /* buffer that the head waits for */
	uint32_t room;   /* capacity of 'buffer' in blocks; 0: a host */
	uint32_t queued; /* blocks in the head's queue */
	uint32_t needs;  /* size of the head in blocks */
	uint8_t output;  /* output of the head's queue */
	bool dead;       /* set by deadlock_search(): the head will never advance */
	weft_time waited_ps;
	weft_time since; /* when the head ran out of credits; 0: unknown */
};

/* An empty list is zeroed. Lists from several processes can be concatenated. */
struct deadlock_heads {
	struct deadlock_head *head;
	size_t count, room;
};

/* Grows the array to hold at least 'count' heads. Returns 0 or -ENOMEM. */
int deadlock_heads_reserve(struct deadlock_heads *heads, size_t count);
void deadlock_heads_free(struct deadlock_heads *heads);

/* Returns the input port that the buffer belongs to, or the host's port. */
struct topology_port deadlock_input(uint32_t buffer);
bool deadlock_is_host(const struct deadlock_head *head);

/* Appends the heads in the switches that have lacked credits for at least 'age_ps' (0: all that
 * lack credits now), except those that wait for hosts, because hosts accept every frame. Returns 0
 * or -ENOMEM. */
int deadlock_collect(
	const struct deadlock_view *view, weft_time age_ps, struct deadlock_heads *heads);
/* Like deadlock_collect(), for the switch with this number only, or for one of its shards. */
int deadlock_collect_switch(const struct deadlock_view *view, uint32_t number,
	const struct weft_switch *sw, weft_time age_ps, struct deadlock_heads *heads);
/* Appends a host that has had frames of at least 'needs' blocks in each VC of the set 'vcs' since
 * 'since', but credits in none of these VCs. Returns 0 or -ENOMEM. */
int deadlock_collect_host(const struct deadlock_view *view, uint32_t host, uint32_t vcs,
	uint32_t needs, weft_time since, struct deadlock_heads *heads);

/* Merges heads that several threads or processes collected at different times: keeps the heads
 * of 'before' that are still waiting in 'now', a collection that started later. All of them were
 * waiting at one instant between the two, so a cycle among them is real. Sorts both lists. */
void deadlock_keep_common(struct deadlock_heads *before, struct deadlock_heads *now);
/* deadlock_heads_json() returns an array of number arrays, or NULL if out of memory.
 * deadlock_heads_read() appends the heads of such an array; it returns 0, -ENOMEM, or -EINVAL if
 * the array is invalid for this topology. */
json_t *deadlock_heads_json(const struct deadlock_heads *heads);
int deadlock_heads_read(
	struct deadlock_heads *heads, const json_t *list, const struct topology *topology);

/* Sorts the heads, marks the dead ones, and finds a cycle of channels that wait for each other.
 * Such channels never carry anything again unless a watchdog discards packets. Stores the cycle's
 * first 'room' channels, by the ports that feed them. Returns its length (0: none) or -ENOMEM. */
int deadlock_search(struct deadlock_heads *heads, const struct topology *topology,
	struct topology_port *cycle, unsigned room);

/* Adds the cycle, if any, to a result. Returns 0 or -ENOMEM. */
int deadlock_result(const struct deadlock_circle *circle, const struct topology *topology,
	struct run_result *result);
