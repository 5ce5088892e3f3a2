/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"
#include "config_files.h"
#include "goal_generate.h"
#include "result_file.h"
#include "weft_time.h"

#define PROGRAM "weft-fabric"

struct job {
	pid_t pid; /* 0: none */
	struct trial *trial;
	uint64_t key;
};

struct pool {
	struct trial_runner *runner;
	struct job *job;
	struct trial **waiting; /* for the result of a point that another trial runs */
	unsigned waits;
	unsigned running, next; /* trial that has not begun */
	unsigned done;
	uint64_t program; /* of the points */
	bool terminal;
	double started;
	struct child_watch watch;
};

static void path_of(
	const struct trial_runner *runner, uint64_t key, const char *end, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%016" PRIx64 "%s", runner->cache, key, end);
}

/* Files of a running point belong to this process alone. */
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

/* The fields that trials use; a result with its samples and settings is a hundred times longer. */
static json_t *extract(const json_t *result, enum experiment_measure measure)
{
	static const char *const keys[] = {"weft", "throughput", "latency_ns", "messages", "checks",
		"counters", "topology", "wall", "incomplete"};
	json_t *out = json_object();

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(out, keys[i], json_object_get(result, keys[i]));
	/* Experiments that differ in the measure alone share their results. */
	if (experiment_measures_run(measure))
		json_object_set(out, "switches", json_object_get(result, "switches"));
	if (experiment_measures_links(measure) || experiment_measures_run(measure))
		json_object_set(out, "links", json_object_get(result, "links"));
	if (measure == EXPERIMENT_EFFICIENCY || measure == EXPERIMENT_SETTLING ||
		experiment_measures_run(measure))
		json_object_set(out, "series", json_object_get(result, "series"));
	result_file_sign(out);
	return out;
}

/* Gives the trial all stored results that it asks for; false if its next point must be run. */
static bool take_known(struct pool *pool, struct trial *trial, uint64_t *key)
{
	while (!is_over(trial)) {
		struct run_sets sets;
		struct fault fault = {.text = "no memory"};
		char path[PATH_MAX];
		json_t *result;

		*key = trial_sets_init(&sets, trial) < 0
			       ? 0
			       : trial_key(trial, &sets, pool->program, &fault);
		run_sets_fini(&sets);
		if (*key == 0) {
			fail(trial, &fault);
			break;
		}
		path_of(pool->runner, *key, ".json", path);
		result = pool->runner->again ? NULL : result_file_load_whole(path, false);
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
	struct run_sets sets;
	int result = trial_sets_init(&sets, trial);
	struct child_run run = {
		trial->experiment->run_file, sets.set, sets.count, part, log, pool->runner->srun};

	own_path_of(pool->runner, key, ".part", part);
	own_path_of(pool->runner, key, ".log", log);
	*job = (struct job){.trial = trial, .key = key};
	if (result == 0)
		result = child_start_run(&job->pid, &run, fault);
	else
		fault_set(fault, ENOMEM, "no memory");
	run_sets_fini(&sets);
	pool->running += result == 0;
	return result;
}

static void print_end(struct pool *pool, const struct trial *trial)
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

static bool is_running(const struct pool *pool, uint64_t key)
{
	for (unsigned i = 0; i < pool->runner->jobs; i++) {
		if (pool->job[i].pid != 0 && pool->job[i].key == key)
			return true;
	}
	return false;
}

/* Trials with the same settings share one run: asks again for results that others have run
 * meanwhile. Returns the first trial that must run a point itself, with its key, or NULL. */
static struct trial *take_waiting(struct pool *pool, uint64_t *key)
{
	for (unsigned i = 0; i < pool->waits;) {
		struct trial *trial = pool->waiting[i];
		bool known = take_known(pool, trial, key);

		if (!known && is_running(pool, *key)) {
			i++;
			continue;
		}
		memmove(&pool->waiting[i], &pool->waiting[i + 1],
			(--pool->waits - i) * sizeof(*pool->waiting));
		if (!known)
			return trial;
		print_end(pool, trial);
	}
	return NULL;
}

/* The next trial that must run a point, with its key; NULL: there is none now. */
static struct trial *next_trial(struct pool *pool, uint64_t *key)
{
	struct trial *trial = take_waiting(pool, key);

	while (trial == NULL && pool->next < pool->runner->trials) {
		trial = &pool->runner->trial[pool->next++];
		if (take_known(pool, trial, key)) {
			print_end(pool, trial);
			trial = NULL;
		} else if (is_running(pool, *key)) {
			pool->waiting[pool->waits++] = trial;
			trial = NULL;
		}
	}
	return trial;
}

/* Starts another point of this trial, if it has one and no other job runs the same; else one of
 * the next trial that needs any. */
static int start_next(struct pool *pool, struct job *job, struct trial *trial, struct fault *fault)
{
	uint64_t key;

	if (trial != NULL && take_known(pool, trial, &key)) {
		print_end(pool, trial);
		trial = NULL;
	} else if (trial != NULL && is_running(pool, key)) {
		pool->waiting[pool->waits++] = trial;
		trial = NULL;
	}
	if (trial == NULL)
		trial = next_trial(pool, &key);
	return trial == NULL ? 0 : start(pool, job, trial, key, fault);
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
		result = result_file_load_whole(part, pool->runner->interrupted);
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
		print_end(pool, trial);
		trial = NULL;
	}
	return pool->runner->interrupted ? 0 : start_next(pool, job, trial, fault);
}

