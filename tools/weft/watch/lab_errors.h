/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of which good is 0 and that are not, of a document of lab_collect(). */

#include <jansson.h>

/* [{"device", "counter", "unit", "meaning", "value", "grown"}, …], the caller's reference. Of a
 * switch the ports are listed; of a link only counters that its port does not have. 'before' (NULL:
 * none): an earlier document; "grown" is the difference, and entries that have grown come first. */
json_t *lab_errors(const json_t *all, const json_t *before);
