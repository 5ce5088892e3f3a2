/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides which adaptive-routing notifications a port accepts: only from a switch, only of roots
 * that exist, and only up to a rate. A forged one costs throughput, as packets leave their way or
 * enter the adapted-flow channel without a cause, but never a packet.
 *
 * The bucket of tokens is one time (the generic cell rate algorithm): when it would be full again.
 * One thread a port. */

#include <stdbool.h>
#include <stdint.h>

#include "link_end.h"

#define ARN_GUARD_RATE_DEFAULT 1000 /* notifications a ms */

struct arn_policer_config {
	uint32_t rate;     /* notifications a ms, and so many at once; 0: no limit */
	uint32_t switches; /* of the fabric; 0: not known, any root is taken */
	uint8_t ports;     /* the most that a switch has */
};

struct arn_policer {
	weft_time full_at; /* the bucket */
};

/* A root is named by the identity of its switch, which is its number + 1, and the output there. */
static inline bool arn_policer_root_exists(const struct arn_policer_config *config, uint32_t id)
{
	uint32_t device = id >> 16, output = id >> 8 & 0xFF;

	return config->switches == 0 ||
	       (device >= 1 && device <= config->switches && output < config->ports);
}

static inline bool arn_policer_take_token(
	struct arn_policer *guard, const struct arn_policer_config *config, weft_time now)
{
	weft_time from = guard->full_at > now ? guard->full_at : now;

	if (config->rate == 0)
		return true;
	if (from - now > PS_PER_MS - PS_PER_MS / config->rate)
		return false;
	guard->full_at = from + PS_PER_MS / config->rate;
	return true;
}

/* True if the notification that came by this link is to be taken. Only a switch sends any; what is
 * attached to an open link is none. */
static inline bool arn_policer_admits(struct arn_policer *guard,
	const struct arn_policer_config *config, const struct link_end *link,
	const struct control_arn *arn, weft_time now)
{
	return link->state == LINK_UP && link->peer_kind == 0 &&
	       arn_policer_root_exists(config, arn->id) &&
	       arn_policer_take_token(guard, config, now);
}
