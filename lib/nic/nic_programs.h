/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages whose payload stays with the host until a frame leaves. The interface asks for the
 * bytes of each frame, also when it resends the frame. So a message may be long and is copied only
 * once. nic_message.payload is nic_pulled; nic_message.bytes may exceed payload_bytes. */

#include "nic.h"

extern const uint8_t nic_pulled[1];

struct nic_programs {
	void *ctx;
	/* Writes 'bytes' bytes of the message from 'offset' on. */
	void (*pull)(void *ctx, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes);
	/* Called at the end of a message in place of nic_host.done(). Must not call nic_send(). */
	void (*done)(void *ctx, const struct nic_outcome *outcome);
};

/* Call this before the first such message. 'programs' is copied. */
void nic_set_programs(struct nic *nic, const struct nic_programs *programs);
