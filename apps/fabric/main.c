/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-fabric: a whole fabric in one process. EAL's options precede '--'; its own follow it. */

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/port_set.h"
#include "capture/capture_filter.h"
#include "options.h"
#include "os/terminal.h"
#include "poll/poll_yield.h"
#include "port/eal.h"
#include "process/lab_process.h"
#include "process/program.h"
#include "real/real_fabric.h"
#include "setup/credit_cover.h"
#include "setup/fabric_routes.h"
#include "simulated_run.h"
#include "topo/topology.h"

/* If a rank has failed, it may be the only one that can still report the reason. */
static int fail(const struct ranks *ranks, int result, const struct error *error)
{
	if (rank_speaks(ranks) || ranks->failed)
		fprintf(stderr, "%s: %s\n", PROGRAM, error->text);
	return error_exit_code(result);
}

static int report(struct real_fabric *fabric, const struct options *options,
	const struct run_config *config, const struct topology *topology, const atomic_bool *stop,
	struct error *error)
{
	struct run_result result = {0};
	int code;

	run_result_heed(&result, stop);
	code = real_fabric_result(fabric, &result, error);
	if (code == 0)
		code = report_result(&result, options, config, topology, error);
	if (code >= 0)
		code = report_complete(code, real_fabric_check_complete(fabric, error), error);
	run_result_free(&result);
	return code;
}

static int start_captures(
	struct real_fabric *fabric, const struct options *options, struct error *error)
{
	int result = 0;

	for (unsigned i = 0; i < options->captures && result == 0; i++)
		result = capture_start(real_fabric_captures(fabric), options->capture[i].port,
			options->capture[i].path, options_filter(options), error);
	return result;
}

static void stop_captures(struct real_fabric *fabric, const struct options *options)
{
	for (unsigned i = 0; i < options->captures; i++) {
		struct capture_counts counts = {0};
		struct error error = {.text = ""};

		if (capture_stop(real_fabric_captures(fabric), options->capture[i].port, &counts,
			    &error) < 0)
			fprintf(stderr, "%s: %s\n", PROGRAM, error.text);
		else if (counts.dropped > 0)
			fprintf(stderr, "%s: %s: %llu of %llu frames are not in the capture\n",
				PROGRAM, options->capture[i].port,
				(unsigned long long)counts.dropped,
				(unsigned long long)counts.offered);
	}
}

static int run(const struct options *options, const struct run_config *config,
	const struct topology *topology, struct fabric_routes *routes, const atomic_bool *stop,
	struct error *error)
{
	const struct real_fabric_options fabric_options = {
		.topology = topology,
		.run = config,
		.name = "fabric",
		.routes = config->mapper.routes != RUN_ROUTES_MAPPER ? routes : NULL,
		.session = 1,
		.lcores = options->lcores,
		.snap_bytes = options->snap_bytes,
		.limits = options->rotate != NULL ? &options->limits : NULL,
		.stream = options->stream,
	};
	struct real_fabric *fabric = real_fabric_create(&fabric_options, error);
	struct real_progress progress = {
		.fabric = fabric,
		.duration = config->measure.duration_ps,
		.line.silent = options->quiet,
	};
	int result;

	if (fabric == NULL)
		return -errno;
	result = start_captures(fabric, options, error);
	if (result == 0) {
		real_progress_start(&progress);
		real_fabric_run(fabric, config->measure.duration_ps, stop);
		real_progress_stop(&progress);
		stop_captures(fabric, options);
		result = report(fabric, options, config, topology, stop, error);
	}
	real_fabric_end(fabric);
	return result;
}

struct baseline {
	const struct options *options;
	const struct topology *topology;
	const atomic_bool *stop;
};

/* A run for job_runs_make(). */
static int run_baseline(
	void *ctx, const struct run_config *config, struct run_result *result, struct error *error)
{
	const struct baseline *baseline = ctx;
	const struct real_fabric_options options = {
		.topology = baseline->topology,
		.run = config,
		.name = "baseline",
		.session = 1,
		.lcores = baseline->options->lcores,
	};
	struct real_fabric *fabric = real_fabric_create(&options, error);
	int code;

	if (fabric == NULL)
		return -errno;
	real_fabric_run(fabric, config->measure.duration_ps, baseline->stop);
	code = real_fabric_result(fabric, result, error);
	real_fabric_destroy(fabric);
	return code;
}

