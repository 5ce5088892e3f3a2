/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The links of a virtual fabric: sending ends, and the credits of all ends as after start-up. */

#include "virtual_private.h"

int virtual_links_create(struct virtual_fabric *fabric, struct fault *fault);
void virtual_links_destroy(struct virtual_fabric *fabric);
/* The end of the last transmission that has begun anywhere. */
weft_time virtual_links_free_at(const struct virtual_fabric *fabric);
