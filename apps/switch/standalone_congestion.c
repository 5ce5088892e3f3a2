/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone_congestion.h"

#include <errno.h>
#include <stdlib.h>

#include "congestion_setup.h"

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

/* The values of the papers, where nothing says others. */
static struct run_config default_run(void)
{
	struct run_config run;

	run_config_default(&run);
	return run;
}

int standalone_congestion(
	struct weft_switch *sw, const struct switch_options *options, struct fault *fault)
{
	const struct run_config run = default_run();
	const struct congestion_detector_config detector = congestion_setup_detector(&run.detector);
	const struct arn_table_config table = congestion_setup_table(&run.detector);
	bool notifies = options->adaptive != NULL && options->adaptive->notified;
	const struct switch_congestion_config config = {
		.seed = run.seed,
		.mode = notifies ? &adaptive_none : options->adaptive,
		.afi = options->vcs > 1,
		.threshold_ppm = run.routing.threshold_ppm,
		.stage = 1,
		.detector = notifies ? &detector : NULL,
		.table = notifies ? &table : NULL,
	};
	int result = options->adaptive == NULL ? 0 : switch_congestion(sw, &config);

	if (result == -EINVAL)
		return fault_set(fault, EINVAL,
			"--adaptive %s: it goes with VOQs; expected no --no-voq",
			options->adaptive->name);
	return result == 0 ? 0 : fault_set(fault, -result, "no memory for adaptive routing");
}
