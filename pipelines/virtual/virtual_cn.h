/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Notifications of congestion (cn.h) in a virtual fabric: a host answers what arrives, and the
 * answer reaches the source after the delays of the way back. It takes neither credits nor time on
 * links; both papers call it negligible.
 */

#include "virtual_private.h"

/* 0 or -ENOMEM. */
int virtual_cn_open(struct virtual_fabric *fabric);
int virtual_cn_open_host(struct virtual_fabric *fabric, uint32_t number);
void virtual_cn_close(struct virtual_fabric *fabric);

/* Switches measure waiting times, once links have told what is behind them. 0 or -ENOMEM. */
int virtual_cn_open_switches(struct virtual_fabric *fabric);

/* A packet for this host has arrived; fabric->answers. */
void virtual_cn_answer(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now);

/* The item of a CREDIT event is a notification for the host: it hears it. */
void virtual_cn_arrive(
	struct virtual_fabric *fabric, uint32_t number, uint32_t item, weft_time now);

static inline bool virtual_is_cn(const struct virtual_fabric *fabric, uint32_t item)
{
	return item >= 2 * fabric->items;
}

/* Flows that a packet has met are forgotten before it is used again. */
void virtual_cn_forget(struct virtual_fabric *fabric, const struct weft_packet *packet);

/* Counters of all hosts, and sums since time 0. */
void virtual_cn_sums(const struct virtual_fabric *fabric, struct source_control_sums *sum);
/* Measuring begins; adds what switches have measured since. 0 or -ENOMEM. */
void virtual_cn_mark(struct virtual_fabric *fabric);
int virtual_cn_switches(const struct virtual_fabric *fabric, struct run_result *result);
void virtual_cn_result(const struct virtual_fabric *fabric, struct run_result *result);
const char *virtual_cn_check(const struct virtual_fabric *fabric);
