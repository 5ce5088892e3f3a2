/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Joins the records of each packet. */

#include "audit_private.h"
#include "why_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arrays.h"
#include "base/name_table.h"
#include "wire/control.h"

const char *why_part_name(enum why_part part)
{
	static const char *const names[] = {WHY_PARTS(WORD_TEXT)};

	return names[part];
}

const char *why_cause_name(enum why_cause cause)
{
	static const char *const names[] = {WHY_CAUSES(WORD_TEXT)};

	return names[cause];
}

/* --- records --- */

static uint32_t number_after(const struct audit_frame_at *at, const char *word, uint32_t otherwise)
{
	const char *found = at->comment == NULL
				    ? NULL
				    : memmem(at->comment, at->comment_bytes, word, strlen(word));
	uint32_t value = 0;

	if (found == NULL)
		return otherwise;
	for (found += strlen(word);
		found < at->comment + at->comment_bytes && *found >= '0' && *found <= '9'; found++)
		value = 10 * value + (uint32_t)(*found - '0');
	return value;
}

static int add_limits(
	struct why *why, const struct audit_frame_at *at, const struct frame_header *header)
{
	unsigned offset = frame_payload_offset(header), bytes = ntohs(header->payload_bytes_be);
	struct control_credit credit;

	if (offset + bytes > at->captured_bytes ||
		!control_credit_decode(&credit, at->bytes + offset, bytes))
		return 0;
	if (!array_reserve(&why->limit, &why->limit_room, why->limits + FRAME_VCS_MAX,
		    sizeof(*why->limit)))
		return -ENOMEM;
	for (unsigned vc = 0; vc < credit.vcs; vc++)
		why->limit[why->limits++] = (struct why_limit){.time_ns = at->time_ns,
			.way = at->way,
			.limit = credit.limit[vc],
			.vc = (uint8_t)vc};
	return 0;
}

int why_add(struct why *why, const struct audit_frame_at *at)
{
	struct frame_header header;

	if (at->captured_bytes < FRAME_HEADER_BYTES || at->bytes[12] != FRAME_ETHERTYPE >> 8 ||
		at->bytes[13] != (FRAME_ETHERTYPE & 0xFF))
		return 0;
	header = *frame_header_const(at->bytes);
	if (header.kind == FRAME_CREDIT && !at->out && !at->gone)
		return add_limits(why, at, &header);
	if (header.kind != FRAME_DATA)
		return 0;
	if (!array_reserve(&why->event, &why->event_room, why->events + 1u, sizeof(*why->event)))
		return -ENOMEM;
	why->event[why->events++] = (struct why_event){
		.time_ns = at->time_ns,
		.number = at->number,
		.file = at->file,
		.way = at->way,
		.next = WHY_NONE,
		.message = ntohl(header.message_be),
		.sequence = ntohl(header.sequence_be),
		.credits = number_after(at, "credits ", WHY_UNKNOWN),
		.waited_ns = number_after(at, "waited ", 0),
		.source = ntohs(header.source_be),
		.destination = ntohs(header.destination_be),
		.bytes = (uint16_t)at->frame_bytes,
		.vc = header.vc & (FRAME_VCS_MAX - 1),
		.flags = header.flags,
		.out = at->out && !at->gone,
		.gone = at->gone,
	};
	return 0;
}

/* --- packets --- */

static int compare_events(const void *one, const void *other, void *ctx)
{
	const struct why_event *event = ctx;
	uint32_t i = *(const uint32_t *)one, j = *(const uint32_t *)other;
	const struct why_event *a = &event[i], *b = &event[j];

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->destination != b->destination)
		return a->destination < b->destination ? -1 : 1;
	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->message != b->message)
		return a->message < b->message ? -1 : 1;
	return i < j ? -1 : i > j;
}

static bool is_same_packet(const struct why_event *a, const struct why_event *b)
{
	return a->source == b->source && a->destination == b->destination &&
	       a->sequence == b->sequence && a->message == b->message;
}

static bool is_at_host(const struct why *why, const struct why_event *event, uint16_t host)
{
	const struct why_port *port = &why->port[event->way];

	return port->host && port->device == host + (uint32_t)why->rules.topology->switches;
}

static bool follows(
	const struct why *why, const struct why_event *event, const struct why_event *later)
{
	if (later->followed)
		return false;
	if (event->out)
		return !later->out && !later->gone && later->way == (event->way ^ 1);
	return (later->out || later->gone) &&
	       why->port[later->way].device == why->port[event->way].device;
}

