/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The veth pairs of a lab, in a network namespace of its own: names cannot clash, and all of it
 * disappears with the namespace. 'ip netns exec weft-LAB tcpdump -i wl3a' listens.
 */

#include "fault.h"
#include "lab_plan.h"

/* Makes the namespace and a pair for each VETH link, up, without IPv6 (the kernel is to send
 * nothing by itself), with an MTU for frames of 'frame_bytes'. Undoes what it made when it fails.
 */
int lab_veth_create(const struct lab_plan *plan, uint32_t frame_bytes, struct fault *fault);
/* No error if it is not there. */
int lab_veth_remove(const char *netns, struct fault *fault);
