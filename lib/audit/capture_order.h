/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Merges the packets of several captures by time. A lab's captures are not quite in order, because
 * each process delivers its frames with some delay. The reader therefore holds back as many packets
 * as the files' disorder requires, which is none in a capture of a run. One thread. */

#include "capture_reader.h"

struct capture_ordered {
	uint32_t file;
	struct capture_packet packet;
};

struct capture_order;

/* The readers outlive it. 'arrivals_first': among packets with equal times, arrivals come first;
 * otherwise the file's order counts. Returns NULL if out of memory. */
struct capture_order *capture_order_create(
	struct capture_reader *reader, uint32_t readers, bool arrivals_first);
void capture_order_destroy(struct capture_order *order);

/* Returns 1, or 0 after the last packet, or -ENOMEM. */
int capture_order_next(struct capture_order *order, struct capture_ordered *next);
