/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The mapper of a run file, the same on both clocks. */

#include "experiment/run/run_config.h"
#include "mapper/mapper.h"

/* Longest payload of a frame from or to the mapper. */
uint32_t mapper_setup_payload(const struct run_config *run);
/* -EINVAL: the MTU is too small, or the algorithm finds no root. -ENOMEM. */
int mapper_setup(const struct run_config *run, const struct topology *topology,
	struct mapper_config *config, struct error *error);
/* Priority of the mapper in this host; 0: the host may not be the mapper. */
uint16_t mapper_setup_priority(
	const struct run_config *run, const struct topology *topology, uint32_t host);
