/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

#include <jansson.h>

#include "experiment/run/run_config.h"

/* The full configuration as JSON, key by key as 'weft run --explain' prints it: integers and
 * booleans as such, quantities as text with their unit. The caller's reference; NULL without
 * memory. */
json_t *run_config_json(const struct run_config *config);
