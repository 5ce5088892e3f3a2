/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "virtual_private.h"

/* Lets the switches query the queues of others, which is only possible with a single thread. */
void virtual_oracle_open(const struct virtual_fabric *fabric);
