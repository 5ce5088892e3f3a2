/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Commands from one loop, the leader, to all loops, including the leader itself, and the
 * acknowledgements of the loops. A loop changes the sources of its hosts while it carries out a
 * command: until all loops are done the leader reads no sources and gives no further command. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct loop_commands {
	atomic_uint given;   /* written by the leader, after the command's contents */
	atomic_uint pending; /* loops that have not done the last command yet */
};

/* The leader's, when loop_commands_done(). */
static inline void loop_commands_give(struct loop_commands *orders, unsigned loops)
{
	atomic_store_explicit(&orders->pending, loops, memory_order_relaxed);
	atomic_fetch_add_explicit(&orders->given, 1, memory_order_release);
}

/* For a loop, with its own 'seen': true if there is a command that it has not seen yet. */
static inline bool loop_commands_take(const struct loop_commands *orders, unsigned *seen)
{
	unsigned given = atomic_load_explicit(&orders->given, memory_order_acquire);
	bool fresh = given != *seen;

	*seen = given;
	return fresh;
}

/* For a loop, when it has done what loop_commands_take() found. */
static inline void loop_commands_obeyed(struct loop_commands *orders)
{
	atomic_fetch_sub_explicit(&orders->pending, 1, memory_order_release);
}

/* For the leader: true if all loops are done; everything that they wrote before is then visible. */
static inline bool loop_commands_done(const struct loop_commands *orders)
{
	return atomic_load_explicit(&orders->pending, memory_order_acquire) == 0;
}

/* The command to cut a cable at a port, or to join it again: "s0:1 down", "s0:1 up". */

struct link_command {
	const char *port; /* in the text */
	size_t length;    /* length of its name */
	bool cut;
};

/* Returns false for any other text. */
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
