/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * What the poll driver tells a capture about the frames of an interface (files.md: the state that
 * explains each one), and the way out of it, which a capture sees.
 *
 * Credits are those that the sender of a data frame has left in its VC, on this link, after it. An
 * interface has no virtual output queues, so no depth is told.
 */

#include "capture.h"
#include "poll_nic.h"

/* 'mbuf' has arrived and nothing has been done with it yet. */
void poll_nic_capture_in(
	const struct poll_nic *pn, struct capture *capture, struct rte_mbuf *mbuf, weft_time now);

/* 'mbufs' are about to be handed to the transmitter, their credits taken. */
void poll_nic_capture_out(const struct poll_nic *pn, struct capture *capture,
	struct rte_mbuf **mbufs, unsigned count, weft_time now);

/* Hands stamped frames to the port; a capture sees them first. One load and a branch a burst
 * without. */
static inline void poll_nic_send(
	struct poll_nic *pn, struct rte_mbuf **mbufs, uint16_t count, weft_time now)
{
	struct capture *capture = capture_of(pn->port);

	if (__builtin_expect(capture != NULL, 0))
		poll_nic_capture_out(pn, capture, mbufs, count, now);
	tx_queue_send(&pn->tx, mbufs, count, now);
}
