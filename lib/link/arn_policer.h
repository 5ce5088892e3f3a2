/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Decides which adaptive routing notifications (ARNs) a port accepts: only from a switch, only
 * about roots that exist, and only up to a maximum rate. A forged notification can reduce
 * throughput, because packets leave their path or enter the adapted-flow channel needlessly, but it
 * never causes loss.
 *
 * The token bucket is stored as the time at which it will be full again (generic cell rate
 * algorithm). One thread per port. */

#include <stdbool.h>
#include <stdint.h>

#include "link_end.h"

#define ARN_GUARD_RATE_DEFAULT 1000 /* notifications per ms */

struct arn_policer_config {
	uint32_t rate;     /* notifications per ms, and burst size; 0: no limit */
	uint32_t switches; /* number of switches; 0: unknown, so any root is accepted */
	uint8_t ports;     /* maximum number of ports of a switch */
};

struct arn_policer {
	weft_time full_at; /* when the token bucket will be full */
};

/* A root id consists of the switch's identity (its number + 1) and the output port. */
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

/* Returns true if a notification that arrived on this link is accepted. Only switches send
 * notifications; the device on an open link is not a switch. */
static inline bool arn_policer_admits(struct arn_policer *guard,
	const struct arn_policer_config *config, const struct link_end *link,
	const struct control_arn *arn, weft_time now)
{
	return link->state == LINK_UP && link->peer_kind == 0 &&
	       arn_policer_root_exists(config, arn->id) &&
	       arn_policer_take_token(guard, config, now);
}
