/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The counters of a virtual fabric (measure_window.h). */

#include "virtual_private.h"

void virtual_totals_read(const struct virtual_fabric *fabric, struct measure_totals *totals);
/* The use of links counts from now on. */
void virtual_links_mark(struct virtual_fabric *fabric);
