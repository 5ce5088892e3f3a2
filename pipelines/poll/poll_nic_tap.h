/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The TAP of an emulated host: reading and writing its descriptor. For poll_nic.c. */

#include "poll_nic.h"

/* Reads what the kernel has and hands it over; what the interface refuses for now is kept, and
 * nothing is read until it is gone, so the kernel's queue fills and TCP slows down. Returns frames
 * moved. */
unsigned poll_nic_tap_read(struct poll_nic_tap *tap, struct nic *nic, weft_time now);

void poll_nic_tap_fini(struct poll_nic_tap *tap);