static int run_jobs(const struct options *options, struct run_config *config,
	const struct topology *topology, const atomic_bool *stop, struct error *error)
{
	struct baseline baseline = {options, topology, stop};

	if (options->jobs == NULL)
		return 0;
	return job_runs_make(options->jobs, config, stop, run_baseline, &baseline, error);
}

/* Refuses options that several threads cannot handle, except those that virtual_fabric_set_ranks()
 * refuses. */
static int check_workers(const struct options *options, const struct run_config *config,
	const struct ranks *ranks, struct error *error)
{
	char asked[64];

	if (options->workers <= 1 && ranks == NULL)
		return 0;
	if (ranks != NULL)
		snprintf(asked, sizeof(asked), "--mpi %u", ranks->count);
	else
		snprintf(asked, sizeof(asked), "--workers %u", options->workers);
	if (config->clock != RUN_CLOCK_VIRTUAL)
		return error_set(error, EINVAL,
			"%s: workers are for the virtual clock only; on the real clock use --lcores",
			asked);
	if (config->sw.switching == RUN_SWITCHING_WORMHOLE)
		return error_set(
			error, EINVAL, "%s: wormhole switching supports only one worker", asked);
	return 0;
}

static int make_filter(struct options *options, const struct run_config *config,
	const struct topology *topology, struct error *error)
{
	if ((options_filter(options) != NULL || options->rotate != NULL) && options->captures == 0)
		return error_set(error, EINVAL, "--filter, --where and --rotate require --pcap");
	if (options->filter != NULL && config->clock == RUN_CLOCK_VIRTUAL)
		return error_set(error, EINVAL,
			"--filter: not available on the virtual clock, where frames carry no TAP packets; use --where");
	if (options->rotate != NULL &&
		capture_limits_parse(&options->limits, options->rotate, error) < 0)
		return -EINVAL;
	return capture_expression_parse(
		&options->capture_filter, options->filter, options->where, topology, error);
}

/* Reads and checks the run file before EAL starts, so that errors are reported immediately. */
static struct run_config *load(struct options *options, const struct ranks *ranks,
	struct topology **topology, struct error *error, int *result)
{
	struct run_config *config =
		run_config_load(options->run_file, options->set, options->sets, error);

	*result = config == NULL ? -errno : 0;
	if (config == NULL)
		return NULL;
	if (options->clock != NULL)
		*result = run_config_set_clock(config, options->clock, error);
	if (*result == 0 && options->dilation != NULL)
		*result = run_config_set_dilation(config, options->dilation, error);
	if (*result == 0)
		*result = run_config_supported(config, error);
	if (*result == 0)
		*result = real_fabric_check(config, error);
	if (*result == 0)
		*result = check_workers(options, config, ranks, error);
	if (*result == 0 && rank_speaks(ranks))
		*result = report_check(options, config, error);
	if (*result == 0 && (*topology = run_config_open_topology(config, error)) == NULL)
		*result = -errno;
	if (*result == 0)
		*result = make_filter(options, config, *topology, error);
	if (*result == 0)
		*result = run_config_check_link_series(config, *topology, error);
	if (*result == 0)
		*result = run_config_name_edges(config, *topology, NULL, error);
	if (*result == 0)
		return config;
	run_config_destroy(config);
	return NULL;
}

/* Measures the dilation for 'dilation: auto'. */
static int choose_dilation(const struct options *options, struct run_config *config,
	const struct topology *topology, const atomic_bool *stop, struct error *error)
{
	const struct real_fabric_options fabric_options = {.topology = topology,
		.run = config,
		.name = "trial",
		.session = 1,
		.lcores = options->lcores};

	return real_calibrate(&fabric_options, stop, stderr, &config->dilation, error);
}

static int run_real(const struct options *options, struct run_config *config,
	const struct topology *topology, int argc, char **argv, struct error *error)
{
	const struct eal_options eal = {.lcores = options->lcores,
		.files = options->captures + REAL_FILES_OF_EDGE * config->edges.count};
	struct fabric_routes routes = {0};
	const atomic_bool *stop;
	int result = 0;

	/* Until then signals end the program: computing routes may take long and needs no clean-up.
	 */
	if (config->mapper.routes != RUN_ROUTES_MAPPER)
		result = fabric_routes_compute(&routes, topology, config, error);
	stop = program_catch_signals();
	if (config->dilation != 1)
		poll_yield_precede(options->lcores);
	if (result == 0)
		result = eal_start(argc, argv, &eal, error);
	if (result >= 0) {
		result = config->dilation == RUN_DILATION_AUTO
				 ? choose_dilation(options, config, topology, stop, error)
				 : 0;
		if (result == 0)
			result = run_jobs(options, config, topology, stop, error);
		if (result == 0)
			result = run(options, config, topology, &routes, stop, error);
		eal_stop();
	}
	fabric_routes_free(&routes);
	return result;
}

