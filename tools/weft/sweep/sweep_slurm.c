/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "sweep_run.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_process.h"

#define TASKS_MAX  1000u /* of an array: Slurm's MaxArraySize is 1001 if nobody has changed it */
#define JOBS_MAX   (SWEEP_POINTS_MAX / TASKS_MAX)
#define QUEUE_S    2.0   /* between questions to squeue */
#define PATIENCE_S 120.0 /* how long squeue may fail */
#define GONE_TIMES 3u    /* answers without our tasks at least, before they count as ended */

struct slurm {
	const struct sweep *sweep;
	struct sweep_outcome *outcome;
	struct sweep_progress progress;
	struct child_watch watch;
	unsigned long job[JOBS_MAX];
	unsigned jobs;
	double asked, heard; /* squeue; and its last answer */
	unsigned gone;       /* answers without our tasks, in a row */
	double seen;         /* the last one with some, or when they were sent */
};

/* Writes text between quotes for a shell. */
static void write_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text != '\0'; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
}

static FILE *open_file(
	const struct sweep *sweep, const char *name, const char *mode, struct fault *fault)
{
	char path[PATH_MAX];
	FILE *file;

	sweep_path(sweep, name, path);
	file = fopen(path, mode);
	if (file == NULL)
		fault_set(fault, errno, "%s: %s", path, strerror(errno));
	return file;
}

static int close_file(FILE *file, const char *name, struct fault *fault)
{
	bool good = !ferror(file);

	if (fclose(file) == 0 && good)
		return 0;
	return fault_set(fault, EIO, "%s: cannot be written: %s", name, strerror(errno));
}

/* Our own command with --point, in the folder where it was given. What differs between arrays is an
 * argument, because Slurm may give tasks an environment of its own. --point comes first, because
 * the user's words may end with "--". */
static int write_script(const struct sweep *sweep, struct fault *fault)
{
	char program[PATH_MAX] = "", here[PATH_MAX], folder[PATH_MAX];
	FILE *file;

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0 ||
		getcwd(here, sizeof(here)) == NULL || realpath(sweep->folder, folder) == NULL)
		return fault_set(fault, errno, "slurm.sh: %s", strerror(errno));
	file = open_file(sweep, "slurm.sh", "w", fault);
	if (file == NULL)
		return -EIO;
	fputs("#!/bin/sh\ncd ", file);
	write_quoted(file, here);
	fputs(" || exit 3\npoint=$(sed -n \"$(($1 + SLURM_ARRAY_TASK_ID + 1))p\" ", file);
	write_quoted(file, folder);
	fputs("/slurm.points)\n[ -n \"$point\" ] || exit 3\nexec ", file);
	write_quoted(file, program);
	fputs(" sweep --point \"$point\"", file);
	for (char *const *argument = sweep->argv; *argument != NULL; argument++) {
		fputc(' ', file);
		write_quoted(file, *argument);
	}
	fputc('\n', file);
	return close_file(file, "slurm.sh", fault);
}

static int write_points(const struct slurm *slurm, unsigned *count, struct fault *fault)
{
	const struct sweep *sweep = slurm->sweep;
	FILE *file = open_file(sweep, "slurm.points", "w", fault);

	*count = 0;
	if (file == NULL)
		return -EIO;
	for (unsigned point = 0; point < sweep->plan.points; point++)
		if (slurm->outcome->row[point] == NULL && !sweep_is_invalid(sweep, point)) {
			fprintf(file, "%u\n", point);
			(*count)++;
		}
	return close_file(file, "slurm.points", fault);
}

