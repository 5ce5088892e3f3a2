/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The progress of a started process: its EAL answers, its ports are open, its links are up. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lab_state.h"

#define LAB_READY_TEXT 320

struct lab_ready {
	bool answers;             /* its EAL is up */
	size_t links, up;         /* ends of links; none: it has not opened its ports yet */
	size_t away;              /* not up, and their other end is on another machine */
	char why[LAB_READY_TEXT]; /* the first link that is not up, and what it waits for; "" */
};

/* 'elsewhere': devices on other machines (lab_state.h). */
void lab_ready_ask(
	const struct lab_record *record, const json_t *elsewhere, struct lab_ready *ready);

/* The same from an answer of /weft/links. */
void lab_ready_read(json_t *links, const json_t *elsewhere, struct lab_ready *ready);

/* "s0:3 is cabled to another fabric (number 0x1234)", of a link in state "other fabric"; "s0:3
 * receives hellos of s2:1 instead of s1:0", of one in state "wrong port". False: another state. */
bool lab_ready_stranger(const json_t *link, char *out, size_t size);

/* Exhausted pools of buffers. Every device reports them: a counter of the device, or of one of its
 * ports, named 'no_mbuf' or 'pool_empty'. */

/* {device or port: {counter: value}}, of hosts or of switches: 0, or -ENOBUFS and error: the
 * first exhausted pool, and the number of others. */
int lab_pools_check_counters(json_t *devices, bool hosts, struct error *error);

/* Asks the process. 0, -ENOBUFS or another -errno, and error. */
int lab_pools_check(const struct lab_record *record, struct error *error);
