/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The command to cut a cable at a port, or to join it again: "s0:1 down", "s0:1 up". */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct link_command {
	const char *port; /* in the text */
	size_t length;    /* length of its name */
	bool cut;
};

/* False for anything else, which is not such a command. */
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
