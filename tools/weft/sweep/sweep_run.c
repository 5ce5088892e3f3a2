/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "child_process.h"
#include "run_config_json.h"
#include "sweep_child.h"
#include "sweep_progress.h"
#include "sweep_table.h"

#define LOOK_NS    250000000 /* between two drawings of the bar */
#define PATIENCE_S 15        /* after which a child that was asked to end is killed */

struct runner {
	const struct sweep *sweep;
	struct sweep_outcome *outcome;
	struct sweep_progress progress;
	struct sweep_child child[SWEEP_JOBS_MAX];
	unsigned running;
	unsigned next; /* point that may have to be started */
	double kill_at;
	sigset_t signals;
};

/* Whether a result is that of a point, and not only under its name: it says what it ran. */
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

/* The points that an earlier sweep has left. */
static void find_done(struct runner *runner)
{
	struct sweep_outcome *outcome = runner->outcome;
	const struct sweep *sweep = runner->sweep;

	for (unsigned point = 0; point < sweep->plan.points; point++) {
		char path[PATH_MAX];
		json_t *result;

		sweep_point_path(sweep, point, ".json", path);
		result = sweep_result_load(path, false);
		if (result == NULL)
			continue;
		if (!is_of_point(sweep, point, result)) {
			outcome->strange++;
			json_decref(result);
			continue;
		}
		outcome->row[point] = sweep_row(&sweep->plan, point, result);
		outcome->bad += sweep_result_is_bad(result);
		outcome->had++;
		json_decref(result);
	}
	outcome->done = outcome->had;
}

/* Starts the next point that is not there; false if there is none. */
static bool start_next(struct runner *runner, int *result, struct fault *fault)
{
	const struct sweep *sweep = runner->sweep;
	unsigned slot = 0;

	while (runner->next < sweep->plan.points && runner->outcome->row[runner->next] != NULL)
		runner->next++;
	if (runner->next == sweep->plan.points)
		return false;
	while (runner->child[slot].pid != 0)
		slot++;
	*result = sweep_child_start(&runner->child[slot], sweep, runner->next, fault);
	if (*result < 0)
		return false;
	runner->next++;
	runner->running++;
	return true;
}

static void end_child(struct runner *runner, struct sweep_child *child, int status)
{
	const struct sweep *sweep = runner->sweep;
	struct sweep_outcome *outcome = runner->outcome;
	double now = child_clock();
	char label[SWEEP_LABEL_MAX];
	struct fault fault;
	json_t *result = sweep_child_result(child, sweep, status, outcome->interrupted, &fault);

	runner->progress.running = --runner->running;
	child->pid = 0;
	sweep_plan_label(&sweep->plan, child->point, label);
	if (result != NULL) {
		outcome->row[child->point] = sweep_row(&sweep->plan, child->point, result);
		outcome->done++;
		outcome->bad += sweep_result_is_bad(result);
		sweep_progress_done(&runner->progress, label, result, now - child->started, now);
	} else if (outcome->interrupted) {
		sweep_child_forget(child, sweep);
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

static void signal_children(struct runner *runner, int number)
{
	for (unsigned i = 0; i < runner->sweep->jobs; i++)
		sweep_child_kill(&runner->child[i], number);
}

/* Asked once, the points end by themselves; asked again, or when it takes too long, they are ended.
 */
static void interrupt(struct runner *runner)
{
	signal_children(runner, runner->outcome->interrupted ? SIGKILL : SIGINT);
	if (!runner->outcome->interrupted)
		runner->kill_at = child_clock() + PATIENCE_S;
	runner->outcome->interrupted = true;
}

static void wait_for_news(struct runner *runner)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int number = sigtimedwait(&runner->signals, NULL, &look);

	if (number > 0 && number != SIGCHLD)
		interrupt(runner);
	if (runner->outcome->interrupted && child_clock() >= runner->kill_at)
		signal_children(runner, SIGKILL);
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
			wait_for_news(runner);
	} while (runner->running > 0 || (result == 0 && !runner->outcome->interrupted &&
						runner->next < runner->sweep->plan.points));
	return result;
}

int sweep_run(const struct sweep *sweep, struct sweep_outcome *outcome, struct fault *fault)
{
	struct runner *runner = calloc(1, sizeof(*runner));
	sigset_t before;
	int result;

	*outcome = (struct sweep_outcome){.row = calloc(sweep->plan.points, sizeof(*outcome->row))};
	if (runner == NULL || outcome->row == NULL) {
		free(runner);
		return fault_set(fault, ENOMEM, "sweep: no memory");
	}
	runner->sweep = sweep;
	runner->outcome = outcome;
	find_done(runner);
	sigemptyset(&runner->signals);
	sigaddset(&runner->signals, SIGCHLD);
	sigaddset(&runner->signals, SIGINT);
	sigaddset(&runner->signals, SIGTERM);
	sigaddset(&runner->signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &runner->signals, &before);
	sweep_progress_init(&runner->progress, sweep->plan.points, outcome->had, child_clock());
	result = run_points(runner, fault);
	sweep_progress_end(&runner->progress);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(runner);
	return result;
}

void sweep_outcome_fini(struct sweep_outcome *outcome, const struct sweep *sweep)
{
	for (unsigned i = 0; outcome->row != NULL && i < sweep->plan.points; i++)
		json_decref(outcome->row[i]);
	free(outcome->row);
}
