/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "wormhole_run.h"

#include <errno.h>
#include <unistd.h>

#include "progress.h"
#include "report.h"
#include "wormhole_fabric.h"

struct teller {
	struct progress progress;
	bool messages; /* the run counts them */
};

static void tell(void *ctx, uint64_t done, uint64_t whole, uint64_t channels_passed)
{
	struct teller *teller = ctx;

	progress_tell(&teller->progress, done, whole, teller->messages ? 1000 : (double)PS_PER_MS,
		teller->messages ? "thousand messages" : "ms", channels_passed);
}

static int run(struct wormhole_fabric *fabric, const struct options *options,
	const struct run_config *config, const atomic_bool *stop, struct fault *fault)
{
	bool terminal = !options->quiet && isatty(STDERR_FILENO);
	struct teller teller = {.messages = config->measure.messages > 0};
	int result;

	progress_begin(&teller.progress);
	result = wormhole_fabric_run(fabric, stop, terminal ? tell : NULL, &teller, fault);
	progress_end(&teller.progress);
	return result;
}

int wormhole_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, const atomic_bool *stop, struct fault *fault)
{
	struct run_result measured = {0};
	struct wormhole_fabric *fabric;
	int result;

	if (options->captures > 0)
		return fault_set(fault, EINVAL,
			"--pcap: wormhole switches move flits, not frames that could be captured");
	fabric = wormhole_fabric_create(topology, config, fault);
	if (fabric == NULL)
		return -errno;
	result = run(fabric, options, config, stop, fault);
	if (result == 0)
		result = wormhole_fabric_result(fabric, &measured, fault);
	if (result == 0)
		result = report_result(&measured, options, config, fault);
	run_result_free(&measured);
	wormhole_fabric_destroy(fabric);
	return result;
}