/* Reports a failed write to standard output, such as on a full disk. */
static int check_output(int result)
{
	bool bad = ferror(stdout) != 0;

	errno = 0;
	if ((fflush(stdout) == 0 && !bad) || errno == EPIPE || report_reader_is_gone())
		return result;
	fprintf(stderr, "%s: standard output: cannot be written%s%s\n", PROGRAM,
		errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
	return result == EXIT_BAD_REQUEST ? result : EXIT_NOT_ABLE;
}

/* Starts the stream for a program that displays the run. */
static int begin_stream(struct options *options, struct run_stream *stream,
	const struct run_config *config, const struct topology *topology, struct error *error)
{
	uint32_t ways = config->measure.link_series ? 2 * topology->links : 0;

	if (options->live == 0)
		return 0;
	options->stream = stream;
	return run_stream_begin(stream, options->live, ways, run_config_vcs(config), error);
}

/* Runs a process of a lab, started by 'weft lab up'. */
static int run_lab(int argc, char **argv)
{
	static struct lab_process_options options;

	lab_process_parse(&options, LAB_ROLE_WHOLE, argc, argv);
	return (int)lab_process_main(&options);
}

static int run_loaded(struct options *options, struct run_config *config,
	const struct topology *topology, struct ranks *ranks, int argc, char **argv,
	struct error *error)
{
	int result = rank_compare(ranks, options, config, topology, error);
	struct job_runs jobs = {0};
	struct run_stream stream;

	if (result == 0)
		result = begin_stream(options, &stream, config, topology, error);
	if (result < 0)
		return result;
	signal(SIGPIPE, SIG_IGN);
	if (!options->quiet && rank_speaks(ranks))
		credit_cover_report(
			config, topology, credit_cover_warn, (void *)(uintptr_t)PROGRAM);
	if (config->sw.switching == RUN_SWITCHING_WORMHOLE)
		return wormhole_run(options, config, topology, error);
	options->jobs = config->jobs.count > 0 ? &jobs : NULL;
	if (config->clock == RUN_CLOCK_REAL) {
		result = run_real(options, config, topology, argc, argv, error);
	} else {
		if (options->jobs != NULL)
			result = virtual_run_jobs(options, &jobs, config, topology, ranks, error);
		if (result == 0)
			result = virtual_run(options, config, topology, ranks, error);
	}
	job_runs_free(&jobs);
	return result;
}

/* Runs the file; 'ranks' is NULL for one process. */
static int run_file(struct options *options, struct ranks *ranks, int argc, char **argv)
{
	struct topology *topology = NULL;
	struct error error = {""};
	int result, loaded;
	struct run_config *config = load(options, ranks, &topology, &error, &loaded);

	if (loaded == 0 && ranks == NULL && topology_max_ports(topology) > PORT_SET_LIMIT)
		loaded = program_become("weft-fabric-wide", argv, &error);
	result = ranks_agree(ranks, loaded, &error);
	if (result == 0)
		result = run_loaded(options, config, topology, ranks, argc, argv, &error);
	if (result < 0)
		result = fail(ranks, result, &error);
	if (loaded == 0) {
		topology_destroy(topology);
		run_config_destroy(config);
	}
	return check_output(result);
}

int main(int argc, char **argv)
{
	static struct tty_escape guard;
	struct options options;
	struct ranks *ranks;
	struct error error;
	int result;

	tty_escape(&guard);
	if (lab_process_asked_for(argc, argv))
		return run_lab(argc, argv);
	options_parse(&options, argc, argv);
	ranks = rank_open(&options, argv, &error, &result);
	if (result < 0 && ranks_of_environment() != 0)
		return (int)error_exit_code(result);
	if (result < 0)
		return fail(NULL, result, &error);
	return rank_close(ranks, run_file(&options, ranks, argc, argv));
}
