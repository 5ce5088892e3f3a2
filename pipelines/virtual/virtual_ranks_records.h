/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Packets and control frames that cross to a part in another rank, as records in a message.
 * Pointers become numbers that mean the same in all ranks.
 */

#include "ranks.h"
#include "virtual_cross.h"
#include "virtual_parts.h"

/* The most bytes that so many records take. */
size_t virtual_record_room(const struct virtual_fabric *fabric, size_t packets, size_t controls);

/* Each returns the first byte behind the record. 'extension' is NULL where packets have none. */
uint8_t *virtual_record_put_packet(const struct virtual_fabric *fabric, uint8_t *out,
	const struct virtual_crossing_packet *crossing, const struct latency_extension *extension);
uint8_t *virtual_record_put_control(const struct virtual_fabric *fabric, uint8_t *out,
	const struct virtual_crossing_control *crossing);

/* The next record becomes an event of this part (virtual_cross.h). False: there is none, or it
 * makes no sense. */
bool virtual_record_take_packet(struct virtual_fabric *fabric, struct ranks_reader *reader);
bool virtual_record_take_control(struct virtual_fabric *fabric, struct ranks_reader *reader);
