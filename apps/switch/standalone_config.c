/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "standalone.h"

#include <stdlib.h>

#include "switch.h"

struct run_config standalone_run_config(const struct switch_options *options)
{
	struct run_config run;

	run_config_default(&run);
	if (options->adaptive != NULL)
		run.routing.adaptive = options->adaptive;
	run.sw.credits = run_credits_of_mode(run.routing.adaptive);
	run.routing.afi = run_config_is_adaptive(&run) && options->vcs > 1;
	run.sw.vcs = options->vcs - run.routing.afi;
	run.sw.voq = options->voq;
	run.sw.buffer_bytes = options->buffer_bytes;
	run.nic.mtu_bytes = options->mtu_bytes;
	run.hello_ps = options->hello_ps;
	run.watchdog_ps = options->watchdog_ps;
	return run;
}

uint64_t *standalone_alternatives(uint32_t hosts, unsigned ports)
{
	uint64_t *set = calloc(hosts, sizeof(*set));

	for (uint32_t host = 0; set != NULL && host < hosts; host++)
		set[host] = UINT64_MAX >> (SWITCH_PORTS_MAX - ports);
	return set;
}
