/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "arn_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_valid(const struct arn_table_config *config)
{
	return config->hosts > 0 && config->hosts <= FRAME_HOST_NONE && config->entries > 0 &&
	       config->entries <= ARN_ENTRIES_MAX && config->ttl_ps > 0 && config->refresh_ps > 0 &&
	       config->alternative != NULL;
}

struct arn_table *arn_table_create(const struct arn_table_config *config)
{
	struct arn_table *table;

	if (!is_valid(config)) {
		errno = EINVAL;
		return NULL;
	}
	table = calloc(1, sizeof(*table));
	if (table == NULL)
		return NULL;
	table->config = *config;
	table->free = table->oldest = table->newest = ARN_ENTRY_NONE;
	/* Not cleared: most entries are never used, and each is fully written before its first use.
	 */
	table->entry = malloc(config->entries * sizeof(*table->entry));
	table->marked = calloc(config->hosts / 64 + 1, sizeof(*table->marked));
	table->bucket = malloc(ARN_BUCKETS * sizeof(*table->bucket));
	if (table->entry == NULL || table->marked == NULL || table->bucket == NULL) {
		arn_table_destroy(table);
		errno = ENOMEM;
		return NULL;
	}
	memset(table->bucket, 0xFF, ARN_BUCKETS * sizeof(*table->bucket));
	return table;
}

void arn_table_destroy(struct arn_table *table)
{
	if (table == NULL)
		return;
	free(table->entry);
	free(table->marked);
	free(table->bucket);
	free(table);
}

static uint16_t *bucket_of(const struct arn_table *table, uint16_t destination)
{
	return &table->bucket[destination & (ARN_BUCKETS - 1)];
}

/* Appends an entry to the list ordered by age. */
static void append(struct arn_table *table, uint16_t at)
{
	struct arn_entry *entry = &table->entry[at];

	entry->older = table->newest;
	entry->newer = ARN_ENTRY_NONE;
	if (table->newest == ARN_ENTRY_NONE)
		table->oldest = at;
	else
		table->entry[table->newest].newer = at;
	table->newest = at;
}

static void unlink_age(struct arn_table *table, uint16_t at)
{
	const struct arn_entry *entry = &table->entry[at];

	if (entry->older == ARN_ENTRY_NONE)
		table->oldest = entry->newer;
	else
		table->entry[entry->older].newer = entry->newer;
	if (entry->newer == ARN_ENTRY_NONE)
		table->newest = entry->older;
	else
		table->entry[entry->newer].older = entry->older;
}

static bool has_entry(const struct arn_table *table, uint16_t destination)
{
	for (uint16_t at = *bucket_of(table, destination); at != ARN_ENTRY_NONE;
		at = table->entry[at].next)
		if (table->entry[at].arn.destination == destination)
			return true;
	return false;
}

static void remove_entry(struct arn_table *table, uint16_t at)
{
	struct arn_entry *entry = &table->entry[at];
	uint16_t destination = entry->arn.destination;
	uint16_t *link = bucket_of(table, destination);

	while (*link != at)
		link = &table->entry[*link].next;
	*link = entry->next;
	unlink_age(table, at);
	entry->next = table->free;
	table->free = at;
	table->count--;
	table->by_port[entry->port]--;
	if (!has_entry(table, destination))
		table->marked[destination / 64] &= ~BIT64(destination % 64);
}

/* Returns a free slot for an entry of this port, or ARN_ENTRY_NONE. */
static uint16_t take_free(struct arn_table *table, uint8_t port)
{
	uint16_t at = table->free;

	if (table->by_port[port] >= table->config.entries - table->count)
		return ARN_ENTRY_NONE;
	if (at != ARN_ENTRY_NONE)
		table->free = table->entry[at].next;
	else if (table->used < table->config.entries)
		at = table->used++;
	return at;
}

/* selectAlternativeOport(), pseudo-code 3, at the switch that acts. A switch without another path
 * ignores the notification (Weft's choice; this does not happen in a fat tree). */
