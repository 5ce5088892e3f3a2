/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Counters of a real-clock fabric. */

#include "real_private.h"

/* Bytes of a frame on the wire beside its payload: header, a typical route, preamble and gap. */
uint64_t real_frame_overhead(const struct real_fabric *fabric);
/* Reads the counters of a link (measure_links.h), in a process that has the whole fabric. */
void real_link_read(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);
/* At 'now', in time since the traffic began. */
void real_totals_read(
	const struct real_fabric *fabric, weft_time now, struct measure_totals *totals);
/* real_fabric_result(); without 'whole', without the samples. */
int real_fabric_count(
	struct real_fabric *fabric, bool whole, struct run_result *result, struct fault *fault);
