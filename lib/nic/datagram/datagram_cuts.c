/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "datagram_cuts.h"

#include "base/arrays.h"

/* Same values as in flow_tx.c. */
#define DOUBLINGS_MAX 3u
#define TRIES_MIN     8u

static struct datagram_pair *find(struct datagram_recovery *recovery, uint16_t destination)
{
	for (uint32_t i = 0; i < recovery->pairs; i++)
		if (recovery->pair[i].destination == destination)
			return &recovery->pair[i];
	return NULL;
}

static void set_due(struct datagram *nic, struct datagram_pair *pair, weft_time due)
{
	weft_time end = pair->since + nic->config.give_up_ps;

	pair->due = due < end ? due : end;
	if (pair->due < nic->recovery->pairs_due)
		nic->recovery->pairs_due = pair->due;
}

static weft_time retry_wait(const struct datagram *nic, const struct datagram_pair *pair)
{
	weft_time retry = nic->config.retry_ps, max = nic->config.give_up_ps / TRIES_MIN,
		  wait = retry << pair->timeouts;

	max = max > retry ? max : retry;
	return wait < max ? wait : max;
}

/* Returns NULL if out of memory. */
static struct datagram_pair *add(struct datagram *nic, uint16_t destination, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct datagram_pair *pair;

	if (!array_reserve(&recovery->pair, &recovery->room, recovery->pairs + 1u, sizeof(*pair))) {
		recovery->failed = true;
		return NULL;
	}
	pair = &recovery->pair[recovery->pairs++];
	*pair = (struct datagram_pair){.since = now, .destination = destination};
	set_due(nic, pair, now + nic->config.retry_ps);
	return pair;
}

static void append(
	struct datagram_recovery *recovery, struct datagram_pair *pair, struct weft_packet *packet)
{
	packet->next = NULL;
	if (pair->first == NULL)
		pair->first = packet;
	else
		pair->last->next = packet;
	pair->last = packet;
	pair->waits++;
	recovery->waits++;
}

static struct weft_packet *take_first(
	struct datagram_recovery *recovery, struct datagram_pair *pair)
{
	struct weft_packet *packet = pair->first;

	pair->first = packet->next;
	pair->waits--;
	recovery->waits--;
	return packet;
}

static void make_due(struct datagram_recovery *recovery, struct weft_packet *first,
	struct weft_packet *last, weft_time now)
{
	for (struct weft_packet *at = first; at != NULL; at = at->next) {
		if (at->stalled != DATAGRAM_WAIT_FIRST)
			at->stalled = DATAGRAM_WAIT_REPORT;
		at->latency_ns = 0;
		at->arrived_ps = now;
	}
	datagram_recovery_insert(recovery, first, last);
}

/* Makes all waiting frames of the pair due. */
static void release(struct datagram_recovery *recovery, struct datagram_pair *pair, weft_time now)
{
	if (pair->first != NULL)
		make_due(recovery, pair->first, pair->last, now);
	recovery->waits -= pair->waits;
	pair->first = NULL;
	pair->waits = 0;
}

void datagram_cuts_hold(struct datagram *nic, struct weft_packet *packet, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct datagram_pair *pair = find(recovery, packet->destination);

	if (pair == NULL && (pair = add(nic, packet->destination, now)) == NULL) {
		packet->next = NULL;
		make_due(recovery, packet, packet, now + nic->config.retry_ps);
		return;
	}
	append(recovery, pair, packet);
	pair->cause = packet->latency_ns;
	if (pair->probing)
		set_due(nic, pair, pair->probe_at);
	pair->probing = false;
}

void datagram_cuts_sent(struct datagram *nic, uint16_t destination, weft_time now)
{
	struct datagram_pair *pair = find(nic->recovery, destination);

	if (pair == NULL || !pair->probing)
		return;
	pair->probe_at = now + retry_wait(nic, pair);
	set_due(nic, pair, now + nic->config.retry_ps);
}

static void probe(struct datagram *nic, struct datagram_pair *pair, weft_time now)
{
	struct weft_packet *packet = take_first(nic->recovery, pair);

	pair->timeouts += pair->timeouts < DOUBLINGS_MAX;
	pair->probe_at = now + retry_wait(nic, pair);
	pair->probing = true;
	set_due(nic, pair, WEFT_TIME_NEVER); /* it may lack credits: see datagram_cuts_sent() */
	packet->next = NULL;
	make_due(nic->recovery, packet, packet, now);
}

