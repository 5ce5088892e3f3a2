/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "virtual_run.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "progress.h"
#include "report.h"
#include "virtual_capture.h"
#include "virtual_fabric.h"

static void tell(void *ctx, weft_time done, weft_time whole, uint64_t packet_hops)
{
	progress_tell(ctx, done, whole, (double)PS_PER_MS, "ms", packet_hops);
}

static int run(struct virtual_fabric *fabric, const struct options *options,
	const atomic_bool *stop, struct fault *fault)
{
	bool terminal = !options->quiet && isatty(STDERR_FILENO);
	struct progress progress;
	int result;

	progress_begin(&progress);
	result = virtual_fabric_run(fabric, stop, terminal ? tell : NULL, &progress, fault);
	progress_end(&progress);
	return result;
}

/* Captures and the run. */
static int run_captured(struct virtual_fabric *fabric, const struct options *options,
	const atomic_bool *stop, struct fault *fault)
{
	struct virtual_capture *capture;
	int result = 0;

	if (options->captures == 0)
		return run(fabric, options, stop, fault);
	capture = virtual_capture_create(fabric, options->snap_bytes, fault);
	if (capture == NULL)
		return -errno;
	for (unsigned i = 0; i < options->captures && result == 0; i++)
		result = virtual_capture_add(
			capture, options->capture[i].port, options->capture[i].path, fault);
	if (result == 0)
		result = run(fabric, options, stop, fault);
	if (result == 0)
		result = virtual_capture_end(capture, fault);
	virtual_capture_destroy(capture);
	return result;
}

int virtual_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, const atomic_bool *stop, struct fault *fault)
{
	struct virtual_fabric *fabric = virtual_fabric_create(topology, config, fault);
	int result = fabric == NULL ? -errno : run_captured(fabric, options, stop, fault);
	struct run_result measured = {0};

	if (result == 0)
		result = virtual_fabric_result(fabric, &measured, fault);
	if (result == 0)
		result = report_result(&measured, options, config, fault);
	if (result == 0 && virtual_fabric_check_complete(fabric, fault) < 0) {
		fprintf(stderr, "weft-fabric: %s\n", fault->text);
		result = EXIT_BAD_ANSWER;
	}
	virtual_fabric_destroy(fabric);
	run_result_free(&measured);
	return result;
}
