/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* CPUs that the calling thread may run on, at least 1. */
unsigned cpu_count(void);
