/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "trial_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"
#include "sweep_table.h"

#define LOOK_NS       250000000 /* between two drawings of the bar */
#define PATIENCE_S    15        /* after which a child that was asked to end is killed */
#define ARGUMENTS_MAX (8 + 2 * TRIAL_SETS_MAX)
#define PROGRAM       "weft-fabric"

struct job {
	pid_t pid; /* 0: none */
	struct trial *trial;
	uint64_t key;
};

struct pool {
	struct trial_runner *runner;
	struct job *job;
	unsigned running, next; /* trial that has not begun */
	unsigned done;
	uint64_t program; /* of the points */
	bool terminal;
	double started, kill_at;
	sigset_t signals;
};

static void path_of(
	const struct trial_runner *runner, uint64_t key, const char *end, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%016" PRIx64 "%s", runner->cache, key, end);
}

/* Files of a point under way are this process's own. */
static void own_path_of(
	const struct trial_runner *runner, uint64_t key, const char *end, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%016" PRIx64 ".%d%s", runner->cache, key, getpid(), end);
}

static bool is_over(const struct trial *trial)
{
	return trial->stage == TRIAL_DONE || trial->stage == TRIAL_FAILED;
}

static void fail(struct trial *trial, const struct fault *fault)
{
	trial->stage = TRIAL_FAILED;
	trial->fault = *fault;
}

/* Only what trials look at; a result with its samples and settings is a hundred times longer. */
static json_t *extract(const json_t *result, enum experiment_measure measure)
{
	static const char *const keys[] = {"throughput", "latency_ns", "messages", "checks",
		"counters", "topology", "wall", "incomplete"};
	json_t *out = json_object();

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(out, keys[i], json_object_get(result, keys[i]));
	if (measure == EXPERIMENT_LINKS)
		json_object_set(out, "links", json_object_get(result, "links"));
	if (measure == EXPERIMENT_EFFICIENCY)
		json_object_set(out, "series", json_object_get(result, "series"));
	return out;
}

/* Lets the trial take all that is there; false if its next point has to be run. */
static bool take_known(struct pool *pool, struct trial *trial, uint64_t *key)
{
	while (!is_over(trial)) {
		struct trial_sets sets;
		struct fault fault = {.text = "no memory"};
		char path[PATH_MAX];
		json_t *result;

		*key = trial_sets_init(&sets, trial) < 0
			       ? 0
			       : trial_key(trial, &sets, pool->program, &fault);
		trial_sets_fini(&sets);
		if (*key == 0) {
			fail(trial, &fault);
			break;
		}
		path_of(pool->runner, *key, ".json", path);
		result = pool->runner->again ? NULL : sweep_result_load(path, false);
		if (result == NULL)
			return false;
		if (trial_take(trial, result) < 0) {
			json_decref(result);
			return false;
		}
		json_decref(result);
		pool->runner->had++;
	}
	return true;
}

static int start(
	struct pool *pool, struct job *job, struct trial *trial, uint64_t key, struct fault *fault)
{
	char part[PATH_MAX], log[PATH_MAX];
	const char *argv[ARGUMENTS_MAX] = {
		PROGRAM, trial->experiment->run_file, "--quiet", "--json", part};
	struct trial_sets sets;
	unsigned count = 5;
	int result = trial_sets_init(&sets, trial);

	own_path_of(pool->runner, key, ".part", part);
	own_path_of(pool->runner, key, ".log", log);
	for (unsigned i = 0; i < sets.count && result == 0; i++) {
		argv[count++] = "--set";
		argv[count++] = sets.set[i];
	}
	*job = (struct job){.trial = trial, .key = key};
	if (result == 0)
		result = child_start(&job->pid, (char *const *)argv, log, fault);
	else
		fault_set(fault, ENOMEM, "no memory");
	trial_sets_fini(&sets);
	pool->running += result == 0;
	return result;
}

static void say_over(struct pool *pool, const struct trial *trial)
{
	char label[EXPERIMENT_TEXT];

	pool->done++;
	trial_label(trial, label);
	if (pool->terminal)
		fputs("\r\033[K", stderr);
	if (trial->stage == TRIAL_FAILED)
		fprintf(stderr, "weft reproduce: %s: %s\n", label, trial->fault.text);
	else if (!pool->terminal)
		fprintf(stderr, "[%u/%u] %s: %.4g in %u points\n", pool->done, pool->runner->trials,
			label, trial->value, trial->points);
}

/* Another point of this trial, or the first of the next one that needs any. */
static int go_on(struct pool *pool, struct job *job, struct trial *trial, struct fault *fault)
{
	struct trial_runner *runner = pool->runner;
	uint64_t key;

	for (;;) {
		if (trial == NULL && pool->next < runner->trials)
			trial = &runner->trial[pool->next++];
		if (trial == NULL)
			return 0;
		if (!take_known(pool, trial, &key))
			return start(pool, job, trial, key, fault);
		say_over(pool, trial);
		trial = NULL;
	}
}