static bool consume(struct arn_table *table, struct arn_entry *entry)
{
	const struct arn_table_config *config = &table->config;

	if (config->stage == 0 || entry->arn.root_info != config->stage)
		return false;
	entry->alternative = (uint8_t)config->alternative(
		config->ctx, entry->arn.destination, entry->arn.vc, entry->port);
	return entry->alternative != ARN_NO_ALTERNATIVE;
}

static struct arn_entry *add_entry(
	struct arn_table *table, const struct control_arn *arn, uint8_t port, weft_time now)
{
	uint16_t at = take_free(table, port), *bucket = bucket_of(table, arn->destination);
	struct arn_entry *entry;

	if (at == ARN_ENTRY_NONE) {
		table->counters.no_room++;
		return NULL;
	}
	entry = &table->entry[at];
	*entry = (struct arn_entry){
		.since_ps = now, .refreshed_ps = now, .arn = *arn, .port = port, .next = *bucket};
	entry->consumed = consume(table, entry);
	*bucket = at;
	append(table, at);
	table->marked[arn->destination / 64] |= BIT64(arn->destination % 64);
	table->count++;
	table->by_port[port]++;
	table->counters.created++;
	return entry;
}

struct control_arn arn_table_root(
	const struct arn_table *table, bool up, uint32_t id, uint16_t destination, uint8_t vc)
{
	uint8_t stage = table->config.stage;
	struct control_arn arn = {.id = id, .destination = destination, .vc = vc};

	if (up)
		arn.root_info = stage;
	else if (!table->config.down_roots_to_hosts && stage > 0)
		arn.root_info = (uint8_t)(stage - 1);
	return arn;
}

/* Returns the only entry of this destination, VC and port, or ARN_ENTRY_NONE. */
static uint16_t find(const struct arn_table *table, const struct control_arn *arn, uint8_t port)
{
	uint16_t at = *bucket_of(table, arn->destination);

	for (; at != ARN_ENTRY_NONE; at = table->entry[at].next) {
		const struct arn_entry *entry = &table->entry[at];

		if (entry->arn.destination == arn->destination && entry->arn.vc == arn->vc &&
			entry->port == port)
			break;
	}
	return at;
}

struct arn_entry *arn_table_process(struct arn_table *table, const struct control_arn *arn,
	uint8_t port, bool adapted, weft_time now)
{
	uint16_t at;

	if (arn->destination >= table->config.hosts || port >= PORT_SET_LIMIT)
		return NULL;
	arn_table_expire(table, now);
	at = find(table, arn, port);
	if (at != ARN_ENTRY_NONE && table->entry[at].arn.id == arn->id) {
		table->entry[at].refreshed_ps = now;
		unlink_age(table, at);
		append(table, at);
		table->counters.refreshed++;
		return NULL;
	}
	/* The root has changed: congestion has moved. */
	if (at != ARN_ENTRY_NONE) {
		remove_entry(table, at);
		table->counters.replaced++;
	}
	if (adapted && !(table->config.adapted_roots && arn->root_info == 0))
		return NULL;
	return add_entry(table, arn, port, now);
}

static bool is_old(const struct arn_table *table, const struct arn_entry *entry, weft_time now)
{
	return now - entry->refreshed_ps >= table->config.ttl_ps;
}

void arn_table_expire(struct arn_table *table, weft_time now)
{
	while (table->oldest != ARN_ENTRY_NONE &&
		is_old(table, &table->entry[table->oldest], now)) {
		remove_entry(table, table->oldest);
		table->counters.expired++;
	}
}

void arn_table_forget(struct arn_table *table, uint8_t stage)
{
	while (table->oldest != ARN_ENTRY_NONE) {
		remove_entry(table, table->oldest);
		table->counters.forgotten++;
	}
	table->config.stage = stage;
}

