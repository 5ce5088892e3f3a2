/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Shared by the files of the lab's plan. */

#include "lab_plan.h"

/* Fills the links and counts ports, after the processes. 0, or -EINVAL and fault. */
int lab_plan_links(
	struct lab_plan *plan, const struct lab_plan_request *request, struct fault *fault);