static bool is_released(uint32_t cause, uint32_t released)
{
	return cause == released || cause >= DATAGRAM_CAUSE_DEVICE ||
	       released == DATAGRAM_CAUSE_ANY;
}

/* Removes frames from 'again': due frames of the pair or, if 'pair' is NULL, frames lost for this
 * cause whose report has not arrived yet. */
static struct weft_packet *take_again(struct datagram_recovery *recovery,
	const struct datagram_pair *pair, uint32_t cause, weft_time now, struct weft_packet **last)
{
	struct weft_packet *first = NULL, *before = NULL, *next;

	for (struct weft_packet *at = recovery->again; at != NULL; at = next) {
		next = at->next;
		if (pair != NULL ? at->destination != pair->destination || at->arrived_ps > now
				 : at->stalled != DATAGRAM_WAIT_CUT ||
					   !is_released(at->latency_ns, cause)) {
			before = at;
			continue;
		}
		*(before != NULL ? &before->next : &recovery->again) = next;
		*(first != NULL ? &(*last)->next : &first) = at;
		*last = at;
		at->next = NULL;
	}
	recovery->latest = before;
	return first;
}

/* Gives up all frames of the pair, including those that wait for credits to be resent. */
static void give_up(struct datagram_recovery *recovery, struct datagram_pair *pair, weft_time now)
{
	struct weft_packet *last = NULL, *next;

	for (struct weft_packet *at = take_again(recovery, pair, 0, now, &last); at != NULL;
		at = next) {
		next = at->next;
		append(recovery, pair, at);
	}
	while (pair->first != NULL) {
		struct weft_packet *packet = take_first(recovery, pair);

		recovery->again_count--;
		if (packet->stalled == DATAGRAM_WAIT_FIRST)
			recovery->unsent--;
		else
			recovery->abandoned++;
		packet->next = recovery->given_up;
		recovery->given_up = packet;
	}
}

/* Handles an expired timer. Returns true if no frame of the pair is waiting. */
static bool look(struct datagram *nic, struct datagram_pair *pair, weft_time now)
{
	if (now >= pair->since + nic->config.give_up_ps)
		give_up(nic->recovery, pair, now);
	if (pair->probing)
		release(nic->recovery, pair, now);
	if (pair->first == NULL)
		return true;
	probe(nic, pair, now);
	return false;
}

void datagram_cuts_poll(struct datagram *nic, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;

	if (now < recovery->pairs_due)
		return;
	recovery->pairs_due = WEFT_TIME_NEVER;
	for (uint32_t i = 0; i < recovery->pairs;) {
		struct datagram_pair *pair = &recovery->pair[i];

		if (pair->due <= now && look(nic, pair, now)) {
			*pair = recovery->pair[--recovery->pairs];
			continue;
		}
		set_due(nic, pair, pair->due);
		i++;
	}
}

void datagram_cuts_release(struct datagram *nic, uint32_t cause, weft_time now)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct weft_packet *last = NULL, *first = take_again(recovery, NULL, cause, now, &last);

	if (first != NULL)
		make_due(recovery, first, last, now);
	for (uint32_t i = 0; i < recovery->pairs;) {
		if (!is_released(recovery->pair[i].cause, cause)) {
			i++;
			continue;
		}
		release(recovery, &recovery->pair[i], now);
		recovery->pair[i] = recovery->pair[--recovery->pairs];
	}
	if (recovery->pairs == 0)
		recovery->pairs_due = WEFT_TIME_NEVER;
}

bool datagram_cuts_keep(struct datagram *nic, struct weft_packet *packet)
{
	struct datagram_recovery *recovery = nic->recovery;
	struct datagram_pair *pair = find(recovery, packet->destination);

	if (pair == NULL || pair->waits + pair->probing < nic->config.window_frames)
		return false;
	credit_return(&nic->link.tx[packet->vc], packet->blocks);
	packet->stalled = DATAGRAM_WAIT_FIRST;
	append(recovery, pair, packet);
	recovery->again_count++;
	recovery->unsent++;
	nic->frames_sent--;
	nic->messages_sent -= (packet->flags & FRAME_F_TAIL) != 0;
	return true;
}
