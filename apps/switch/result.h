/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What a stand-alone switch says when it ends: a table for people, or one JSON document. */

#include <stdio.h>

#include "standalone.h"

/* 0, or -ENOMEM or the errno of writing. */
int result_print_json(const struct standalone *standalone, FILE *out);
void result_print(const struct standalone *standalone, FILE *out);
