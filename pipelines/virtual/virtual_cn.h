/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Notifications of congestion (cn.h) in a virtual fabric: a host answers what arrives, and the
 * answer reaches the source after the delays of the path back. It takes neither credits nor time on
 * links; both papers call it negligible. */

#include "virtual_private.h"

/* Returns 0 or -ENOMEM. */
int virtual_cn_open(struct virtual_fabric *fabric);
/* Allocates the memory that each partition has for itself. Returns 0 or -ENOMEM. */
int virtual_cn_open_own(struct virtual_fabric *fabric);
void virtual_cn_close_own(struct virtual_fabric *fabric);
/* The switch's packets are the partition's. */
void virtual_cn_move_switch(struct virtual_fabric *partition, uint32_t at);
int virtual_cn_open_host(struct virtual_fabric *fabric, uint32_t number);
void virtual_cn_close(struct virtual_fabric *fabric);

/* Makes switches measure waiting times, once links know the devices at their ends. Returns 0 or
 * -ENOMEM. */
int virtual_cn_open_switches(struct virtual_fabric *fabric);

/* A packet for this host arrived; fabric->answers. */
void virtual_cn_answer(struct virtual_fabric *fabric, uint32_t number,
	const struct weft_packet *packet, weft_time now);

/* A notification will arrive at the host, as a CREDIT event with such an item. */
void virtual_cn_push(struct virtual_fabric *fabric, uint32_t number,
	const struct virtual_answer *answer, weft_time at);
/* Handles that event: the host processes the first of the notifications that arrive now. */
void virtual_cn_arrive(struct virtual_fabric *fabric, uint32_t number, weft_time now);

/* Counters of all hosts, and sums since time 0. */
void virtual_cn_sums(const struct virtual_fabric *fabric, struct source_control_sums *sum);
/* Measuring starts; adds what switches measured since. Returns 0 or -ENOMEM. */
void virtual_cn_mark(struct virtual_fabric *fabric);
int virtual_cn_switches(const struct virtual_fabric *fabric, struct run_result *result);
void virtual_cn_result(const struct virtual_fabric *fabric, struct run_result *result);
const char *virtual_cn_check(const struct virtual_fabric *fabric);
