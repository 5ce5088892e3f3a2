/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "simulated_run.h"

#include <errno.h>
#include <rte_lcore.h>
#include <signal.h>
#include <time.h>

#include "measure/measure_window.h"
#include "process/program.h"
#include "virtual/virtual_capture.h"
#include "virtual/virtual_fabric.h"
#include "wormhole/wormhole_fabric.h"

#define TELL_EACH_S 0.5

struct progress {
	struct progress_line line;
	double scale; /* units per 'unit' */
	const char *unit;
	double started, told;
};

/* Prints nothing within half a second of the previous line. */
static void tell(void *ctx, uint64_t done, uint64_t whole, uint64_t packet_hops)
{
	struct progress *progress = ctx;
	double now = measure_wall_seconds(), gone = now - progress->started;

	if (now - progress->told < TELL_EACH_S || done == 0)
		return;
	progress->told = now;
	progress_line_print(&progress->line,
		"%5.1f %%  %.3f of %.3f %s  %.1f million packet-hops/s  %.0f s left",
		100 * (double)done / (double)whole, (double)done / progress->scale,
		(double)whole / progress->scale, progress->unit, (double)packet_hops / gone / 1e6,
		gone * (double)(whole - done) / (double)done);
}

static struct progress begin(const struct options *options, double scale, const char *unit)
{
	return (struct progress){
		.line = {.out = stderr, .silent = options->quiet},
		.scale = scale,
		.unit = unit,
		.started = measure_wall_seconds(),
	};
}

/* --- packets --- */

static int run_virtual(struct virtual_fabric *fabric, const struct options *options,
	const atomic_bool *stop, struct error *error)
{
	struct progress progress = begin(options, (double)PS_PER_MS, "ms");
	int result = virtual_fabric_run(fabric, stop,
		progress_line_visible(&progress.line) ? tell : NULL, &progress, error);

	progress_line_wipe(&progress.line);
	return result;
}

/* Runs the fabric, with captures if requested. */
static int run_captured(struct virtual_fabric *fabric, const struct options *options,
	const struct run_config *config, const atomic_bool *stop, struct ranks *ranks,
	struct error *error)
{
	struct virtual_capture *capture;
	int result = 0;

	if (options->captures == 0)
		return run_virtual(fabric, options, stop, error);
	if (run_config_is_ethernet(config))
		return error_set(error, EINVAL,
			"--pcap: captures show credits, which links with 'switch.flow-control: pfc' "
			"or 'lossy' do not have");
	capture =
		virtual_capture_create(fabric, options->snap_bytes, options_filter(options), error);
	if (capture == NULL)
		result = -errno;
	else if (options->rotate != NULL)
		virtual_capture_rotate(capture, &options->limits);
	for (unsigned i = 0; i < options->captures && result == 0; i++)
		result = virtual_capture_add(
			capture, options->capture[i].port, options->capture[i].path, error);
	result = ranks_agree(ranks, result, error);
	if (result == 0)
		result = run_virtual(fabric, options, stop, error);
	if (result == 0)
		result = virtual_capture_end(capture, error);
	virtual_capture_destroy(capture);
	return result;
}

static int report_virtual(struct virtual_fabric *fabric, const struct options *options,
	const struct run_config *config, const struct topology *topology, const atomic_bool *stop,
	struct error *error)
{
	struct run_result measured = {0};
	int result;

	run_result_heed(&measured, stop);
	result = virtual_fabric_result(fabric, &measured, error);
	if (result == 0)
		result = report_result(&measured, options, config, topology, error);
	if (result >= 0)
		result = report_complete(
			result, virtual_fabric_check_complete(fabric, error), error);
	run_result_free(&measured);
	return result;
}

struct baseline {
	const struct options *options;
	const struct topology *topology;
	struct ranks *ranks;
	const atomic_bool *stop;
};

/* A run for job_runs_make(). */
static int run_baseline(
	void *ctx, const struct run_config *config, struct run_result *result, struct error *error)
{
	const struct baseline *baseline = ctx;
	struct virtual_fabric *fabric = virtual_fabric_create(baseline->topology, config, error);
	int code = ranks_agree(baseline->ranks, fabric == NULL ? -errno : 0, error);

	if (code == 0)
		code = virtual_fabric_set_ranks(
			fabric, baseline->ranks, baseline->options->workers, error);
	if (code == 0)
		code = run_virtual(fabric, baseline->options, baseline->stop, error);
	if (code == 0 && rank_speaks(baseline->ranks))
		code = virtual_fabric_result(fabric, result, error);
	if (code == 0)
		result->to_ns = ps_to_ns(virtual_fabric_now(fabric));
	virtual_fabric_destroy(fabric);
	return code;
}

