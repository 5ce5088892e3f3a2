/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Stores frames by place in the fabric, with lookup by identity. Each list keeps its order. */

#include "audit_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/rng.h"

static uint64_t key_of(uint64_t identity, uint32_t place)
{
	return rng_mix(identity ^ ((uint64_t)place << 32 | place));
}

static void list_append(struct audit *audit, struct audit_list *list, uint32_t index)
{
	struct audit_frame *frame = &audit->frame[index];

	frame->list = list;
	frame->next = AUDIT_NONE;
	frame->prev = list->last;
	if (list->last == AUDIT_NONE)
		list->first = index;
	else
		audit->frame[list->last].next = index;
	list->last = index;
}

static void list_remove(struct audit *audit, uint32_t index)
{
	struct audit_frame *frame = &audit->frame[index];
	struct audit_list *list = frame->list;

	if (list == NULL)
		return;
	if (frame->prev == AUDIT_NONE)
		list->first = frame->next;
	else
		audit->frame[frame->prev].next = frame->next;
	if (frame->next == AUDIT_NONE)
		list->last = frame->prev;
	else
		audit->frame[frame->next].prev = frame->prev;
	frame->list = NULL;
}

static bool grow_buckets(struct audit *audit)
{
	uint32_t buckets = audit->buckets == 0 ? 1024 : 2 * audit->buckets;
	uint32_t *bucket = malloc(buckets * sizeof(*bucket));

	if (bucket == NULL)
		return false;
	memset(bucket, 0xFF, buckets * sizeof(*bucket));
	for (uint32_t i = 0; i < audit->buckets; i++) {
		uint32_t reversed = AUDIT_NONE, next;

		/* Keep the order of the chain: the oldest frame comes last. */
		for (uint32_t at = audit->bucket[i]; at != AUDIT_NONE; at = next) {
			next = audit->frame[at].chain;
			audit->frame[at].chain = reversed;
			reversed = at;
		}
		for (uint32_t at = reversed; at != AUDIT_NONE; at = next) {
			struct audit_frame *frame = &audit->frame[at];
			uint32_t to =
				(uint32_t)key_of(frame->identity, frame->place) & (buckets - 1);

			next = frame->chain;
			frame->chain = bucket[to];
			bucket[to] = at;
		}
	}
	free(audit->bucket);
	audit->bucket = bucket;
	audit->buckets = buckets;
	return true;
}

static uint32_t *bucket_of(const struct audit *audit, uint64_t identity, uint32_t place)
{
	return &audit->bucket[(uint32_t)key_of(identity, place) & (audit->buckets - 1)];
}

uint32_t audit_keep(struct audit *audit, const struct audit_frame *frame, uint32_t place,
	struct audit_list *list)
{
	uint32_t index = audit->spare, *bucket;

	if (audit->hashed >= audit->buckets && !grow_buckets(audit)) {
		audit->failed = true;
		return AUDIT_NONE;
	}
	if (index != AUDIT_NONE) {
		audit->spare = audit->frame[index].next;
	} else if (array_reserve(&audit->frame, &audit->room, audit->frames + 1u,
			   sizeof(*audit->frame))) {
		index = audit->frames++;
	} else {
		audit->failed = true;
		return AUDIT_NONE;
	}
	audit->frame[index] = *frame;
	audit->frame[index].place = place;
	audit->frame[index].list = NULL;
	bucket = bucket_of(audit, frame->identity, place);
	audit->frame[index].chain = *bucket;
	*bucket = index;
	audit->hashed++;
	if (list != NULL)
		list_append(audit, list, index);
	return index;
}

uint32_t audit_find(const struct audit *audit, uint64_t identity, uint32_t place)
{
	uint32_t found = AUDIT_NONE;

	if (audit->buckets == 0)
		return AUDIT_NONE;
	for (uint32_t at = *bucket_of(audit, identity, place); at != AUDIT_NONE;
		at = audit->frame[at].chain)
		if (audit->frame[at].identity == identity && audit->frame[at].place == place)
			found = at;
	return found;
}

uint32_t audit_find_next(const struct audit *audit, uint32_t index)
{
	const struct audit_frame *frame;
	uint32_t found = AUDIT_NONE;

	if (index == AUDIT_NONE)
		return AUDIT_NONE;
	frame = &audit->frame[index];
	for (uint32_t at = *bucket_of(audit, frame->identity, frame->place); at != index;
		at = audit->frame[at].chain)
		if (audit->frame[at].identity == frame->identity &&
			audit->frame[at].place == frame->place)
			found = at;
	return found;
}

struct audit_frame *audit_take(struct audit *audit, uint32_t index)
{
	struct audit_frame *frame = &audit->frame[index];
	uint64_t key = key_of(frame->identity, frame->place);
	uint32_t *at = bucket_of(audit, frame->identity, frame->place);

	while (*at != index)
		at = &audit->frame[*at].chain;
	*at = frame->chain;
	audit->hashed--;
	list_remove(audit, index);
	if (!frame->waits)
		audit->ghost[key % AUDIT_GHOSTS] = (struct audit_ghost){key, frame->seen.number};
	frame->next = audit->spare;
	audit->spare = index;
	return frame;
}

uint64_t audit_ghost_of(const struct audit *audit, const struct audit_frame *frame)
{
	uint64_t key = key_of(frame->identity, frame->place);
	const struct audit_ghost *ghost = &audit->ghost[key % AUDIT_GHOSTS];

	return ghost->key == key ? ghost->number : 0;
}

void audit_pass(struct audit *audit, uint32_t index, const struct audit_mark *mark)
{
	uint32_t prev;

	if (audit->frame[index].list == NULL)
		return; /* nothing is ahead of it, or it was itself overtaken */
	for (uint32_t at = audit->frame[index].prev; at != AUDIT_NONE; at = prev) {
		prev = audit->frame[at].prev;
		if (!audit->rules.exact && audit->frame[at].seen.time_ns <
						   audit->rules.complete_ns + AUDIT_CONTROL_NS) {
			if (audit->frame[at].place < audit->devices)
				audit_release(audit, &audit->frame[at]);
			audit_take(audit, at);
			continue;
		}
		list_remove(audit, at);
		audit->frame[at].passed = true;
		audit->frame[at].passer = *mark;
	}
}
