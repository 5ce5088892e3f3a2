/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The settings of one link direction that 'weft lab set' can change, and the command sent to the
 * processes: "TARGET V V …" with a value for each setting ('-' keeps it), or "TARGET file" to
 * restore the values of the lab file. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/quantity.h"

/* Columns: enumerator; name on the command line; gauge of /weft/links, with its unit; kind. */
#define LINK_KNOBS(X)                                                  \
	X(RATE, "rate", paced_bps, QUANTITY_RATE)                      \
	X(DELAY, "delay", delay_ps, QUANTITY_TIME)                     \
	X(JITTER, "jitter", jitter_ps, QUANTITY_TIME)                  \
	X(LOSS, "loss", loss_ppm, QUANTITY_SHARE)                      \
	X(CORRUPT, "corrupt", corrupt_ppm, QUANTITY_SHARE)             \
	X(CREDIT_LOSS, "credit-loss", credit_loss_ppm, QUANTITY_SHARE) \
	X(REORDER, "reorder", reorder_ppm, QUANTITY_SHARE)

enum link_knob {
#define X(name, word, gauge, kind) LINK_KNOB_##name,
	LINK_KNOBS(X)
#undef X
		LINK_KNOB_COUNT
};

#define LINK_KNOB_KEEP UINT64_MAX

/* Returns true if a target includes the direction from 'own' to 'peer', both "DEVICE:PORT". "all",
 * "s0:*" and "s0:1" select both directions of the links; "s0:*>" and "s0:1>" only that from s0. */
static inline bool link_knobs_mean(const char *target, const char *own, const char *peer)
{
	size_t length = strlen(target);
	bool one_way = length > 0 && target[length - 1] == '>';
	bool whole;

	if (strcmp(target, "all") == 0)
		return true;
	length -= one_way;
	whole = length < 2 || strncmp(target + length - 2, ":*", 2) != 0;
	length -= !whole;
	for (unsigned i = 0; i < (one_way ? 1u : 2u); i++) {
		const char *name = i == 0 ? own : peer;

		if (strncmp(name, target, length) == 0 && (!whole || name[length] == '\0'))
			return true;
	}
	return false;
}
