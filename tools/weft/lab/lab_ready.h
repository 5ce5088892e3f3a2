/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* How far a process of a lab has come that was started: its EAL answers, its ports are open, its
 * links are up. */

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "lab_state.h"

#define LAB_READY_TEXT 320

struct lab_ready {
	bool answers;             /* its EAL is up */
	size_t links, up;         /* ends of links; none: it has not opened its ports yet */
	char why[LAB_READY_TEXT]; /* the first link that is not up, and what it waits for; "" */
};

/* 'elsewhere': devices that run on other machines (lab_elsewhere.h). */
void lab_ready_ask(
	const struct lab_record *record, const json_t *elsewhere, struct lab_ready *ready);

/* The same of what /weft/links has answered. */
void lab_ready_judge(json_t *links, const json_t *elsewhere, struct lab_ready *ready);
