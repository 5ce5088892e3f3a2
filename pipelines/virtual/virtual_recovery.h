/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Fabrics whose hosts discard packets in transit (datagram_recovery.h). */

#include "virtual_private.h"

/* A host has discarded the frame, which goes back to its source. */
void virtual_recovery_report(
	struct virtual_fabric *fabric, uint32_t host, struct weft_packet *packet, weft_time now);
/* The report of it arrives at the source, a host of this part, at 'due'. */
void virtual_recovery_take(
	struct virtual_fabric *fabric, struct weft_packet *packet, weft_time due);
uint64_t virtual_recovery_held(const struct virtual_fabric *fabric); /* frames, now */
const char *virtual_recovery_check(const struct virtual_fabric *fabric);
void virtual_recovery_result(const struct virtual_fabric *fabric, struct run_result *result);
