/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Server-sent events: every viewer gets the newest one. One that reads too slowly misses those in
 * between; one that does not read at all is closed by the server's timeout. An event is kept once,
 * for all viewers, so that slow ones cost no memory.
 */

#include <microhttpd.h>
#include <stddef.h>

struct web_events;

/* NULL without memory. */
struct web_events *web_events_create(void);
/* After web_events_end(), when the server has stopped. */
void web_events_destroy(struct web_events *events);

/* The endless answer to a viewer, to be queued at once; NULL without memory. */
struct MHD_Response *web_events_answer(
	struct web_events *events, struct MHD_Connection *connection);

/* Streams that are open. Any thread. */
unsigned web_events_viewers(struct web_events *events);

/* Sends a line of JSON to all viewers, with the next number. Takes ownership of 'line', from
 * malloc(). Any thread. */
void web_events_publish(struct web_events *events, char *line);

/* Ends all streams, and later ones at once. */
void web_events_end(struct web_events *events);
