/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"
#include "result_file.h"
#include "run_config_json.h"
#include "sweep_table.h"

struct sweep_child {
	pid_t pid; /* 0: none */
	unsigned point;
	double started; /* seconds, by child_clock() */
};

struct runner {
	const struct sweep *sweep;
	struct sweep_outcome *outcome;
	struct sweep_progress progress;
	struct sweep_child child[SWEEP_JOBS_MAX];
	unsigned running;
	unsigned next; /* point that may have to be started */
	struct child_watch watch;
};

/* Whether a result belongs to the point, by its configuration and not only by its name. */
static bool is_of_point(const struct sweep *sweep, unsigned point, const json_t *result)
{
	struct fault fault;
	struct run_config *config = sweep_point_config(sweep, point, &fault);
	json_t *own = config != NULL ? run_config_json(config) : NULL;
	bool same = own != NULL && json_equal(own, json_object_get(result, "config"));

	json_decref(own);
	run_config_destroy(config);
	return same;
}

bool sweep_outcome_find(const struct sweep *sweep, struct sweep_outcome *outcome, unsigned point)
{
	char path[PATH_MAX];
	json_t *result;

	sweep_point_path(sweep, point, ".json", path);
	result = sweep_result_load(path, false);
	outcome->changed += result == NULL && errno == EBADMSG;
	if (result == NULL)
		return false;
	/* Every point has a sum. */
	if (json_object_get(result, "sum") == NULL || !is_of_point(sweep, point, result)) {
		outcome->strange++;
		json_decref(result);
		return false;
	}
	outcome->row[point] = sweep_row(&sweep->plan, point, result);
	outcome->bad += sweep_result_is_bad(result);
	outcome->empty += sweep_result_is_empty(result);
	outcome->done++;
	json_decref(result);
	return true;
}

/* Whether the point is none of ours: another task's, or invalid. */
static bool is_left_out(const struct sweep *sweep, unsigned point)
{
	return (sweep->point >= 0 && point != (unsigned)sweep->point) ||
	       sweep_is_invalid(sweep, point);
}

/* Loads the results of an earlier sweep. */
static void find_done(struct runner *runner)
{
	const struct sweep *sweep = runner->sweep;

	for (unsigned point = 0; point < sweep->plan.points; point++)
		if (!is_left_out(sweep, point) && sweep_outcome_find(sweep, runner->outcome, point))
			runner->outcome->had++;
}

static int start_child(
	struct sweep_child *child, const struct sweep *sweep, unsigned point, struct fault *fault)
{
	char part[PATH_MAX], log[PATH_MAX];
	struct run_sets sets;
	int result = sweep_sets_init(&sets, sweep, point);
	struct child_run run = {sweep->run_file, sets.set, sets.count, part, log, NULL};

	sweep_point_path(sweep, point, ".part", part);
	sweep_point_path(sweep, point, ".log", log);
	*child = (struct sweep_child){.point = point, .started = child_clock()};
	if (result == 0)
		result = child_start_run(&child->pid, &run, fault);
	else
		fault_set(fault, ENOMEM, "sweep: no memory");
	run_sets_fini(&sets);
	return result;
}

/* The result of a point whose process ended with 'status' of waitpid(), now in NAME.json; NULL and
 * fault, and then the log stays. */
static json_t *take_result(const struct runner *runner, const struct sweep_child *child, int status,
	struct fault *fault)
{
	char part[PATH_MAX], path[PATH_MAX], log[PATH_MAX];
	json_t *result = NULL;

	sweep_point_path(runner->sweep, child->point, ".part", part);
	sweep_point_path(runner->sweep, child->point, ".json", path);
	sweep_point_path(runner->sweep, child->point, ".log", log);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_BAD_ANSWER)
		result = sweep_result_load(part, runner->watch.interrupted);
	if (result == NULL) {
		child_describe_failure(status, log, fault);
		unlink(part);
		return NULL;
	}
	if (result_file_seal(part, result, fault) < 0) {
		unlink(part);
		json_decref(result);
		return NULL;
	}
	if (rename(part, path) != 0) {
		fault_set(fault, errno, "%s: %s", path, strerror(errno));
		json_decref(result);
		return NULL;
	}
	unlink(log);
	return result;
}

