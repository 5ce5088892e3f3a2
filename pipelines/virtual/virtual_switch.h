/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Events at the switches of a virtual fabric. */

#include "virtual_private.h"

void virtual_switch_arrive(struct virtual_fabric *fabric, uint32_t at, unsigned input,
	struct weft_packet *packet, weft_time now);
void virtual_switch_done(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
void virtual_switch_credit(
	struct virtual_fabric *fabric, uint32_t at, unsigned port, uint32_t item, weft_time now);
/* Sends by this output if it can. */
void virtual_switch_try(struct virtual_fabric *fabric, uint32_t at, unsigned port, weft_time now);
/* Gives back what a switch has discarded. */
void virtual_take_discards(struct virtual_fabric *fabric, uint32_t at);