/* The first line that a command of the shell prints. -ENOENT: no such command; -EIO. */
static int ask(const char *command, char *line, size_t size)
{
	FILE *pipe = popen(command, "r");
	char rest[256];
	int status;

	line[0] = '\0';
	if (pipe == NULL)
		return -errno;
	if (fgets(line, (int)size, pipe) != NULL)
		while (fgets(rest, sizeof(rest), pipe) != NULL)
			continue;
	status = pclose(pipe);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int note_job(struct slurm *slurm, unsigned long job, struct fault *fault)
{
	FILE *file = open_file(slurm->sweep, "slurm.jobs", "a", fault);

	if (file == NULL)
		return -EIO;
	slurm->job[slurm->jobs++] = job;
	fprintf(file, "%lu\n", job);
	return close_file(file, "slurm.jobs", fault);
}

/* Sends an array of tasks for 'count' lines of slurm.points from 'first'. */
static int send_array(struct slurm *slurm, unsigned first, unsigned count, struct fault *fault)
{
	char *command = NULL, answer[256], *end;
	size_t size;
	FILE *out = open_memstream(&command, &size);
	unsigned long job;
	char script[PATH_MAX];
	int result;

	if (out == NULL || slurm->jobs == JOBS_MAX)
		return fault_set(fault, ENOMEM, "sweep: no memory");
	sweep_path(slurm->sweep, "slurm.sh", script);
	fprintf(out, "sbatch --parsable --job-name=weft-sweep --output=/dev/null --array=0-%u %s ",
		count - 1, slurm->sweep->sbatch != NULL ? slurm->sweep->sbatch : "");
	write_quoted(out, script);
	fprintf(out, " %u", first);
	fclose(out);
	result = ask(command, answer, sizeof(answer));
	free(command);
	if (result == -ENOENT)
		return fault_set(fault, ENOENT, "--on slurm: there is no sbatch here");
	job = strtoul(answer, &end, 10);
	if (result < 0 || end == answer)
		return fault_set(fault, EIO, "--on slurm: sbatch has failed");
	return note_job(slurm, job, fault);
}

static int send_points(struct slurm *slurm, struct fault *fault)
{
	unsigned count;
	char path[PATH_MAX];
	int result = write_script(slurm->sweep, fault);

	sweep_path(slurm->sweep, "slurm.jobs", path);
	unlink(path);
	slurm->jobs = 0;
	slurm->gone = 0;
	slurm->seen = child_clock();
	if (result == 0)
		result = write_points(slurm, &count, fault);
	for (unsigned first = 0; result == 0 && first < count; first += TASKS_MAX)
		result = send_array(
			slurm, first, count - first < TASKS_MAX ? count - first : TASKS_MAX, fault);
	return result;
}

/* Those of an earlier command, which may still have tasks. */
static void read_jobs(struct slurm *slurm)
{
	char path[PATH_MAX];
	FILE *file;

	sweep_path(slurm->sweep, "slurm.jobs", path);
	file = fopen(path, "r");
	while (file != NULL && slurm->jobs < JOBS_MAX &&
		fscanf(file, "%lu", &slurm->job[slurm->jobs]) == 1)
		slurm->jobs++;
	if (file != NULL)
		fclose(file);
}

static void cancel_jobs(void *ctx, int number)
{
	const struct slurm *slurm = ctx;

	for (unsigned i = 0; i < slurm->jobs; i++) {
		char command[64], line[64];

		snprintf(command, sizeof(command), "scancel %lu 2>/dev/null", slurm->job[i]);
		(void)ask(command, line, sizeof(line));
	}
}

static bool is_ours(const struct slurm *slurm, unsigned long job)
{
	for (unsigned i = 0; i < slurm->jobs; i++)
		if (slurm->job[i] == job)
			return true;
	return false;
}

/* Our tasks that have not ended, and how many of them run. -EIO: squeue does not answer. */
static int count_tasks(const struct slurm *slurm, unsigned *tasks, unsigned *running)
{
	FILE *pipe = popen("squeue --me --noheader --array --format='%F %T' 2>/dev/null", "r");
	unsigned long job;
	char state[64];
	int status;

	*tasks = *running = 0;
	if (pipe == NULL)
		return -errno;
	while (fscanf(pipe, "%lu %63s", &job, state) == 2)
		if (is_ours(slurm, job)) {
			(*tasks)++;
			*running += strcmp(state, "RUNNING") == 0;
		}
	status = pclose(pipe);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

/* Lets NFS, which remembers for a minute that a file was not there, look again. */
static void reread_folder(const struct sweep *sweep)
{
	DIR *folder = opendir(sweep->folder);

	while (folder != NULL && readdir(folder) != NULL)
		continue;
	if (folder != NULL)
		closedir(folder);
}

/* Takes the results that have come. Another configuration's were counted at the beginning. */
static void take_results(struct slurm *slurm)
{
	const struct sweep *sweep = slurm->sweep;
	unsigned strange = slurm->outcome->strange, changed = slurm->outcome->changed;

	for (unsigned point = 0; point < sweep->plan.points; point++) {
		char label[SWEEP_LABEL_MAX], path[PATH_MAX];

		if (slurm->outcome->row[point] != NULL || sweep_is_invalid(sweep, point))
			continue;
		sweep_point_path(sweep, point, ".json", path);
		if (access(path, F_OK) < 0 || !sweep_outcome_find(sweep, slurm->outcome, point))
			continue;
		slurm->progress.done++;
		sweep_plan_label(&sweep->plan, point, label);
		if (!slurm->progress.terminal)
			fprintf(slurm->progress.out, "[%u/%u] %s\n", slurm->progress.done,
				slurm->progress.points, label);
	}
	slurm->outcome->strange = strange;
	slurm->outcome->changed = changed;
}

static unsigned missing(const struct slurm *slurm)
{
	return slurm->sweep->plan.points - sweep_count_invalid(slurm->sweep) - slurm->outcome->done;
}

/* The last line of a point's log, if its task has written one. */
static void describe(const struct sweep *sweep, unsigned point, char *why, size_t size)
{
	char path[PATH_MAX], line[256];
	FILE *log;

	snprintf(why, size, "its task has ended without a result");
	sweep_point_path(sweep, point, ".log", path);
	log = fopen(path, "r");
	while (log != NULL && fgets(line, sizeof(line), log) != NULL)
		snprintf(why, size, "%.*s", (int)strcspn(line, "\n"), line);
	if (log != NULL)
		fclose(log);
}

static void fail_missing(struct slurm *slurm)
{
	const struct sweep *sweep = slurm->sweep;

	for (unsigned point = 0; point < sweep->plan.points; point++) {
		char label[SWEEP_LABEL_MAX], why[256];

		if (slurm->outcome->row[point] != NULL || sweep_is_invalid(sweep, point))
			continue;
		describe(sweep, point, why, sizeof(why));
		slurm->outcome->failed++;
		sweep_plan_label(&sweep->plan, point, label);
		sweep_progress_failed(&slurm->progress, label, why, child_clock());
	}
}

/* Asks squeue. 0; 1: our tasks have been gone for 'grace' seconds; -EIO: there was no answer for
 * too long. */
static int ask_queue(struct slurm *slurm, double now, double grace, struct fault *fault)
{
	unsigned tasks;

	slurm->asked = now;
	if (count_tasks(slurm, &tasks, &slurm->progress.running) < 0)
		return now < slurm->heard + PATIENCE_S
			       ? 0
			       : fault_set(fault, EIO,
					 "--on slurm: squeue does not answer; the same command "
					 "goes on when it does");
	slurm->heard = now;
	slurm->gone = tasks == 0 ? slurm->gone + 1 : 0;
	if (tasks > 0)
		slurm->seen = now;
	return slurm->gone >= GONE_TIMES && now >= slurm->seen + grace;
}

/* Until all results are there, or no task has been left for 'grace' seconds. */
static int wait_for_points(struct slurm *slurm, double grace, struct fault *fault)
{
	int result = 0;

	while (result == 0 && missing(slurm) > 0 && !slurm->watch.interrupted) {
		double now = child_clock();

		sweep_progress_draw(&slurm->progress, now);
		child_watch_wait(&slurm->watch);
		take_results(slurm);
		if (now < slurm->asked + QUEUE_S)
			continue;
		result = ask_queue(slurm, now, grace, fault);
		reread_folder(slurm->sweep);
		if (result == 1)
			take_results(slurm);
	}
	return result < 0 ? result : 0;
}

/* Tasks of an earlier command get no grace: a point that is sent twice costs only its time. */
static int run_points(struct slurm *slurm, struct fault *fault)
{
	int result = 0;

	read_jobs(slurm);
	if (slurm->jobs > 0)
		result = wait_for_points(slurm, 0, fault);
	if (result < 0 || slurm->watch.interrupted || missing(slurm) == 0)
		return result;
	result = send_points(slurm, fault);
	if (result < 0)
		cancel_jobs(slurm, 0);
	else
		result = wait_for_points(slurm, slurm->sweep->grace_s, fault);
	if (result == 0 && !slurm->watch.interrupted)
		fail_missing(slurm);
	return result;
}

int sweep_slurm_run(const struct sweep *sweep, struct sweep_outcome *outcome, struct fault *fault)
{
	struct slurm *slurm = calloc(1, sizeof(*slurm));
	int result;

	*outcome = (struct sweep_outcome){.row = calloc(sweep->plan.points, sizeof(*outcome->row))};
	if (slurm == NULL || outcome->row == NULL) {
		free(slurm);
		return fault_set(fault, ENOMEM, "sweep: no memory");
	}
	slurm->sweep = sweep;
	slurm->outcome = outcome;
	slurm->heard = child_clock();
	for (unsigned point = 0; point < sweep->plan.points; point++)
		if (!sweep_is_invalid(sweep, point))
			sweep_outcome_find(sweep, outcome, point);
	outcome->had = outcome->done;
	slurm->watch = (struct child_watch){.signal_all = cancel_jobs, .ctx = slurm};
	child_watch_begin(&slurm->watch);
	sweep_progress_init(&slurm->progress, sweep->plan.points - sweep_count_invalid(sweep),
		outcome->had, child_clock());
	result = run_points(slurm, fault);
	outcome->interrupted = slurm->watch.interrupted;
	sweep_progress_end(&slurm->progress);
	child_watch_end(&slurm->watch);
	free(slurm);
	return result;
}
