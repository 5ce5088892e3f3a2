/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone_adapt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "switch_adapt.h"

#define ARN_ENTRIES 4096

uint8_t standalone_queues(const struct switch_options *options)
{
	return options->adaptive != NULL && options->vcs > 1 ? options->vcs - 1 : options->vcs;
}

uint64_t *standalone_alternatives(uint32_t hosts, unsigned ports)
{
	uint64_t *set = calloc(hosts, sizeof(*set));

	for (uint32_t host = 0; set != NULL && host < hosts; host++)
		set[host] = UINT64_MAX >> (SWITCH_PORTS_MAX - ports);
	return set;
}

/* The values of the ARN+AFI paper, as the defaults of a run file. */
int standalone_adapt(
	struct weft_switch *sw, const struct switch_options *options, struct fault *fault)
{
	const struct congestion_config detector = {.hcdth_ppm = 810000,
		.lcdth_ppm = 630000,
		.fcth_ppm = 780000,
		.crt_ps = 5 * PS_PER_MS,
		.refresh_ps = PS_PER_MS / 10,
		.retest = CONGESTION_RETEST_STARTS,
		.by_vc = true,
		.all_voqs = true,
		.afc = true};
	const struct arn_table_config table = {.entries = ARN_ENTRIES,
		.ttl_ps = 10 * PS_PER_MS,
		.refresh_ps = PS_PER_MS / 10,
		.adapted_notify = true,
		.adapted_roots = true,
		.waiting_first = true};
	bool notifies = options->adaptive != NULL && strcmp(options->adaptive, "arn") == 0;
	const struct switch_adapt_config config = {
		.seed = 1,
		.mode = adaptive_mode_find(
			notifies || options->adaptive == NULL ? "none" : options->adaptive),
		.afi = options->vcs > 1,
		.threshold_ppm = 750000,
		.stage = 1,
		.detector = notifies ? &detector : NULL,
		.table = notifies ? &table : NULL,
	};
	int result = options->adaptive == NULL ? 0 : switch_adapt(sw, &config);

	if (result == -EINVAL)
		return fault_set(fault, EINVAL,
			"--adaptive %s: it goes with VOQs; expected no --no-voq",
			options->adaptive);
	return result == 0 ? 0 : fault_set(fault, -result, "no memory for adaptive routing");
}
