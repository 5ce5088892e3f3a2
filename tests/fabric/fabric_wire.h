/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the devices of a test fabric: wires, the pool, control frames as bytes. */

#include "fabric_harness.h"

void fabric_wire_init(struct fabric_wire *wire, const struct fabric_config *config,
	weft_time delay_ps, uint32_t data_items);

/* At the begin of a step. */
static inline void fabric_wire_refill(struct fabric_wire *wire, uint32_t blocks)
{
	wire->budget_blocks += (int32_t)blocks;
	if (wire->budget_blocks > (int32_t)blocks)
		wire->budget_blocks = (int32_t)blocks;
}

/* The packet is the wire's, or lost. */
void fabric_wire_send(struct fabric *fabric, struct fabric_wire *wire, struct weft_packet *packet);

/* Encodes and sends what link_end_poll() found due. */
void fabric_send_control(struct fabric *fabric, struct fabric_end *end, unsigned due);

/* Returns the next item that has arrived, or NULL. */
static inline struct fabric_item *fabric_wire_next(
	const struct fabric *fabric, const struct fabric_wire *wire)
{
	struct fabric_item *item = &wire->item[wire->head & wire->mask];

	return wire->head != wire->tail && item->arrives_ps <= fabric->now ? item : NULL;
}

/* Decodes and checks the item's control frame. */
struct fabric_control_frame {
	enum frame_kind kind;
	struct control_credit credit;
	struct control_hello hello;
};
void fabric_take_control(struct fabric_wire *wire, struct fabric_control_frame *frame);

/* Each switch has its own table from SL to VC, so that a packet changes its VC on the way; SLs that
 * share a VC share it everywhere. Hosts number their flows by the VC in which they send. */
static inline unsigned fabric_switch_vc(const struct fabric *fabric, unsigned at, unsigned sl)
{
	return (sl + at) % fabric->config.vcs;
}

static inline unsigned fabric_host_vc(const struct fabric *fabric, unsigned sl)
{
	return sl % fabric->config.vcs;
}

struct weft_packet *fabric_packet_get(struct fabric *fabric);
void fabric_packet_put(struct fabric *fabric, struct weft_packet *packet);

/* A switch's turn, a host's turn. */
void fabric_switch_turn(struct fabric *fabric, struct fabric_switch *at);
void fabric_host_turn(struct fabric *fabric, struct fabric_host *host);

void fabric_fail(const struct fabric *fabric, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
