/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The options of a switch without a lab in a run file's terms, so that it is configured by the same
 * code (device_config.h, congestion_setup.h). */

#include <stdint.h>

#include "options.h"
#include "run_config.h"

/* Keys without an option keep their defaults, the values of the papers. With --adaptive, except
 * 'none', and more than one VC, the last VC is the adapted-flow channel. */
struct run_config standalone_run_config(const struct switch_options *options);

/* With --adaptive, except 'none', which is for measurements (what it costs a packet), each port
 * leads to all destinations: their sets of ports, the caller's to free. NULL: no memory. */
uint64_t *standalone_alternatives(uint32_t hosts, unsigned ports);
