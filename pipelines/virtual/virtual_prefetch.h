/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hints that bring the memory of coming events into the cache. They change no result. */

#include "virtual_private.h"

/* When the events of a bucket of the calendar begin. */
void virtual_prefetch(struct virtual_fabric *fabric);
/* When a packet arrives at a switch, or at a host. */
void virtual_prefetch_switch(struct virtual_fabric *fabric);
void virtual_prefetch_host(struct virtual_fabric *fabric);
/* When a switch has sent what it was sending. */
void virtual_prefetch_end(struct virtual_fabric *fabric);
