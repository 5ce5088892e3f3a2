/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "itb_share.h"

#define FEW_WAIT  50
#define MANY_WAIT 100

unsigned itb_share_share(uint32_t own_waiting)
{
	if (own_waiting <= FEW_WAIT)
		return 4;
	return own_waiting <= MANY_WAIT ? 2 : 1;
}

bool itb_share_is_own(const struct itb_share *turn, uint32_t own_waiting)
{
	return turn->in_transit >= itb_share_share(own_waiting);
}

void itb_share_sent_own(struct itb_share *turn)
{
	turn->in_transit = 0;
}

void itb_share_sent_in_transit(struct itb_share *turn)
{
	if (turn->in_transit < UINT32_MAX)
		turn->in_transit++;
}
