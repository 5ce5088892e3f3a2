/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include "virtual_private.h"

/* Lets the switches ask for the queues of others, which one thread may do. */
void virtual_oracle_open(const struct virtual_fabric *fabric);
