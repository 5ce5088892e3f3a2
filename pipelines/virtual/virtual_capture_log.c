/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 65536u

static size_t bytes_of(const struct capture_entry *entry)
{
	size_t bytes = sizeof(*entry) + entry->captured_bytes + entry->comment_bytes;

	return (bytes + _Alignof(struct capture_entry) - 1) & ~(_Alignof(struct capture_entry) - 1);
}

/* Makes space for this many bytes and returns the end of the log; NULL: out of memory. */
static uint8_t *make_room(struct capture_log *log, size_t bytes)
{
	size_t room = log->room > 0 ? log->room : ROOM_FIRST;
	uint8_t *larger;

	while (room < log->used + bytes)
		room *= 2;
	if (room != log->room) {
		larger = realloc(log->bytes, room);
		if (larger == NULL)
			return NULL;
		log->bytes = larger;
		log->room = room;
	}
	return log->bytes + log->used;
}

int capture_log_add(struct capture_log *log, const struct capture_entry *entry,
	const uint8_t *frame, const char *comment)
{
	uint8_t *out = make_room(log, bytes_of(entry));

	if (out == NULL)
		return -ENOMEM;
	memcpy(out, entry, sizeof(*entry));
	memcpy(out + sizeof(*entry), frame, entry->captured_bytes);
	memcpy(out + sizeof(*entry) + entry->captured_bytes, comment, entry->comment_bytes);
	log->used += bytes_of(entry);
	return 0;
}

/* Returns true if the log consists of complete entries. */
static bool is_log(const struct capture_log *log, uint32_t ports)
{
	size_t at = 0;

	while (at < log->used) {
		const struct capture_entry *entry =
			(const struct capture_entry *)(const void *)(log->bytes + at);
		const char *comment;

		if (log->used - at < sizeof(*entry) || log->used - at < bytes_of(entry) ||
			entry->port >= ports || entry->comment_bytes == 0)
			return false;
		comment = (const char *)(entry + 1) + entry->captured_bytes;
		if (comment[entry->comment_bytes - 1] != '\0')
			return false;
		at += bytes_of(entry);
	}
	return true;
}

int capture_log_copy(struct capture_log *log, const void *bytes, size_t used, uint32_t ports)
{
	log->used = log->taken = 0;
	if (used == 0)
		return 0;
	if (make_room(log, used) == NULL)
		return -ENOMEM;
	memcpy(log->bytes, bytes, used);
	log->used = used;
	return is_log(log, ports) ? 0 : -EINVAL;
}

static const struct capture_entry *first_of(const struct capture_log *log)
{
	return log->taken < log->used
		       ? (const struct capture_entry *)(const void *)(log->bytes + log->taken)
		       : NULL;
}

/* Events with equal time and order belong to one device, and thus to one log, as do all actions of
 * a device in a pause. */
static bool is_before(const struct capture_entry *a, const struct capture_entry *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->order != b->order)
		return a->order < b->order;
	if (a->pause != b->pause)
		return a->pause < b->pause;
	return a->device < b->device;
}

const struct capture_entry *capture_log_take(
	struct capture_log *log, unsigned logs, const uint8_t **frame, const char **comment)
{
	const struct capture_entry *first = NULL;
	struct capture_log *from = NULL;

	for (unsigned i = 0; i < logs; i++) {
		const struct capture_entry *entry = first_of(&log[i]);

		if (entry == NULL || (first != NULL && !is_before(entry, first)))
			continue;
		first = entry;
		from = &log[i];
	}
	if (first == NULL) {
		for (unsigned i = 0; i < logs; i++)
			log[i].used = log[i].taken = 0;
		return NULL;
	}
	from->taken += bytes_of(first);
	*frame = (const uint8_t *)(first + 1);
	*comment = (const char *)*frame + first->captured_bytes;
	return first;
}

void capture_log_free(struct capture_log *log)
{
	free(log->bytes);
	*log = (struct capture_log){0};
}
