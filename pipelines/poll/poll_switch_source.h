/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The source check of a switch's poll loop (poll_switch.h), for frames that are not plain data of
 * the port's host. */

#include "poll_switch.h"

/* True if a good frame may come in by the port as far as its source says. Mapper frames have none.
 */
bool poll_switch_source_passes(const struct poll_switch *ps, unsigned at, const uint8_t *frame);

/* Counts a good data frame that does not pass, and its credits: it has left its sender. The frame
 * stays the caller's. */
void poll_switch_source_refuse(struct poll_switch *ps, unsigned at, struct rte_mbuf *mbuf);

/* After a hello: adopts the host that it names, if the switch learns them. */
void poll_switch_learn_host(struct poll_switch *ps, unsigned at);
