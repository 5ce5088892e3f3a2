/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The path MTU of a lab's links: each end of a link pads a hello to the length of the longest frame
 * of the lab, and the other end counts it and answers in kind. Traffic continues. */

#include <jansson.h>

#include "base/weft_error.h"
#include "experiment/lab/lab.h"
#include "lab/lab_state.h"

/* [{"port", "peer", "dark", "passes"}, …] of each direction that starts at a process of 'state'.
 * The link is "dark" if it is cut or has no carrier. "passes" is null if it is, or if no frame was
 * sent; if the other end belongs to another machine's part, it means both directions. Blocks for up
 * to nine hello intervals and three seconds, or until a signal. The caller's reference. */
json_t *lab_probe(const struct lab *lab, const struct lab_state *state);

/* Describes an entry in fault->text. 0, -EMSGSIZE if frames do not pass, or -ENODATA if that is
 * unknown. */
#define LAB_PROBE_FIX "raise the MTU of bridges, switches and routers in between, or lower nic.mtu"
int lab_probe_judge(const struct lab *lab, const json_t *entry, struct error *error);
