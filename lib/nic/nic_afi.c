/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "nic_afi.h"

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

/* A frame that leaves because of a mark cannot have left before the mark was due, even if the loop
 * is catching up. */
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

/* It has been admitted, so it cannot wait: it moves even if the AFC has no share left, and then
 * keeps counting in its old share. */
bool nic_afi_change(struct nic *nic, struct message *message, weft_time now)
{
	if (!is_marked(nic, message, now))
		return false;
	move_share(nic, message);
	change(nic, message);
	return true;
}
