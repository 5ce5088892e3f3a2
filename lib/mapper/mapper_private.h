/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Internals of the mapper: plans for a complete map, which consist of routes, images and their
 * activation (mapper_plan.c); installed tables of devices (installed_tables.c); heartbeats and
 * acknowledgements (mapper_beat.c). */

#include "mapper.h"

/* Highest epoch that a mapper accepts from a device: two billion changes. */
#define MAPPER_EPOCH_TRUE_MAX (UINT32_MAX / 2)

/* Computes the routes of the current map and starts to distribute changes, or first to read
 * installed tables that are unknown (mapper->reads). If there are no routes (mapper->error) and a
 * device is paused, starts a distribution without tables to end the pause. Returns true if a
 * distribution started. */
bool mapper_plan(struct mapper *mapper, weft_time now);
/* Plans again after all images have been read or given up. */
void mapper_plan_found(struct mapper *mapper, weft_time now);
/* Records which device uses which tables after a distribution. */
void mapper_plan_done(struct mapper *mapper, weft_time now);
/* Discards all generations, because another mapper leads. */
void mapper_plan_forget(struct mapper *mapper);

/* Builds a generation from another mapper's images that were read; other devices contribute
 * nothing. It has no cables, so check it together with 'next', which has them. Returns 0, -ENOMEM,
 * or -EINVAL if the two cannot be compared: an image is invalid or does not match its digest, a
 * device's number differs, or its VC rule differs from the rule in 'next'. */
int installed_tables_make(struct mapper_generation *found, const struct image_reading *reading,
	const struct mapper_generation *next);

/* Returns true if an acknowledgement of a report is due, and fills 'frame' with it. */
bool mapper_poll_acknowledgements(struct mapper *mapper, struct mapper_frame *frame);
/* Returns true if a heartbeat of this interval is due, and fills 'frame' with it. Devices with a
 * rank get a heartbeat in each interval, the others in rotation. */
bool mapper_poll_heartbeats(struct mapper *mapper, weft_time now, struct mapper_frame *frame);
