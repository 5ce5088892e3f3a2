/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shares of the VCs of an interface in one store of messages or payloads. Half of the store is
 * divided among the VCs, so that a stalled VC leaves the other VCs their shares; the other half is
 * first come, first served, so that one VC alone can use most of the store. A single VC has the
 * whole store. This is Weft's own design: the papers' interfaces have a queue per VC and do not
 * specify its memory.
 *
 * Caller's memory; one thread. */

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

struct vc_share {
	uint32_t used[FRAME_VCS_MAX];
	uint32_t reserved;            /* for each VC */
	uint32_t common, common_used; /* for all */
};

/* A store of 'total' items, used by 'vcs' VCs, 1 or more. */
static inline void vc_share_init(struct vc_share *share, uint32_t total, unsigned vcs)
{
	uint32_t reserved = vcs == 1 ? total : total / (2 * vcs);

	if (reserved == 0 && total >= vcs)
		reserved = 1;
	*share = (struct vc_share){.reserved = reserved, .common = total - vcs * reserved};
}

static inline bool vc_share_has_room(const struct vc_share *share, unsigned vc)
{
	return share->used[vc] < share->reserved || share->common_used < share->common;
}

/* How many more items a VC could take. */
static inline uint32_t vc_share_left(const struct vc_share *share, unsigned vc)
{
	uint32_t own = share->used[vc] < share->reserved ? share->reserved - share->used[vc] : 0;

	return own + share->common - share->common_used;
}

/* There is room. */
static inline void vc_share_take(struct vc_share *share, unsigned vc)
{
	share->common_used += share->used[vc]++ >= share->reserved;
}

/* Gives back an item. */
static inline void vc_share_put(struct vc_share *share, unsigned vc)
{
	share->common_used -= --share->used[vc] >= share->reserved;
}
