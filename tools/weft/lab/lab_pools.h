/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Pools of buffers that have run out. Of whatever device says so: a counter of it, or of one of its
 * ports, that is called 'no_mbuf' or 'pool_empty'. */

#include <stdbool.h>

#include <jansson.h>

#include "lab_state.h"

/* {device or port: {counter: value}}, of hosts or of switches: 0, or -ENOBUFS and fault: which one
 * has run out, and of how many others that is true. */
int lab_pools_judge(json_t *devices, bool hosts, struct fault *fault);

/* Asks the process. 0, -ENOBUFS or another -errno, and fault. */
int lab_pools_check(const struct lab_record *record, struct fault *fault);
