/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Credits and windows of a lab against round trips (credit_cover.h). */

#include "credit_cover.h"
#include "lab.h"

/* Only links that Weft times: one between processes is as fast as its device. */
void lab_cover_tell(const struct lab *lab, credit_cover_fn *tell, void *ctx);
