/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Events at the hosts of a virtual fabric. */

#include "virtual_private.h"

void virtual_host_arrive(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
void virtual_host_done(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_wake(struct virtual_fabric *fabric, uint32_t host, weft_time now);
void virtual_host_credit(
	struct virtual_fabric *fabric, uint32_t host, uint32_t item, weft_time now);
/* Sends if the host can. */
void virtual_host_try(struct virtual_fabric *fabric, uint32_t host, weft_time now);
/* Calls virtual_host_try() at that time at the latest. */
void virtual_host_wake_by(struct virtual_fabric *fabric, uint32_t host, weft_time at);
/* The frame was discarded on the way and is not sent again. Its destination stops waiting for it as
 * soon as it can know: after the delay of its link, in which parts do not hear of each other
 * (virtual_parts.h). */
void virtual_give_up(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time now);
/* The destination, which is in this part, knows of it at 'due': a WAKE event with item 1. */
void virtual_host_lose_at(struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due);
/* This is that event, for the first of those that are due. */
void virtual_host_lose(struct virtual_fabric *fabric, uint32_t host, weft_time now);

/* Before a run: hosts that can do so send past their FIFOs. */
void virtual_hosts_open(struct virtual_fabric *fabric);
/* True if a host had no memory for the number of a pair. */
bool virtual_hosts_failed(const struct virtual_fabric *fabric);
/* Nothing is under way any more: when hosts that are held back stop counting messages that fall
 * due, because they have no more room for any. */
weft_time virtual_hosts_full_at(const struct virtual_fabric *fabric);
/* Counts those messages. */
void virtual_hosts_fill(struct virtual_fabric *fabric);