/* Joins the records of one packet. Keeps the packet if it was delivered. */
static void join(struct why *why, const uint32_t *group, uint32_t count)
{
	uint32_t first = WHY_NONE, last = WHY_NONE;

	for (uint32_t i = 0; i < count; i++) {
		struct why_event *event = &why->event[group[i]];

		if (event->out && first == WHY_NONE && is_at_host(why, event, event->source))
			first = group[i];
		if (!event->out && last == WHY_NONE && is_at_host(why, event, event->destination))
			last = group[i];
		if (event->gone || is_at_host(why, event, event->destination))
			continue;
		/* On the real clock, a record may have an earlier time than its predecessor. */
		for (uint32_t j = why->rules.exact ? i + 1 : 0; j < count; j++)
			if (j != i && follows(why, event, &why->event[group[j]])) {
				event->next = group[j];
				why->event[group[j]].followed = true;
				break;
			}
	}
	if (first == WHY_NONE || last == WHY_NONE ||
		why->event[last].time_ns < why->event[first].time_ns)
		return;
	why->life[why->lives++] = (struct why_life){.first = first,
		.last = last,
		.start_ns = why->event[first].time_ns - why->event[first].waited_ns};
}

static int join_all(struct why *why)
{
	uint32_t *sorted = malloc((why->events + 1u) * sizeof(*sorted));

	why->life = malloc((why->events + 1u) * sizeof(*why->life));
	if (sorted == NULL || why->life == NULL) {
		free(sorted);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < why->events; i++)
		sorted[i] = i;
	qsort_r(sorted, why->events, sizeof(*sorted), compare_events, why->event);
	for (uint32_t i = 0, end; i < why->events; i = end) {
		for (end = i + 1; end < why->events &&
				  is_same_packet(&why->event[sorted[i]], &why->event[sorted[end]]);
			end++)
			;
		join(why, &sorted[i], end - i);
	}
	free(sorted);
	return 0;
}

/* --- ports --- */

static int list_events(struct why *why)
{
	uint32_t at = 0;

	why->by_port = malloc((why->events + 1u) * sizeof(*why->by_port));
	if (why->by_port == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < why->events; i++) {
		struct why_port *port = &why->port[why->event[i].way];

		if (why->event[i].out)
			port->outs++;
		else if (!why->event[i].gone)
			port->ins++;
	}
	for (uint32_t way = 0; way < why->ways; way++) {
		struct why_port *port = &why->port[way];

		port->in = at;
		port->out = at += port->ins;
		at += port->outs;
		port->ins = port->outs = 0;
	}
	for (uint32_t i = 0; i < why->events; i++) {
		struct why_port *port = &why->port[why->event[i].way];

		if (why->event[i].out)
			why->by_port[port->out + port->outs++] = i;
		else if (!why->event[i].gone)
			why->by_port[port->in + port->ins++] = i;
	}
	return 0;
}

static int compare_limits(const void *one, const void *other)
{
	const struct why_limit *a = one, *b = other;

	if (a->way != b->way)
		return a->way < b->way ? -1 : 1;
	if (a->vc != b->vc)
		return a->vc < b->vc ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static void list_limits(struct why *why)
{
	qsort(why->limit, why->limits, sizeof(*why->limit), compare_limits);
	for (uint32_t i = why->limits; i-- > 0;) {
		struct why_port *port = &why->port[why->limit[i].way];

		port->limit = i;
		port->limits++;
	}
}

int why_end(struct why *why)
{
	if (list_events(why) < 0)
		return -ENOMEM;
	if (why->limits > 0)
		list_limits(why);
	return join_all(why);
}

/* --- selecting packets --- */

uint32_t why_count(const struct why *why)
{
	return why->lives;
}

static uint64_t took(const struct why *why, uint32_t packet)
{
	return why->event[why->life[packet].last].time_ns - why->life[packet].start_ns;
}

/* Inserts each packet into a sorted list of at most 'max' entries. */
uint32_t why_slowest(const struct why *why, uint32_t max, uint32_t *slowest)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < why->lives; i++) {
		uint32_t at;

		if (count == max && (max == 0 || took(why, slowest[max - 1]) >= took(why, i)))
			continue;
		at = count < max ? count++ : max - 1;
		for (; at > 0 && took(why, slowest[at - 1]) < took(why, i); at--)
			slowest[at] = slowest[at - 1];
		slowest[at] = i;
	}
	return count;
}

