/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Internals of the mapper: plans for a complete map, that is, routes, images, and how to put them
 * into use (mapper_plan.c); the installed tables of devices (installed_tables.c); and heartbeats
 * and acknowledgements (mapper_beat.c). */

#include "mapper.h"

/* The highest epoch that a mapper accepts from a device: two billion changes. */
#define MAPPER_EPOCH_TRUE_MAX (UINT32_MAX / 2)

/* Computes the routes of the current map and starts to distribute changes, or to read the installed
 * tables first if they are unknown (mapper->reads). Without routes (mapper->fault) it starts a
 * distribution without tables if a device is paused, to end the pause. Returns true if a
 * distribution started. */
bool mapper_plan(struct mapper *mapper, weft_time now);
/* All images were read or given up: plans again with the result. */
void mapper_plan_found(struct mapper *mapper, weft_time now);
/* A distribution ended: records which device uses which tables. */
void mapper_plan_done(struct mapper *mapper, weft_time now);
/* Forgets all generations: another mapper leads. */
void mapper_plan_forget(struct mapper *mapper);

/* Builds a generation from the images of another mapper that were read; devices that were not asked
 * contribute nothing. It has no cables: check it together with 'next', which has them. Fails with
 * -EINVAL: the two cannot be compared, because an image does not match its digest or is invalid, a
 * device had another number, or its VC rule is not the rule in 'next'. May return -ENOMEM. */
int installed_tables_make(struct mapper_generation *found, const struct image_reading *reading,
	const struct mapper_generation *next);

/* Fills 'frame' with the next acknowledgement of a report and returns true, if one is due. */
bool mapper_poll_acknowledgements(struct mapper *mapper, struct mapper_frame *frame);
/* Fills 'frame' with the next heartbeat of this interval and returns true, if there is one. All
 * devices with a rank get heartbeats, the others in rotation. */
bool mapper_poll_heartbeats(struct mapper *mapper, weft_time now, struct mapper_frame *frame);
