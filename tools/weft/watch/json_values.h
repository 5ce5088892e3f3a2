/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Members of the documents of lab_collect() and lab_rates(); 0 if there is none of that name. */

#include <jansson.h>
#include <stdint.h>

static inline uint64_t json_count_of(const json_t *object, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(object, name));
}

static inline double json_value_of(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}
