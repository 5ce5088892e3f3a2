/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads the congestion control settings from an OpenSM options file (opensm.conf, written by
 * 'opensm -c FILE'). Each line is a key and a value; other keys are ignored.
 *
 *     congestion_control                         TRUE, or absent
 *     cc_sw_cong_setting_control_map             bits: 0 victim mask, 2 threshold and packet size,
 *                                                4 marking rate; only those are used
 *     cc_sw_cong_setting_victim_mask             0, or marks victims at all ports
 *     cc_sw_cong_setting_threshold, _marking_rate
 *     cc_sw_cong_setting_packet_size             credits of 64 bytes
 *     cc_ca_cong_setting_port_control            0 per QP, 1 per SL
 *     cc_ca_cong_setting_control_map             service levels that are used
 *     cc_ca_cong_setting_ccti_timer, _ccti_increase, _ccti_min  SL VALUE; timer: 1.024 us
 *     cc_cct                                     SHIFT:MULTIPLIER,... or (null)
 *
 * Without a map, all settings or service levels are used. Weft has one setting for all service
 * levels, so the values of the service levels used must be equal. Credit starvation is not modelled
 * and causes an error. Keys, MADs, error windows and the log trigger have no effect. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "nic/congestion/iba_cc.h"

#define OPENSM_CC_BYTES_MAX (1u << 20) /* maximum file size */

/* The settings in a file. A setting with a false 'has' member is not in the file. */
struct opensm_cc {
	bool has_threshold, has_marking_rate, has_packet_size, has_victims, has_per_host;
	bool has_timer, has_increase, has_min, has_table;
	uint32_t threshold, marking_rate, packet_bytes;
	bool victims, per_host;
	weft_time timer_ps;
	uint32_t increase, min;
	struct cc_table table; /* its last entry is the maximum of the index */
};

/* Parses the text of a file; messages refer to it as 'origin'. Returns 0, or -EINVAL with an error
 * that names file, line and expected value. */
int opensm_cc_parse(const char *text, size_t length, const char *origin, struct opensm_cc *out,
	struct error *error);
