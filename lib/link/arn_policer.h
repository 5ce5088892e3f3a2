/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides which adaptive-routing notifications a port accepts: only from a switch, only about roots
 * that exist, and only up to a maximum rate. A forged notification can reduce throughput, because
 * packets leave their path or enter the adapted-flow channel for no reason, but it never causes
 * loss.
 *
 * The token bucket is stored as a single time, at which it would be full again (the generic cell
 * rate algorithm). One thread per port. */

#include <stdbool.h>
#include <stdint.h>

#include "link_end.h"

#define ARN_GUARD_RATE_DEFAULT 1000 /* notifications a ms */

struct arn_policer_config {
	uint32_t rate;     /* notifications per ms, and the burst; 0: no limit */
	uint32_t switches; /* number in the fabric; 0: unknown, any root is accepted */
	uint8_t ports;     /* the most that a switch has */
};

struct arn_policer {
	weft_time full_at; /* the bucket */
};

/* A root is named by the identity of its switch (its number + 1) and its output. */
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

/* True if the notification that arrived on this link is accepted. Only switches send notifications;
 * the device on an open link is not a switch. */
static inline bool arn_policer_admits(struct arn_policer *guard,
	const struct arn_policer_config *config, const struct link_end *link,
	const struct control_arn *arn, weft_time now)
{
	return link->state == LINK_UP && link->peer_kind == 0 &&
	       arn_policer_root_exists(config, arn->id) &&
	       arn_policer_take_token(guard, config, now);
}
