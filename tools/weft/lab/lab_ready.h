/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Progress of a started process: its EAL answers, its ports are open, its links are up. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lab_state.h"

#define LAB_READY_TEXT 320

struct lab_ready {
	bool answers;     /* its EAL is up */
	size_t links, up; /* link ends; 0: the process has not opened its ports yet */
	size_t away;      /* link ends that are not up and whose other end is on another machine */
	char why[LAB_READY_TEXT]; /* the first link that is not up, and the reason; or "" */
};

/* 'elsewhere': devices on other machines (lab_state.h). */
void lab_ready_ask(
	const struct lab_record *record, const json_t *elsewhere, struct lab_ready *ready);

/* Like lab_ready_ask(), from an answer to /weft/links. */
void lab_ready_read(json_t *links, const json_t *elsewhere, struct lab_ready *ready);

/* Writes "s0:3 is cabled to another fabric (number 0x1234)" for a link in state "other fabric";
 * "s0:3 receives hellos of s2:1 instead of s1:0" for one in state "wrong port". Returns false for
 * any other state. */
bool lab_ready_stranger(const json_t *link, char *out, size_t size);

/* Exhausted buffer pools. Every device reports them in a counter 'no_mbuf' or 'pool_empty' of its
 * own or of one of its ports. */

/* Checks {device or port: {counter: value}} of hosts or switches. Returns 0, or -ENOBUFS with error
 * set, which names the first exhausted pool and the number of others. */
int lab_pools_check_counters(json_t *devices, bool hosts, struct error *error);

/* Checks the pools of the process. Returns 0, -ENOBUFS if one is exhausted, or another -errno, with
 * error set. */
int lab_pools_check(const struct lab_record *record, struct error *error);