/* Jobs that had nothing to do have some when a trial that waited for another goes on. */
static int fill(struct pool *pool, struct fault *fault)
{
	int result = 0;

	for (unsigned i = 0; i < pool->runner->jobs && result == 0; i++) {
		if (pool->job[i].pid == 0)
			result = start_next(pool, &pool->job[i], NULL, fault);
	}
	return result;
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
	return result == 0 && !pool->runner->interrupted ? fill(pool, fault) : result;
}

static void signal_all(void *ctx, int number)
{
	struct pool *pool = ctx;

	for (unsigned i = 0; i < pool->runner->jobs; i++)
		child_signal(pool->job[i].pid, number);
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
	int result = fill(pool, fault);

	while (pool->running > 0) {
		draw(pool);
		child_watch_wait(&pool->watch);
		if (result < 0 && !pool->watch.interrupted)
			child_watch_interrupt(&pool->watch);
		pool->runner->interrupted = pool->watch.interrupted;
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
		.waiting = calloc(runner->trials + 1, sizeof(*pool.waiting)),
		.program = child_program_mark(PROGRAM),
		.terminal = isatty(STDERR_FILENO),
		.started = child_clock()};
	int result;

	if (pool.job == NULL || pool.waiting == NULL)
		result = fault_set(fault, ENOMEM, "no memory");
	else if (mkdir(runner->cache, 0777) < 0 && errno != EEXIST)
		result = fault_set(fault, errno, "%s: %s", runner->cache, strerror(errno));
	else {
		pool.watch = (struct child_watch){.signal_all = signal_all, .ctx = &pool};
		child_watch_begin(&pool.watch);
		result = run_all(&pool, fault);
		child_watch_end(&pool.watch);
	}
	free(pool.waiting);
	free(pool.job);
	return result;
}

/* Writes a file of this process's own. */
static int generate(
	const struct goal_generate_config *config, const char *part, struct fault *fault)
{
	FILE *out = fopen(part, "w");
	int result;

	if (out == NULL)
		return fault_set(fault, errno, "%s: %s", part, strerror(errno));
	result = goal_generate(config, out, fault);
	if (fclose(out) != 0 && result == 0)
		result = fault_set(fault, EIO, "%s: cannot be written: %s", part, strerror(errno));
	return result;
}

/* Renames it to the name that other processes search for: complete or not at all. */
static int give_name(struct experiment_schedule *schedule, const char *folder, const char *part,
	struct fault *fault)
{
	uint64_t hash = CONTENT_HASH_START;
	int result = content_hash_file(&hash, part);

	if (result < 0)
		return fault_set(fault, -result, "%s: %s", part, strerror(-result));
	snprintf(schedule->path, sizeof(schedule->path),
		"%.3000s/%s-%" PRIu32 "x%" PRIu32 "-%" PRIu64 "b-%" PRIu64 "ns-%016" PRIx64 ".goal",
		folder, schedule->kind, schedule->ranks, schedule->rounds, schedule->bytes,
		schedule->calc_ps / PS_PER_NS, hash);
	if (rename(part, schedule->path) == 0)
		return 0;
	return fault_set(fault, errno, "%s: %s", schedule->path, strerror(errno));
}

int schedule_make(struct experiment_schedule *schedule, const char *folder, struct fault *fault)
{
	const struct goal_generate_config config = {.kind = schedule->kind,
		.ranks = schedule->ranks,
		.rounds = schedule->rounds,
		.bytes = schedule->bytes,
		.calc_ns = schedule->calc_ps / PS_PER_NS};
	char whole[PATH_MAX], part[PATH_MAX + 32];
	int result;

	if (schedule->ranks == 0)
		return 0;
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return fault_set(fault, errno, "%s: %s", folder, strerror(errno));
	if (realpath(folder, whole) == NULL)
		return fault_set(fault, errno, "%s: %s", folder, strerror(errno));
	snprintf(part, sizeof(part), "%s/schedule.%d.part", whole, getpid());
	result = generate(&config, part, fault);
	if (result == 0)
		result = give_name(schedule, whole, part, fault);
	if (result < 0)
		unlink(part);
	return result;
}
