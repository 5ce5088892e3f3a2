/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Accounts for frames that links of a virtual fabric lose (virtual_faults.h). Between rounds the
 * ends of links renew their totals, and losses are summed up. */

#include "virtual_private.h"

/* Both ends of each link that loses frames renew their totals, unless its cable is cut. */
void virtual_losses_refresh(struct virtual_fabric *fabric, weft_time now);

/* Sum over all partitions of this process. */
struct virtual_fault_count virtual_losses_sum(const struct virtual_fabric *fabric);
void virtual_losses_result(const struct virtual_fabric *fabric, struct run_result *result);
