/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "capture_file.h"

#define SLOTS_DEFAULT  900u /* 9 KiB each: 8 MiB, enough for 50,000 short frames */
#define SNAP_BYTES_MAX 65535u

struct known_port {
	struct port *port;
	struct capture *capture; /* created at the first capture, freed with the manager */
};

struct capture_manager {
	struct capture_options options;
	pthread_mutex_t lock; /* serialises commands */
	struct known_port *port;
	unsigned ports, ports_room;
	struct capture_file **file;
	unsigned files, files_room;
	struct capture_filter **filter; /* all ever used: a data plane may still read them */
	unsigned filters, filters_room;
	char failed[ERROR_TEXT]; /* error of the last file that ended on its own */
};

static void point_destroy(struct known_port *known)
{
	if (known->capture != NULL) {
		record_ring_destroy(known->capture->ring);
		free(known->capture->held);
	}
	free(known->capture);
	known->capture = NULL;
}

static int point_create(struct known_port *known, const struct capture_options *options)
{
	known->capture = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*known->capture));
	if (known->capture == NULL)
		return -ENOMEM;
	memset(known->capture, 0, sizeof(*known->capture));
	known->capture->snap_bytes = options->snap_bytes;
	known->capture->drops = options->drops;
	known->capture->held = calloc(1, sizeof(*known->capture->held));
	known->capture->ring = record_ring_create(
		sizeof(struct capture_slot) + options->snap_bytes, options->slots);
	if (known->capture->ring != NULL && known->capture->held != NULL)
		return 0;
	point_destroy(known);
	return -ENOMEM;
}

static void file_remove(struct capture_manager *manager, unsigned i)
{
	struct capture_file *file = manager->file[i];
	char path[ERROR_TEXT / 2];
	int result;

	snprintf(path, sizeof(path), "%s", capture_file_path(file));
	result = capture_file_close(file);
	manager->file[i] = manager->file[--manager->files];
	if (result < 0)
		snprintf(manager->failed, sizeof(manager->failed), "capture into %s ended: %s",
			path, strerror(-result));
}

static void reap(struct capture_manager *manager)
{
	for (unsigned i = manager->files; i-- > 0;)
		if (capture_file_idle(manager->file[i]))
			file_remove(manager, i);
}

static struct capture_file *file_find_path(struct capture_manager *manager, const char *path)
{
	for (unsigned i = 0; i < manager->files; i++)
		if (strcmp(capture_file_path(manager->file[i]), path) == 0)
			return manager->file[i];
	return NULL;
}

static struct capture_file *file_of(struct capture_manager *manager, const struct port *port)
{
	for (unsigned i = 0; i < manager->files; i++)
		if (capture_file_has(manager->file[i], port))
			return manager->file[i];
	return NULL;
}

static struct capture_file *file_get(
	struct capture_manager *manager, const char *path, struct error *error)
{
	struct capture_file *file = file_find_path(manager, path);

	if (file != NULL)
		return file;
	if (!array_reserve(&manager->file, &manager->files_room, manager->files + 1u,
		    sizeof(struct capture_file *))) {
		errno = -error_set(error, ENOMEM, "%s: not enough memory for a capture", path);
		return NULL;
	}
	file = capture_file_open(path, &manager->options, error);
	if (file != NULL)
		manager->file[manager->files++] = file;
	return file;
}

static bool matches(const struct known_port *known, const char *name)
{
	return strcmp(name, "all") == 0 || strcmp(name, known->port->name) == 0;
}

/* Returns the manager's copy, or NULL if out of memory. */
static const struct capture_filter *keep_filter(
	struct capture_manager *manager, const struct capture_filter *filter)
{
	struct capture_filter *kept;

	for (unsigned i = 0; i < manager->filters; i++)
		if (memcmp(manager->filter[i], filter, sizeof(*filter)) == 0)
			return manager->filter[i];
	if (!array_reserve(&manager->filter, &manager->filters_room, manager->filters + 1u,
		    sizeof(struct capture_filter *)))
		return NULL;
	kept = malloc(sizeof(*kept));
	if (kept != NULL)
		*(manager->filter[manager->filters++] = kept) = *filter;
	return kept;
}

static int start_one(struct capture_manager *manager, struct known_port *known,
	struct capture_file *file, const struct capture_filter *filter, struct error *error)
{
	int result = 0;

	if (known->capture == NULL)
		result = point_create(known, &manager->options);
	if (result == 0) {
		memset(known->capture->held, 0, sizeof(*known->capture->held));
		atomic_store(&known->capture->filter, filter);
	}
	if (result == 0)
		result = capture_file_add(file, known->port, known->capture);
	if (result < 0)
		error_set(error, -result, "%s: cannot be captured into %s: %s", known->port->name,
			capture_file_path(file), strerror(-result));
	return result;
}