/* The result of an ended process; NULL and fault. */
static json_t *collect(struct pool *pool, const struct job *job, int status, struct fault *fault)
{
	char part[PATH_MAX], log[PATH_MAX], path[PATH_MAX];
	json_t *result = NULL, *short_result = NULL;

	own_path_of(pool->runner, job->key, ".part", part);
	own_path_of(pool->runner, job->key, ".log", log);
	path_of(pool->runner, job->key, ".json", path);
	if (WIFEXITED(status) && WEXITSTATUS(status) <= EXIT_BAD_ANSWER)
		result = sweep_result_load(part, pool->runner->interrupted);
	if (result == NULL) {
		child_describe_failure(status, log, fault);
		unlink(part);
		unlink(log);
		return NULL;
	}
	short_result = extract(result, job->trial->experiment->measure);
	json_decref(result);
	unlink(log);
	if (json_dump_file(short_result, part, JSON_COMPACT) == 0 && rename(part, path) == 0)
		return short_result;
	fault_set(fault, EIO, "%s: cannot be written: %s", path, strerror(errno));
	json_decref(short_result);
	return NULL;
}

static int end_job(struct pool *pool, struct job *job, int status, struct fault *fault)
{
	struct trial *trial = job->trial;
	struct fault why = {.text = "the result is not whole"};
	json_t *result = collect(pool, job, status, &why);

	job->pid = 0;
	pool->running--;
	if (result == NULL && pool->runner->interrupted)
		return 0;
	if (result == NULL || trial_take(trial, result) < 0)
		fail(trial, &why);
	else
		pool->runner->ran++;
	json_decref(result);
	if (is_over(trial)) {
		say_over(pool, trial);
		trial = NULL;
	}
	return pool->runner->interrupted ? 0 : go_on(pool, job, trial, fault);
}

static int reap(struct pool *pool, struct fault *fault)
{
	int result = 0;

	for (unsigned i = 0; i < pool->runner->jobs && result == 0; i++) {
		struct job *job = &pool->job[i];
		int status;

		if (job->pid != 0 && waitpid(job->pid, &status, WNOHANG) == job->pid)
			result = end_job(pool, job, status, fault);
	}
	return result;
}

static void signal_all(struct pool *pool, int number)
{
	for (unsigned i = 0; i < pool->runner->jobs; i++)
		child_signal(pool->job[i].pid, number);
}

/* Asked once, the points end by themselves; asked again, or when it takes too long, they are ended.
 */
static void interrupt(struct pool *pool)
{
	signal_all(pool, pool->runner->interrupted ? SIGKILL : SIGINT);
	if (!pool->runner->interrupted)
		pool->kill_at = child_clock() + PATIENCE_S;
	pool->runner->interrupted = true;
}

static void draw(const struct pool *pool)
{
	double seconds = child_clock() - pool->started;

	if (pool->terminal)
		fprintf(stderr,
			"\r\033[K%u of %u done, %u points run, %u known, %u running, %.0f s",
			pool->done, pool->runner->trials, pool->runner->ran, pool->runner->had,
			pool->running, seconds);
}

static int run_all(struct pool *pool, struct fault *fault)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	int result = 0;

	for (unsigned i = 0; i < pool->runner->jobs && result == 0; i++)
		result = go_on(pool, &pool->job[i], NULL, fault);
	while (pool->running > 0) {
		int number;

		draw(pool);
		number = sigtimedwait(&pool->signals, NULL, &look);
		if ((number > 0 && number != SIGCHLD) || (result < 0 && !pool->runner->interrupted))
			interrupt(pool);
		if (pool->runner->interrupted && child_clock() >= pool->kill_at)
			signal_all(pool, SIGKILL);
		if (result == 0)
			result = reap(pool, fault);
		else
			reap(pool, &(struct fault){.text = ""});
	}
	if (pool->terminal)
		fputs("\r\033[K", stderr);
	return result;
}

int trial_run(struct trial_runner *runner, struct fault *fault)
{
	struct pool pool = {.runner = runner,
		.job = calloc(runner->jobs, sizeof(*pool.job)),
		.program = child_program_mark(PROGRAM),
		.terminal = isatty(STDERR_FILENO),
		.started = child_clock()};
	sigset_t before;
	int result;

	if (pool.job == NULL)
		return fault_set(fault, ENOMEM, "no memory");
	if (mkdir(runner->cache, 0777) < 0 && errno != EEXIST) {
		free(pool.job);
		return fault_set(fault, errno, "%s: %s", runner->cache, strerror(errno));
	}
	sigemptyset(&pool.signals);
	sigaddset(&pool.signals, SIGCHLD);
	sigaddset(&pool.signals, SIGINT);
	sigaddset(&pool.signals, SIGTERM);
	sigaddset(&pool.signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &pool.signals, &before);
	result = run_all(&pool, fault);
	sigprocmask(SIG_SETMASK, &before, NULL);
	free(pool.job);
	return result;
}
