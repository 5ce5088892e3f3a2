/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arn_marks.h"
#include "base/rng.h"
#include "nic_private.h"

void arn_marks_init(struct arn_marks *marks, weft_time ttl_ps)
{
	memset(marks, 0, sizeof(*marks));
	marks->ttl_ps = ttl_ps;
}

int arn_marks_create(struct arn_marks **marks, weft_time ttl_ps)
{
	*marks = NULL;
	if (ttl_ps == 0)
		return 0;
	*marks = malloc(sizeof(**marks));
	if (*marks == NULL)
		return -ENOMEM;
	arn_marks_init(*marks, ttl_ps);
	return 0;
}

/* Returns the first of the mark's slots; the others follow cyclically. */
static unsigned first_place(uint16_t destination, uint8_t vc)
{
	return (unsigned)(rng_mix((uint64_t)destination << 8 | vc) & (ARN_MARKS - 1));
}

static bool is_of(const struct arn_mark *mark, uint16_t destination, uint8_t vc)
{
	return mark->until_ps != 0 && mark->destination == destination && mark->vc == vc;
}

/* Renews the mark if it exists, otherwise replaces the mark that ends first. */
void arn_marks_set(struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	unsigned first = first_place(destination, vc);
	struct arn_mark *best = &marks->mark[first];

	for (unsigned i = 0; i < ARN_MARK_PLACES; i++) {
		struct arn_mark *mark = &marks->mark[(first + i) & (ARN_MARKS - 1)];

		if (is_of(mark, destination, vc)) {
			best = mark;
			break;
		}
		if (mark->until_ps < best->until_ps)
			best = mark;
	}
	marks->forgotten += !is_of(best, destination, vc) && best->until_ps > now;
	*best = (struct arn_mark){
		.until_ps = now + marks->ttl_ps, .destination = destination, .vc = vc};
	marks->until_ps = best->until_ps;
}

bool arn_marks_find(const struct arn_marks *marks, uint16_t destination, uint8_t vc, weft_time now)
{
	unsigned first = first_place(destination, vc);

	for (unsigned i = 0; i < ARN_MARK_PLACES; i++) {
		const struct arn_mark *mark = &marks->mark[(first + i) & (ARN_MARKS - 1)];

		if (is_of(mark, destination, vc))
			return now < mark->until_ps;
	}
	return false;
}

static unsigned channel(const struct nic *nic)
{
	return nic->config.link.vcs - 1u;
}

static bool is_marked(const struct nic *nic, const struct message *message, weft_time now)
{
	return nic->marks != NULL && message->vc != channel(nic) &&
	       arn_marks_has(nic->marks, message->destination, message->vc, now);
}

static bool move_share(struct nic *nic, struct message *message)
{
	unsigned to = channel(nic);

	if (!vc_share_has_room(&nic->message_share, to) ||
		(message_has_slot(message) && !vc_share_has_room(&nic->payload_share, to)))
		return false;
	vc_share_put(&nic->message_share, message->share);
	vc_share_take(&nic->message_share, to);
	if (message_has_slot(message)) {
		vc_share_put(&nic->payload_share, message->share);
		vc_share_take(&nic->payload_share, to);
	}
	message->share = (uint8_t)to;
	return true;
}

/* Changes the VC. The frame cannot have been sent before the mark was due, even if the loop is
 * catching up. */
static void change(struct nic *nic, struct message *message)
{
	message->vc = (uint8_t)channel(nic);
	if (message->ready_ps < nic->marked_ps)
		message->ready_ps = nic->marked_ps;
	nic->count[NIC_MESSAGES_DIVERTED]++;
}

bool nic_afi_on_arn(struct nic *nic, const struct control_arn *arn, weft_time now)
{
	if (nic->marks == NULL || arn->destination >= nic->config.hosts || arn->vc >= channel(nic))
		return false;
	if (!arn_marks_has(nic->marks, arn->destination, arn->vc, now))
		nic->marked_ps = nic->due_ps;
	arn_marks_set(nic->marks, arn->destination, arn->vc, now);
	return true;
}

bool nic_afi_admit(struct nic *nic, struct message *message, weft_time now)
{
	if (!is_marked(nic, message, now))
		return true;
	if (!move_share(nic, message))
		return false;
	change(nic, message);
	return true;
}

/* The message was already admitted and cannot wait. It moves even if the AFC has no share left, and
 * then still counts in its old share. */
bool nic_afi_change(struct nic *nic, struct message *message, weft_time now)
{
	if (!is_marked(nic, message, now))
		return false;
	move_share(nic, message);
	change(nic, message);
	return true;
}
