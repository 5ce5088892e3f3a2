/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Credits and windows of a lab compared with round trips (credit_cover.h). */

#include "credit_cover.h"
#include "lab.h"

/* Only links that Weft times; others between processes are as fast as their device. */
void lab_cover_tell(const struct lab *lab, credit_cover_fn *tell, void *ctx);
