/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of the lab's plan and nobody else. */

#include "lab_plan.h"

/* Fills the links once each device has its process; counts ports. 0, -EINVAL with fault. */
int lab_plan_links(
	struct lab_plan *plan, const struct lab_plan_request *request, struct fault *fault);
