/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The loops of a real-clock fabric: polling every device, shared out among the lcores. The first
 * loop, the leader, also watches the clock, takes samples and gives the orders. real_fabric.h has
 * the functions that start them. */

#include "real_private.h"

/* The leader, between two rounds of polling, advances the phases and obeys commands. It does
 * nothing while a loop has not obeyed the last order. True when the run is over. */
bool real_lead(struct real_fabric *fabric);
