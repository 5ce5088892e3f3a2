/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Mappers and agents of a virtual fabric ('mapper.after: mapper'; mapper_network.h). Before the run
 * they elect a leader, which maps the fabric and distributes routes. During it their frames occupy
 * cables, ahead of data that has not begun to leave, and are lost on cut ones; each device changes
 * its tables when it commits. They run between two events of the fabric, which has a single
 * worker. */

#include "virtual_private.h"

/* Does nothing unless the run has events and asks for it. 0, -EINVAL, -ENOMEM. */
int virtual_mapper_open(struct virtual_fabric *fabric, struct error *error);
void virtual_mapper_close(struct virtual_fabric *fabric);

/* The others also do nothing without mappers. */
weft_time virtual_mapper_due(const struct virtual_fabric *fabric);
/* True: all devices use new routes from now on. */
bool virtual_mapper_poll(struct virtual_fabric *fabric, weft_time now);
/* The cable is cut; its ends notice that it is up or down. */
void virtual_mapper_cut(struct virtual_fabric *fabric, uint32_t link);
void virtual_mapper_notice(struct virtual_fabric *fabric, uint32_t link, bool up, weft_time now);
/* The leader's routes are for a fabric with this cable. */
bool virtual_mapper_uses(const struct virtual_fabric *fabric, uint32_t link);

void virtual_mapper_result(const struct virtual_fabric *fabric, struct run_result *result);
