/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands from one loop, the leader, to all loops including itself, and their acknowledgements. A
 * loop changes its hosts' traffic sources while it executes a command. Until all loops are done,
 * the leader must neither read sources nor give a further command. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct loop_commands {
	atomic_uint given;   /* written by the leader after the command's contents */
	atomic_uint pending; /* loops that have not completed the last command */
};

/* Gives a command. For the leader, if loop_commands_done(). */
static inline void loop_commands_give(struct loop_commands *orders, unsigned loops)
{
	atomic_store_explicit(&orders->pending, loops, memory_order_relaxed);
	atomic_fetch_add_explicit(&orders->given, 1, memory_order_release);
}

/* Returns true if there is a command that this loop has not seen. 'seen' is the loop's own. */
static inline bool loop_commands_take(const struct loop_commands *orders, unsigned *seen)
{
	unsigned given = atomic_load_explicit(&orders->given, memory_order_acquire);
	bool fresh = given != *seen;

	*seen = given;
	return fresh;
}

/* Acknowledges the command that loop_commands_take() reported. For each loop. */
static inline void loop_commands_obeyed(struct loop_commands *orders)
{
	atomic_fetch_sub_explicit(&orders->pending, 1, memory_order_release);
}

/* Returns true if all loops are done; everything they wrote is then visible. For the leader. */
static inline bool loop_commands_done(const struct loop_commands *orders)
{
	return atomic_load_explicit(&orders->pending, memory_order_acquire) == 0;
}

/* Command to cut the cable at a port or to rejoin it: "s0:1 down", "s0:1 up". */

struct link_command {
	const char *port; /* start of the command's text */
	size_t length;    /* length of the port's name */
	bool cut;
};

/* Parses a link command. Returns false if it is not one. */
static inline bool link_command_parse(const char *text, struct link_command *order)
{
	const char *space = strchr(text, ' ');
	bool down = space != NULL && strcmp(space, " down") == 0;

	if (space == text || (!down && (space == NULL || strcmp(space, " up") != 0)))
		return false;
	*order = (struct link_command){.port = text, .length = (size_t)(space - text), .cut = down};
	return true;
}

static inline bool link_command_names(const struct link_command *order, const char *port)
{
	return strlen(port) == order->length && strncmp(port, order->port, order->length) == 0;
}
