/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "web_server.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384

struct event {
	unsigned users; /* viewers to which it is being sent, plus the list if it is the newest */
	uint64_t number;
	size_t bytes;
	char *text;
};

struct viewer {
	struct web_events *events;
	struct MHD_Connection *connection;
	struct event *event; /* under way; NULL: none */
	size_t sent;
	uint64_t seen; /* number of the last */
	struct viewer *next_waiting;
};

struct web_events {
	pthread_mutex_t lock; /* guards everything */
	struct event *newest; /* NULL: none yet */
	uint64_t count;
	unsigned viewers;
	bool ended;
	struct viewer *waiting;
};

static void release(struct event *event)
{
	if (event == NULL || --event->users > 0)
		return;
	free(event->text);
	free(event);
}

struct web_events *web_events_create(void)
{
	struct web_events *events = calloc(1, sizeof(*events));

	if (events != NULL)
		pthread_mutex_init(&events->lock, NULL);
	return events;
}

void web_events_destroy(struct web_events *events)
{
	if (events == NULL)
		return;
	release(events->newest);
	pthread_mutex_destroy(&events->lock);
	free(events);
}

/* Checked under the lock: a resume between the check and the suspension would be lost. */
static void wait_for_event(struct viewer *viewer)
{
	struct web_events *events = viewer->events;

	viewer->next_waiting = events->waiting;
	events->waiting = viewer;
	MHD_suspend_connection(viewer->connection);
}

static ssize_t send_some(struct viewer *viewer, char *out, size_t room)
{
	struct event *event = viewer->event;
	size_t rest = event->bytes - viewer->sent, bytes = rest < room ? rest : room;

	memcpy(out, event->text + viewer->sent, bytes);
	viewer->sent += bytes;
	if (viewer->sent == event->bytes) {
		release(event);
		viewer->event = NULL;
	}
	return (ssize_t)bytes;
}

static ssize_t read_stream(void *ctx, uint64_t position, char *out, size_t room)
{
	struct viewer *viewer = ctx;
	struct web_events *events = viewer->events;
	ssize_t bytes = 0;

	pthread_mutex_lock(&events->lock);
	if (viewer->event == NULL && events->newest != NULL &&
		events->newest->number > viewer->seen) {
		viewer->event = events->newest;
		viewer->event->users++;
		viewer->seen = viewer->event->number;
		viewer->sent = 0;
	}
	if (events->ended)
		bytes = MHD_CONTENT_READER_END_OF_STREAM;
	else if (viewer->event != NULL)
		bytes = send_some(viewer, out, room);
	else
		wait_for_event(viewer);
	pthread_mutex_unlock(&events->lock);
	return bytes;
}

/* A suspended connection cannot end before it is resumed. */
static void leave(void *ctx)
{
	struct viewer *viewer = ctx;
	struct web_events *events = viewer->events;

	pthread_mutex_lock(&events->lock);
	release(viewer->event);
	events->viewers--;
	pthread_mutex_unlock(&events->lock);
	free(viewer);
}

struct MHD_Response *web_events_answer(struct web_events *events, struct MHD_Connection *connection)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));
	struct MHD_Response *response;

	if (viewer == NULL)
		return NULL;
	viewer->events = events;
	viewer->connection = connection;
	response = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, viewer, leave);
	if (response == NULL) {
		free(viewer);
		return NULL;
	}
	pthread_mutex_lock(&events->lock);
	/* Without viewers the lab is not queried, so the newest event may be old. */
	if (events->viewers++ == 0) {
		release(events->newest);
		events->newest = NULL;
	}
	pthread_mutex_unlock(&events->lock);
	return response;
}

unsigned web_events_viewers(struct web_events *events)
{
	unsigned viewers;

	pthread_mutex_lock(&events->lock);
	viewers = events->viewers;
	pthread_mutex_unlock(&events->lock);
	return viewers;
}

/* Under the lock. */
static void wake_all(struct web_events *events)
{
	struct viewer *viewer = events->waiting, *next;

	events->waiting = NULL;
	for (; viewer != NULL; viewer = next) {
		next = viewer->next_waiting;
		MHD_resume_connection(viewer->connection);
	}
}

static struct event *make_event(const char *line, uint64_t number)
{
	struct event *event = calloc(1, sizeof(*event));
	FILE *out;

	if (event == NULL)
		return NULL;
	event->users = 1;
	event->number = number;
	out = open_memstream(&event->text, &event->bytes);
	if (out == NULL) {
		free(event);
		return NULL;
	}
	fprintf(out, "id: %" PRIu64 "\ndata: %s\n\n", number, line);
	if (fclose(out) == 0)
		return event;
	release(event);
	return NULL;
}

void web_events_push(struct web_events *events, char *line)
{
	struct event *event;

	pthread_mutex_lock(&events->lock);
	event = line != NULL ? make_event(line, events->count + 1) : NULL;
	if (event != NULL) {
		events->count++;
		release(events->newest);
		events->newest = event;
		wake_all(events);
	}
	pthread_mutex_unlock(&events->lock);
	free(line);
}

void web_events_end(struct web_events *events)
{
	pthread_mutex_lock(&events->lock);
	events->ended = true;
	wake_all(events);
	pthread_mutex_unlock(&events->lock);
}
