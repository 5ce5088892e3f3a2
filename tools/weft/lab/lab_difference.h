/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The first difference of two lab files, both written by lab_config_explain(). */

#include <stddef.h>

#include "yaml_tree.h"

/* Writes "traffic.0.load: 6% in the file, 2% in the lab"; "" if there is none. */
void lab_difference_find(const struct yaml_tree_node *file, const struct yaml_tree_node *lab,
	char *text, size_t size);
