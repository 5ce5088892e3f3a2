/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Who goes first at a host with in-transit buffers: its own messages or those in transit (thesis,
 * section 3.1.4). In-transit ones do, so that they are late by little; but of own messages that
 * wait, one goes after every 4 in-transit ones when up to 50 own ones wait, after every 2 when 51
 * to 100 wait, and after each one above: then they alternate. What counts is how many in-transit
 * ones were sent since the last own one.
 *
 * That is the text of the thesis. Its figure 43 falls through to the second and third rule when the
 * first does not hold, so that its own messages would alternate with the others always.
 *
 * What takes turns is the caller's: whole messages in wormhole mode, frames in packet mode. If the
 * one whose turn it is cannot go now (no credits), the other may, and the caller says what was
 * sent; so nobody's turn is lost, and the link does not stay idle.
 */

#include <stdbool.h>
#include <stdint.h>

struct itb_share {
	uint32_t in_transit; /* sent since the last own one; zero at first */
};

/* In-transit ones after which an own one goes, when so many own ones wait. 1 to 4. */
unsigned itb_share_share(uint32_t own_waiting);

/* Both kinds have something to send: true if it is the own one's turn. */
bool itb_share_is_own(const struct itb_share *turn, uint32_t own_waiting);

/* One was sent, in turn or not. */
void itb_share_sent_own(struct itb_share *turn);
void itb_share_sent_in_transit(struct itb_share *turn);
