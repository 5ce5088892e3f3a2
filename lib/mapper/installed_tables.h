/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The tables that devices were found with, as a generation of a mapper that has not made them: so
 * it can tell whether they go together with its own. Only mapper_plan.c includes this. */

#include "mapper.h"

/* Of all images that were read; devices that were not asked have none in it. The generation has no
 * cables: 'next', whose cables are there, is to count beside it. -EINVAL: an image is not what its
 * digest says or is bad, a device had another number, or its VC rule is not that of 'next': then
 * nothing can be said about the two together. -ENOMEM. */
int installed_tables_make(struct mapper_generation *found, const struct image_reading *reading,
	const struct mapper_generation *next);