static uint64_t delivered_ns(const struct why *why, uint32_t packet)
{
	return why->event[why->life[packet].last].time_ns;
}

uint32_t why_find_message(
	const struct why *why, uint16_t source, uint16_t destination, uint32_t message)
{
	uint32_t found = WHY_NONE;

	for (uint32_t i = 0; i < why->lives; i++) {
		const struct why_event *event = &why->event[why->life[i].last];

		if (event->source == source && event->destination == destination &&
			event->message == message &&
			(found == WHY_NONE || delivered_ns(why, i) > delivered_ns(why, found)))
			found = i;
	}
	return found;
}

uint32_t why_find_frame(const struct why *why, uint32_t file, uint64_t number)
{
	for (uint32_t i = 0; i < why->events; i++) {
		if (why->event[i].file != file || why->event[i].number != number)
			continue;
		for (uint32_t j = 0; j < why->lives; j++)
			if (is_same_packet(&why->event[why->life[j].last], &why->event[i]))
				return j;
	}
	return WHY_NONE;
}

/* Returns the last message that 'host' received by 'until_ns', or WHY_NONE. */
static uint32_t find_received(const struct why *why, uint16_t host, uint64_t until_ns)
{
	uint32_t found = WHY_NONE;

	for (uint32_t i = 0; i < why->lives; i++) {
		const struct why_event *event = &why->event[why->life[i].last];

		if (event->destination == host && (event->flags & FRAME_F_TAIL) != 0 &&
			event->time_ns <= until_ns &&
			(found == WHY_NONE || event->time_ns > delivered_ns(why, found)))
			found = i;
	}
	return found;
}

uint32_t why_critical_path(const struct why *why, uint32_t max, uint32_t *path)
{
	uint32_t at = 0, count = 0;

	for (uint32_t i = 1; i < why->lives; i++)
		if (delivered_ns(why, i) > delivered_ns(why, at))
			at = i;
	while (count < max && at != WHY_NONE && at < why->lives) {
		path[count++] = at;
		/* Packets that take no time could form an endless path. */
		if (took(why, at) == 0)
			break;
		at = find_received(
			why, why->event[why->life[at].last].source, why->life[at].start_ns);
	}
	return count;
}

/* --- opening --- */

static int compare_rates(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* A link is slow if its time per byte exceeds the median of its kind. */
static bool find_slow(struct why *why, bool host)
{
	uint64_t *times = malloc((why->ways + 1u) * sizeof(*times));
	uint32_t count = 0;

	if (times == NULL)
		return false;
	for (uint32_t way = 0; way < why->ways; way += 2)
		if ((why->port[way].host || why->port[way ^ 1].host) == host)
			times[count++] = why->port[way].byte_time;
	qsort(times, count, sizeof(*times), compare_rates);
	for (uint32_t way = 0; way < why->ways; way++)
		if ((why->port[way].host || why->port[way ^ 1].host) == host)
			why->port[way].slow = why->port[way].byte_time > times[(count - 1) / 2];
	free(times);
	return true;
}

struct why *why_create(const struct audit_rules *rules, const bool *captured)
{
	struct why *why = calloc(1, sizeof(*why));
	bool *partial;

	if (why == NULL)
		return NULL;
	partial = audit_partial_devices(rules->topology, captured);
	why->rules = *rules;
	why->ways = 2 * rules->topology->links;
	why->port = calloc(why->ways + 1u, sizeof(*why->port));
	for (uint32_t way = 0; partial != NULL && why->port != NULL && way < why->ways; way++) {
		const struct topology_link *link = &rules->topology->link_at[way / 2];
		const struct topology_port *at = way % 2 == 0 ? &link->a : &link->b;
		struct why_port *port = &why->port[way];

		port->host = at->kind == DEVICE_HOST;
		port->device = at->device + (port->host ? rules->topology->switches : 0);
		port->whole = !partial[port->device];
		port->byte_time = byte_time_of(link->rate_bps);
		port->delay_ns = link->delay_ps / PS_PER_NS;
	}
	free(partial);
	if (partial != NULL && why->port != NULL && find_slow(why, true) && find_slow(why, false))
		return why;
	why_destroy(why);
	return NULL;
}

void why_destroy(struct why *why)
{
	if (why == NULL)
		return;
	free(why->port);
	free(why->event);
	free(why->limit);
	free(why->by_port);
	free(why->life);
	free(why);
}