int virtual_run_jobs(const struct options *options, struct job_runs *runs,
	struct run_config *config, const struct topology *topology, struct ranks *ranks,
	struct error *error)
{
	struct baseline baseline = {options, topology, ranks, program_catch_signals()};

	/* All ranks must make the same runs, even if a signal reaches them at different times. */
	return job_runs_make(
		runs, config, ranks == NULL ? baseline.stop : NULL, run_baseline, &baseline, error);
}

int virtual_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct ranks *ranks, struct error *error)
{
	/* Until signals are caught they end the program: creation may take long and needs no
	 * clean-up. */
	struct virtual_fabric *fabric = virtual_fabric_create(topology, config, error);
	int result = ranks_agree(ranks, fabric == NULL ? -errno : 0, error);
	const atomic_bool *stop = program_catch_signals();

	/* mpirun forwards SIGUSR1 to all ranks. After SIGTERM it also kills them a while later. */
	if (ranks != NULL)
		program_catch_also(SIGUSR1);
	if (result == 0)
		result = virtual_fabric_set_ranks(fabric, ranks, options->workers, error);
	if (result == 0)
		virtual_fabric_stream(fabric, options->stream);
	if (result == 0)
		result = run_captured(fabric, options, config, stop, ranks, error);
	if (result == 0 && rank_speaks(ranks))
		result = report_virtual(fabric, options, config, topology, stop, error);
	virtual_fabric_destroy(fabric);
	return result;
}

/* --- flits --- */

static int run_wormhole(struct wormhole_fabric *fabric, const struct options *options,
	const struct run_config *config, const atomic_bool *stop, struct error *error)
{
	bool messages = config->measure.messages > 0; /* progress is counted in messages */
	struct progress progress = messages ? begin(options, 1000, "thousand messages")
					    : begin(options, (double)PS_PER_MS, "ms");
	int result = wormhole_fabric_run(fabric, stop,
		progress_line_visible(&progress.line) ? tell : NULL, &progress, error);

	progress_line_wipe(&progress.line);
	return result;
}

int wormhole_run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct error *error)
{
	struct run_result measured = {0};
	struct wormhole_fabric *fabric;
	const atomic_bool *stop;
	int result;

	if (options->captures > 0)
		return error_set(error, EINVAL,
			"--pcap: wormhole switches move flits, so there are no frames to capture");
	fabric = wormhole_fabric_create(topology, config, error);
	if (fabric == NULL)
		return -errno;
	stop = program_catch_signals();
	wormhole_fabric_stream(fabric, options->stream);
	result = run_wormhole(fabric, options, config, stop, error);
	run_result_heed(&measured, stop);
	if (result == 0)
		result = wormhole_fabric_result(fabric, &measured, error);
	if (result == 0)
		result = report_result(&measured, options, config, topology, error);
	run_result_free(&measured);
	wormhole_fabric_destroy(fabric);
	return result;
}

#define STEP_NS       20000000L
#define STEPS_TO_TELL 25

static void show_progress(struct real_progress *progress)
{
	weft_time done;

	if (real_fabric_sent_for(progress->fabric, &done))
		progress_line_show(&progress->line, done, progress->duration);
	else
		progress_line_wait(&progress->line, "links and routes");
}

static void *watch_progress(void *ctx)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	struct real_progress *progress = ctx;

	for (unsigned i = 1; !atomic_load(&progress->halt); i++) {
		nanosleep(&step, NULL);
		if (i % STEPS_TO_TELL == 0)
			show_progress(progress);
	}
	return NULL;
}

void real_progress_start(struct real_progress *progress)
{
	if (!progress_line_visible(&progress->line))
		return;
	progress->line.out = stderr;
	progress->running = rte_ctrl_thread_create(&progress->thread, "weft-progress", NULL,
				    watch_progress, progress) == 0;
}

void real_progress_stop(struct real_progress *progress)
{
	if (!progress->running)
		return;
	atomic_store(&progress->halt, true);
	pthread_join(progress->thread, NULL);
	progress_line_wipe(&progress->line);
}
