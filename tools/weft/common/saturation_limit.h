/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The share of the offered traffic below which a network counts as saturated in tables of sweeps
 * and in plots. Our choice: sources with random intervals offer a few percent more or less than
 * their load in a short run. Searches for the saturation know how many messages a run has, and ask
 * for more (reproduce/saturation.h). */
#define SATURATION_ACCEPTED 0.97