weft_time arn_table_next_due(const struct arn_table *table)
{
	return table->oldest == ARN_ENTRY_NONE
		       ? WEFT_TIME_NEVER
		       : table->entry[table->oldest].refreshed_ps + table->config.ttl_ps;
}

/* Returns true at most once per interval for each entry and port. */
static bool may_notify(
	const struct arn_table *table, struct arn_entry *entry, unsigned port, weft_time now)
{
	uint32_t interval = (uint32_t)(now / table->config.refresh_ps);

	if (entry->interval != interval) {
		entry->interval = interval;
		entry->notified = PORT_SET_NONE;
	}
	if (port_set_has(entry->notified, port))
		return false;
	entry->notified |= port_set_of(port);
	return true;
}

/* Finds the newest entry of each kind for the packet's destination and VC. */
static void look_up(const struct arn_table *table, uint16_t destination, uint8_t vc, weft_time now,
	struct arn_entry **consumed, struct arn_entry **waiting)
{
	*consumed = *waiting = NULL;
	for (uint16_t at = *bucket_of(table, destination); at != ARN_ENTRY_NONE;
		at = table->entry[at].next) {
		struct arn_entry *entry = &table->entry[at];
		struct arn_entry **kind = entry->consumed ? consumed : waiting;

		if (entry->arn.destination == destination && entry->arn.vc == vc && *kind == NULL &&
			!is_old(table, entry, now))
			*kind = entry;
	}
}

static bool acts(const struct arn_table *table, const struct arn_entry *consumed,
	const struct arn_entry *waiting, bool adapted)
{
	return consumed != NULL && !adapted && (waiting == NULL || !table->config.waiting_first);
}

enum arn_verdict arn_table_match(struct arn_table *table, uint16_t destination, uint8_t vc,
	bool adapted, unsigned input, weft_time now, const struct arn_entry **found)
{
	struct arn_entry *consumed, *waiting;

	if (adapted && !table->config.adapted_notify)
		return ARN_IGNORE;
	arn_table_expire(table, now);
	look_up(table, destination, vc, now, &consumed, &waiting);
	if (acts(table, consumed, waiting, adapted)) {
		*found = consumed;
		table->counters.adapted++;
		return ARN_ALTERNATIVE;
	}
	if (waiting == NULL || !may_notify(table, waiting, input, now))
		return ARN_IGNORE;
	*found = waiting;
	table->counters.sent_back++;
	return ARN_SEND_BACK;
}

static const char *check_buckets(const struct arn_table *table, uint32_t *count)
{
	for (unsigned i = 0; i < ARN_BUCKETS; i++)
		for (uint16_t at = table->bucket[i]; at != ARN_ENTRY_NONE;
			at = table->entry[at].next) {
			const struct arn_entry *entry = &table->entry[at];

			if ((entry->arn.destination & (ARN_BUCKETS - 1)) != i)
				return "an entry is in the wrong bucket";
			if (!arn_table_concerns(table, entry->arn.destination))
				return "a destination with an entry is not marked";
			if (find(table, &entry->arn, entry->port) != at)
				return "two entries for the same destination, VC and port";
			if (++*count > table->count)
				return "more entries than counted";
		}
	return NULL;
}

const char *arn_table_check(const struct arn_table *table)
{
	weft_time before = 0;
	uint32_t count = 0, aged = 0;
	const char *wrong = check_buckets(table, &count);

	if (wrong != NULL)
		return wrong;
	for (uint16_t at = table->oldest; at != ARN_ENTRY_NONE; at = table->entry[at].newer) {
		if (table->entry[at].refreshed_ps < before || ++aged > count)
			return "entries are not ordered by age";
		before = table->entry[at].refreshed_ps;
	}
	if (count != table->count || aged != count)
		return "the entry count is wrong";
	for (uint32_t host = 0; host < table->config.hosts; host++)
		if (arn_table_concerns(table, (uint16_t)host) != has_entry(table, (uint16_t)host))
			return "a destination without an entry is marked";
	return NULL;
}
