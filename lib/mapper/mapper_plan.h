/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a mapper does with a map that is complete: routes, images, and which way to put them in use.
 * Only mapper.c and mapper_plan.c include this. */

#include "mapper.h"

/* Computes the routes of the present map and begins to distribute what has changed, or, if that is
 * to replace tables that it does not know, to read these (mapper->reads). Where no routes can be
 * had (mapper->fault) it begins one without tables if somebody is paused, to end that. True if a
 * distribution has begun. */
bool mapper_plan(struct mapper *mapper, weft_time now);
/* All images have been read, or will not be: the next plan knows what could be learned. */
void mapper_plan_found(struct mapper *mapper, weft_time now);
/* A distribution is over: takes note of who uses what. */
void mapper_plan_done(struct mapper *mapper, weft_time now);
/* Forgets all generations: somebody else leads. */
void mapper_plan_forget(struct mapper *mapper);
