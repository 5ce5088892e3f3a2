/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Carries out the events of a virtual run. */

#include "virtual_private.h"

/* Up to '*most' events before fabric->limit. False: there are no more, and '*most' is what is left
 * of it. */
bool virtual_dispatch(struct virtual_fabric *fabric, uint32_t *most);
