/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The switches of a real-clock fabric. */

#include "real_private.h"

int real_switches_create(struct real_fabric *fabric, struct fault *fault);
void real_switches_destroy(struct real_fabric *fabric);