/* Checks that a matching port exists and is not captured yet. "all" skips captured ports. */
static int check_start(struct capture_manager *manager, const char *name, struct error *error)
{
	unsigned matching = 0, busy = 0;

	for (unsigned i = 0; i < manager->ports; i++)
		if (matches(&manager->port[i], name)) {
			matching++;
			busy += file_of(manager, manager->port[i].port) != NULL;
		}
	if (matching == 0)
		return error_set(error, ENOENT, "%s: no such port here", name);
	if (busy == matching)
		return error_set(error, EBUSY, "%s: is already being captured", name);
	return 0;
}

static int start_locked(struct capture_manager *manager, const char *name, const char *path,
	const struct capture_filter *filter, struct error *error)
{
	struct capture_file *file;
	int result;

	reap(manager);
	result = check_start(manager, name, error);
	if (result < 0)
		return result;
	if (filter != NULL && (filter = keep_filter(manager, filter)) == NULL)
		return error_set(error, ENOMEM, "%s: not enough memory for a capture", path);
	file = file_get(manager, path, error);
	if (file == NULL)
		return -errno;
	for (unsigned i = 0; i < manager->ports && result == 0; i++)
		if (matches(&manager->port[i], name) &&
			file_of(manager, manager->port[i].port) == NULL)
			result = start_one(manager, &manager->port[i], file, filter, error);
	reap(manager);
	return result;
}

int capture_start(struct capture_manager *manager, const char *port_name, const char *path,
	const struct capture_filter *filter, struct error *error)
{
	int result;

	pthread_mutex_lock(&manager->lock);
	result = start_locked(manager, port_name, path, filter, error);
	pthread_mutex_unlock(&manager->lock);
	return result;
}

static int stop_locked(struct capture_manager *manager, const char *name,
	struct capture_counts *counts, struct error *error)
{
	unsigned stopped = 0;

	for (unsigned i = 0; i < manager->ports; i++) {
		struct port *port = manager->port[i].port;
		struct capture_file *file =
			matches(&manager->port[i], name) ? file_of(manager, port) : NULL;
		struct capture_counts one;

		if (file == NULL || !capture_file_remove(file, port, &one))
			continue;
		counts->offered += one.offered;
		counts->dropped += one.dropped;
		stopped++;
	}
	reap(manager);
	if (manager->failed[0] != '\0') {
		error_set(error, EIO, "%s", manager->failed);
		manager->failed[0] = '\0';
		return -EIO;
	}
	if (stopped == 0)
		return error_set(error, ENOENT, "%s: is not being captured", name);
	return 0;
}

int capture_stop(struct capture_manager *manager, const char *port_name,
	struct capture_counts *counts, struct error *error)
{
	struct capture_counts sum = {0};
	int result;

	pthread_mutex_lock(&manager->lock);
	result = stop_locked(manager, port_name, &sum, error);
	pthread_mutex_unlock(&manager->lock);
	if (counts != NULL)
		*counts = sum;
	return result;
}

int capture_manager_add_port(struct capture_manager *manager, struct port *port)
{
	int result = -ENOMEM;

	pthread_mutex_lock(&manager->lock);
	if (array_reserve(&manager->port, &manager->ports_room, manager->ports + 1u,
		    sizeof(struct known_port))) {
		manager->port[manager->ports++] = (struct known_port){.port = port};
		result = 0;
	}
	pthread_mutex_unlock(&manager->lock);
	return result;
}

struct capture_manager *capture_manager_create(
	const struct capture_options *options, struct error *error)
{
	struct capture_manager *manager = calloc(1, sizeof(*manager));

	if (manager == NULL) {
		errno = -error_set(error, ENOMEM, "not enough memory for captures");
		return NULL;
	}
	manager->options = *options;
	if (options->slots == 0)
		manager->options.slots = SLOTS_DEFAULT;
	if (options->snap_bytes == 0 || options->snap_bytes > SNAP_BYTES_MAX)
		manager->options.snap_bytes = FRAME_BYTES_MAX;
	pthread_mutex_init(&manager->lock, NULL);
	return manager;
}

void capture_manager_destroy(struct capture_manager *manager)
{
	if (manager == NULL)
		return;
	while (manager->files > 0)
		file_remove(manager, 0);
	for (unsigned i = 0; i < manager->ports; i++)
		point_destroy(&manager->port[i]);
	for (unsigned i = 0; i < manager->filters; i++)
		free(manager->filter[i]);
	free(manager->filter);
	free(manager->file);
	free(manager->port);
	pthread_mutex_destroy(&manager->lock);
	free(manager);
}
