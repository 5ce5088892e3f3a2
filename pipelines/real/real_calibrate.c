/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "base/quantity.h"
#include "experiment/result/run_fidelity.h"

/* Real duration of a trial, a quarter of which is warm-up. If too few frames arrive, the trial is
 * repeated with twice the duration, up to LONGEST_PS, whose result always counts. */
#define TRIAL_PS     (500 * PS_PER_MS)
#define LONGEST_PS   (4 * TRIAL_PS)
#define ARRIVALS_FEW 100

struct calibration {
	struct real_fabric_options options;
	struct run_config run;
	const atomic_bool *stop;
};

static void prepare(struct calibration *calibration, const struct real_fabric_options *options)
{
	struct run_config *run = &calibration->run;

	calibration->options = *options;
	*run = *options->run;
	calibration->options.run = run;
	calibration->options.stream = NULL;
	calibration->options.clock = NULL;
	calibration->options.calibrates = true;
	/* During trials, TAPs of programs do not exist yet. */
	run->edges = (struct run_config_edge_list){.count = 0};
	run->mapper.routes = RUN_ROUTES_STATIC;
	run->measure = (struct run_config_measure){.duration_ps = 0};
}

/* Runs the fabric with this dilation for the real time 'real'. */
static int try_once(struct calibration *calibration, uint32_t dilation, weft_time real,
	struct run_result *result, struct error *error)
{
	struct run_config_measure *measure = &calibration->run.measure;
	struct real_fabric *fabric;
	int code;

	calibration->run.dilation = dilation;
	measure->duration_ps = measure->sample_ps = real / dilation;
	measure->warmup_ps = measure->duration_ps / 4;
	fabric = real_fabric_create(&calibration->options, error);
	if (fabric == NULL)
		return -errno;
	real_fabric_run(fabric, measure->duration_ps, calibration->stop);
	code = real_fabric_result(fabric, result, error);
	real_fabric_destroy(fabric);
	if (code == 0 && calibration->stop != NULL && atomic_load(calibration->stop))
		code = error_set(error, EINTR, "interrupted");
	return code;
}

static void tell(const struct run_config_fidelity *demand, uint32_t dilation,
	const struct run_result *result, FILE *out)
{
	const struct histogram *late_ns = &result->fidelity.late_ns;
	uint64_t late_ppm = run_fidelity_late_ppm(result);
	char late[QUANTITY_TEXT], p99[QUANTITY_TEXT], max[QUANTITY_TEXT];

	fprintf(out, "dilation %" PRIu32 ": ", dilation);
	quantity_format(QUANTITY_TIME, demand->late_ps, late);
	if (demand->late_ps != WEFT_TIME_NEVER)
		fprintf(out, "%.2f %% of %" PRIu64 " arrivals late by at most %s",
			lateness_within_ppm(late_ns, demand->late_ps / PS_PER_NS) / 1e4,
			late_ns->count, late);
	else if (late_ppm == UINT64_MAX)
		fprintf(out, "%" PRIu64 " arrivals, too late or too few to compare",
			late_ns->count);
	else
		fprintf(out, "%" PRIu64 " arrivals, late by %.1f %% of the latency in total",
			late_ns->count, ceil((double)late_ppm / 1e3) / 10);
	fprintf(out, ", p99 %s, max %s\n",
		quantity_time_text(histogram_quantile(late_ns, 0.99), 4, p99),
		quantity_time_text(late_ns->max, 4, max));
	fflush(out);
}

/* Returns 1 if the demand is met, 0 if not, or -errno. */
static int does_meet(
	struct calibration *calibration, uint32_t dilation, FILE *out, struct error *error)
{
	const struct run_config_fidelity *demand = &calibration->run.fidelity;
	struct run_result result = {0};
	int code = 0;

	/* Sparse traffic needs a longer trial. */
	for (weft_time real = TRIAL_PS; code == 0 && real <= LONGEST_PS; real *= 2) {
		run_result_free(&result);
		result = (struct run_result){0};
		code = try_once(calibration, dilation, real, &result, error);
		if (result.fidelity.late_ns.count >= ARRIVALS_FEW)
			break;
	}
	if (code == 0) {
		tell(demand, dilation, &result, out);
		code = run_fidelity_meets(&result, demand);
	}
	/* A slower clock would let even fewer frames arrive. */
	if (code >= 0 && result.network_due_ns.count == 0)
		code = error_set(error, EINVAL,
			"%s: dilation: auto: no data frame arrived within %" PRIu64
			" s with dilation %" PRIu32 "; use a number, or more traffic",
			calibration->run.origin, LONGEST_PS / PS_PER_S, dilation);
	run_result_free(&result);
	return code;
}

int real_calibrate(const struct real_fabric_options *options, const atomic_bool *stop, FILE *out,
	uint32_t *dilation, struct error *error)
{
	struct calibration calibration = {.stop = stop};
	uint64_t factor = 1;
	int met = 0;

	prepare(&calibration, options);
	if (options->run->traffic.count == 0)
		return error_set(error, EINVAL,
			"%s: dilation: auto is measured with the file's traffic, but there is "
			"none; use a number, or add 'traffic'",
			options->run->origin);
	for (; factor <= RUN_DILATION_MAX; factor = run_fidelity_step(factor + 1)) {
		met = does_meet(&calibration, (uint32_t)factor, out, error);
		if (met == 1)
			met = does_meet(&calibration, (uint32_t)factor, out, error);
		if (met != 0)
			break;
	}
	if (met < 0)
		return met;
	if (met == 0)
		return error_set(error, EBUSY,
			"%s: dilation: auto: this machine is too busy for any dilation up to %u; "
			"use a number, or a less strict 'fidelity'",
			options->run->origin, RUN_DILATION_MAX);
	if (factor > 1 && factor < RUN_DILATION_MAX) {
		factor = run_fidelity_step(factor + 1);
		fprintf(out, "dilation %" PRIu64 ": one step higher, as a margin\n", factor);
	}
	*dilation = (uint32_t)factor;
	return 0;
}
