/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "saturation.h"

#include <math.h>

bool accepts_less(double offered, double accepted, uint64_t messages)
{
	return accepted < offered * fmax(ACCEPTS_LESS, 1 - 1 / sqrt((double)messages));
}
