/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"

#define TRIALS_MAX  6u
#define MIN_SHARE   (1.0 / 4096)
#define GROWTH      4
#define ENOUGH_S    0.1 /* of CPU, beyond the shortest run of a trial */
#define ENOUGH_PART 4   /* and the fraction of that run, whose time varies */
#define ENOUGH_PS   1e6 /* the shortest run: 1 us */
#define REAL_START  1.0 /* seconds that a run on the real clock needs besides */

struct trial_run {
	const struct sweep *sweep;
	const struct run_config *config;
	unsigned point;
	char folder[PATH_MAX];
	struct child_watch watch;
	pid_t pid;
};

static void signal_child(void *ctx, int number)
{
	child_signal(((struct trial_run *)ctx)->pid, number);
}

static double cpu_of(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
	       ((double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_usec) / 1e6;
}

/* The run of a share of the point's time, or of its messages. */
static int set_share(struct run_sets *sets, const struct trial_run *trial, double share)
{
	const struct run_config_measure *measure = &trial->config->measure;
	double ps = fmax(share * (double)measure->duration_ps, ENOUGH_PS);
	int result = sweep_sets_init(sets, trial->sweep, trial->point);

	if (result == 0 && measure->messages > 0) {
		result = run_sets_add(
			sets, "measure.messages=%.0f", fmax(1, share * (double)measure->messages));
		return result < 0 ? result
				  : run_sets_add(sets, "measure.warmup-messages=%.0f",
					    floor(share * (double)measure->warmup_messages));
	}
	if (result == 0)
		result = run_sets_add(sets, "measure.warmup=0s");
	if (result == 0)
		result = run_sets_add(sets, "measure.sample=%.0fps", ps);
	return result < 0 ? result : run_sets_add(sets, "measure.duration=%.0fps", ps);
}

/* Waits for the child: 0, its status and its CPU time; -EINTR after Ctrl-C. */
static int wait_for(struct trial_run *trial, int *status, double *cpu_s)
{
	struct rusage usage;

	while (wait4(trial->pid, status, WNOHANG, &usage) == 0)
		child_watch_wait(&trial->watch);
	trial->pid = 0;
	*cpu_s = cpu_of(&usage);
	return trial->watch.interrupted ? -EINTR : 0;
}

/* Whether a schedule has ended in this run, so that a longer one costs the same. */
static bool has_ended(const json_t *result)
{
	const json_t *counters = json_object_get(result, "counters");
	const json_t *unfinished = json_object_get(counters, "goal_unfinished");

	return unfinished != NULL && json_integer_value(unfinished) == 0;
}

static int run_share(struct trial_run *trial, double share, double *cpu_s, bool *ended,
	bool *schedule, struct fault *fault)
{
	char part[PATH_MAX + 16], log[PATH_MAX + 16];
	struct run_sets sets;
	int result = set_share(&sets, trial, share), status = 0;
	struct child_run run = {trial->sweep->run_file, sets.set, sets.count, part, log, NULL};
	json_t *document = NULL;

	snprintf(part, sizeof(part), "%s/trial.json", trial->folder);
	snprintf(log, sizeof(log), "%s/trial.log", trial->folder);
	result = result == 0 ? child_start_run(&trial->pid, &run, fault)
			     : fault_set(fault, ENOMEM, "sweep: no memory");
	run_sets_fini(&sets);
	if (result == 0)
		result = wait_for(trial, &status, cpu_s);
	if (result == 0 && WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_BAD_ANSWER)
		document = json_load_file(part, 0, NULL);
	if (result == 0 && document == NULL) {
		child_describe_failure(status, log, fault);
		result = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_REQUEST ? -EINVAL
										      : -EIO;
	}
	*ended = has_ended(document);
	*schedule =
		json_object_get(json_object_get(document, "counters"), "goal_unfinished") != NULL;
	json_decref(document);
	unlink(part);
	unlink(log);
	return result;
}

/* The CPU time of the whole point, from runs of a growing share of it. The shortest one is hardly
 * more than what a run needs before it begins, which does not grow. */
static int run_trial(struct trial_run *trial, double *cpu_s, bool *at_most, struct fault *fault)
{
	double share = MIN_SHARE, start = 0, cpu = 0, grown = 0;
	bool ended = false, schedule = false;
	int result = run_share(trial, share, &start, &ended, &schedule, fault);

	for (cpu = start;
		result == 0 && !ended && share < 1 && grown < fmax(ENOUGH_S, start / ENOUGH_PART);
		grown = cpu - start) {
		share = fmin(1, share * GROWTH);
		result = run_share(trial, share, &cpu, &ended, &schedule, fault);
	}
	*at_most = *at_most || (schedule && !ended);
	*cpu_s = cpu;
	if (!ended && share > MIN_SHARE)
		*cpu_s += fmax(grown, 0) / (share - MIN_SHARE) * (1 - share);
	return result;
}

/* Tries one point: 1 if its cost is known, 0 if it proved to be invalid and is left out. */
static int try_point(struct trial_run *trial, unsigned point, struct sweep_estimate *estimate,
	double *cpu_s, struct fault *fault)
{
	struct run_config *config = sweep_point_config(trial->sweep, point, fault);
	char label[SWEEP_LABEL_MAX];
	struct fault why;
	int result = config == NULL ? -errno : 0;

	trial->config = config;
	trial->point = point;
	if (result == 0)
		result = run_trial(trial, cpu_s, &estimate->at_most, &why);
	run_config_destroy(config);
	if (result == 0)
		return 1;
	if (config == NULL || result == -EINTR)
		return result;
	if (result == -EINVAL && trial->sweep->invalid != NULL)
		return sweep_skip(trial->sweep, point, why.text);
	sweep_plan_label(&trial->sweep->plan, point, label);
	return fault_set(fault, -result, "%s: %.300s", label, why.text);
}

static int try_points(struct trial_run *trial, struct sweep_estimate *estimate, struct fault *fault)
{
	const struct sweep *sweep = trial->sweep;
	unsigned points = sweep->plan.points;
	unsigned trials = points < TRIALS_MAX ? points : TRIALS_MAX;
	double sum = 0, cpu_s = 0;

	for (unsigned i = 0; i < trials; i++) {
		unsigned point =
			trials > 1 ? (unsigned)((uint64_t)i * (points - 1) / (trials - 1)) : 0;
		int known;

		if (sweep_is_invalid(sweep, point))
			continue;
		known = try_point(trial, point, estimate, &cpu_s, fault);
		if (known < 0)
			return known;
		estimate->trials += (unsigned)known;
		sum += known ? cpu_s : 0;
	}
	estimate->points = points - sweep_count_invalid(sweep);
	if (estimate->trials > 0)
		estimate->cpu_s = sum / estimate->trials * estimate->points;
	return 0;
}

/* Seconds of the runs on the real clock, all points. */
static int add_real_times(
	const struct sweep *sweep, struct sweep_estimate *estimate, struct fault *fault)
{
	estimate->points = sweep->plan.points - sweep_count_invalid(sweep);
	for (unsigned i = 0; i < sweep->plan.points; i++) {
		struct run_config *config;

		if (sweep_is_invalid(sweep, i))
			continue;
		config = sweep_point_config(sweep, i, fault);
		if (config == NULL)
			return -errno;
		estimate->wall_s += (double)config->measure.duration_ps / 1e12 *
					    (config->dilation > 1 ? config->dilation : 1) +
				    REAL_START;
		run_config_destroy(config);
	}
	estimate->wall_s /= sweep->jobs;
	return 0;
}

int sweep_estimate(const struct sweep *sweep, bool real_clock, struct sweep_estimate *estimate,
	struct fault *fault)
{
	struct trial_run trial = {.sweep = sweep};
	const char *tmp = getenv("TMPDIR");
	int result;

	*estimate = (struct sweep_estimate){.real_clock = real_clock};
	if (real_clock)
		return add_real_times(sweep, estimate, fault);
	snprintf(trial.folder, sizeof(trial.folder), "%s/weft-sweep-XXXXXX",
		tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp");
	if (mkdtemp(trial.folder) == NULL)
		return fault_set(fault, EIO, "%s: %s", trial.folder, strerror(errno));
	trial.watch = (struct child_watch){.signal_all = signal_child, .ctx = &trial};
	child_watch_begin(&trial.watch);
	result = try_points(&trial, estimate, fault);
	child_watch_end(&trial.watch);
	rmdir(trial.folder);
	estimate->wall_s = estimate->cpu_s / sweep->jobs;
	return result;
}

void sweep_estimate_time(double seconds, char out[32])
{
	if (seconds >= 5400)
		snprintf(out, 32, "%.1f h", seconds / 3600);
	else if (seconds >= 90)
		snprintf(out, 32, "%.1f min", seconds / 60);
	else
		snprintf(out, 32, seconds < 10 ? "%.2f s" : "%.0f s", seconds);
}