/* Starts the next point without a result; false if there is none. */
static bool start_next(struct runner *runner, int *result, struct fault *fault)
{
	const struct sweep *sweep = runner->sweep;
	unsigned slot = 0;

	while (runner->next < sweep->plan.points &&
		(runner->outcome->row[runner->next] != NULL || is_left_out(sweep, runner->next)))
		runner->next++;
	if (runner->next == sweep->plan.points)
		return false;
	while (runner->child[slot].pid != 0)
		slot++;
	*result = start_child(&runner->child[slot], sweep, runner->next, fault);
	if (*result < 0)
		return false;
	runner->next++;
	runner->running++;
	return true;
}

static void remove_log(const struct sweep *sweep, unsigned point)
{
	char log[PATH_MAX];

	sweep_point_path(sweep, point, ".log", log);
	unlink(log);
}

static void end_child(struct runner *runner, struct sweep_child *child, int status)
{
	const struct sweep *sweep = runner->sweep;
	struct sweep_outcome *outcome = runner->outcome;
	double now = child_clock();
	char label[SWEEP_LABEL_MAX];
	struct fault fault;
	json_t *result = take_result(runner, child, status, &fault);

	runner->progress.running = --runner->running;
	child->pid = 0;
	sweep_plan_label(&sweep->plan, child->point, label);
	if (result != NULL) {
		outcome->row[child->point] = sweep_row(&sweep->plan, child->point, result);
		outcome->done++;
		outcome->bad += sweep_result_is_bad(result);
		outcome->empty += sweep_result_is_empty(result);
		sweep_progress_done(&runner->progress, label, result, now - child->started, now);
	} else if (outcome->interrupted) {
		remove_log(sweep, child->point);
	} else if (sweep->invalid != NULL && WIFEXITED(status) &&
		   WEXITSTATUS(status) == EXIT_BAD_REQUEST &&
		   sweep_skip(sweep, child->point, fault.text) == 0) {
		remove_log(sweep, child->point);
		sweep_progress_skipped(&runner->progress, label, fault.text, now);
	} else {
		outcome->failed++;
		sweep_progress_failed(&runner->progress, label, fault.text, now);
	}
	json_decref(result);
}

static void reap(struct runner *runner)
{
	for (unsigned i = 0; i < runner->sweep->jobs; i++) {
		int status;

		if (runner->child[i].pid != 0 &&
			waitpid(runner->child[i].pid, &status, WNOHANG) == runner->child[i].pid)
			end_child(runner, &runner->child[i], status);
	}
}

static void signal_children(void *ctx, int number)
{
	struct runner *runner = ctx;

	for (unsigned i = 0; i < runner->sweep->jobs; i++)
		child_signal(runner->child[i].pid, number);
}

static void wait_for_child(struct runner *runner)
{
	child_watch_wait(&runner->watch);
	runner->outcome->interrupted = runner->watch.interrupted;
	reap(runner);
}

static int run_points(struct runner *runner, struct fault *fault)
{
	int result = 0;

	do {
		while (result == 0 && !runner->outcome->interrupted &&
			runner->running < runner->sweep->jobs && start_next(runner, &result, fault))
			runner->progress.running = runner->running;
		sweep_progress_draw(&runner->progress, child_clock());
		if (runner->running > 0)
			wait_for_child(runner);
	} while (runner->running > 0 || (result == 0 && !runner->outcome->interrupted &&
						runner->next < runner->sweep->plan.points));
	return result;
}

int sweep_run(const struct sweep *sweep, struct sweep_outcome *outcome, struct fault *fault)
{
	struct runner *runner = calloc(1, sizeof(*runner));
	int result;

	*outcome = (struct sweep_outcome){.row = calloc(sweep->plan.points, sizeof(*outcome->row))};
	if (runner == NULL || outcome->row == NULL) {
		free(runner);
		return fault_set(fault, ENOMEM, "sweep: no memory");
	}
	runner->sweep = sweep;
	runner->outcome = outcome;
	find_done(runner);
	runner->watch = (struct child_watch){.signal_all = signal_children, .ctx = runner};
	child_watch_begin(&runner->watch);
	sweep_progress_init(&runner->progress, sweep->plan.points - sweep_count_invalid(sweep),
		outcome->had, child_clock());
	result = run_points(runner, fault);
	sweep_progress_end(&runner->progress);
	child_watch_end(&runner->watch);
	free(runner);
	return result;
}

void sweep_outcome_fini(struct sweep_outcome *outcome, const struct sweep *sweep)
{
	for (unsigned i = 0; outcome->row != NULL && i < sweep->plan.points; i++)
		json_decref(outcome->row[i]);
	free(outcome->row);
}
