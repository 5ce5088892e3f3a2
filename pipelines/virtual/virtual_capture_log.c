/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_capture_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 65536u

static size_t bytes_of(const struct capture_entry *entry)
{
	size_t bytes = sizeof(*entry) + entry->captured_bytes + entry->comment_bytes;

	return (bytes + _Alignof(struct capture_entry) - 1) & ~(_Alignof(struct capture_entry) - 1);
}

int capture_log_add(struct capture_log *log, const struct capture_entry *entry,
	const uint8_t *frame, const char *comment)
{
	size_t room = log->room > 0 ? log->room : ROOM_FIRST;
	uint8_t *out;

	while (room < log->used + bytes_of(entry))
		room *= 2;
	if (room != log->room) {
		uint8_t *larger = realloc(log->bytes, room);

		if (larger == NULL)
			return -ENOMEM;
		log->bytes = larger;
		log->room = room;
	}
	out = log->bytes + log->used;
	memcpy(out, entry, sizeof(*entry));
	memcpy(out + sizeof(*entry), frame, entry->captured_bytes);
	memcpy(out + sizeof(*entry) + entry->captured_bytes, comment, entry->comment_bytes);
	log->used += bytes_of(entry);
	return 0;
}

static const struct capture_entry *first_of(const struct capture_log *log)
{
	return log->taken < log->used
		       ? (const struct capture_entry *)(const void *)(log->bytes + log->taken)
		       : NULL;
}

/* Two events of one time and order are of one device, so of one log. */
static bool is_before(const struct capture_entry *a, const struct capture_entry *b)
{
	if (a->at != b->at)
		return a->at < b->at;
	if (a->order != b->order)
		return a->order < b->order;
	return a->between < b->between;
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
