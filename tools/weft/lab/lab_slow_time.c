/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_slow_time.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/atomic_file.h"

#define LIBRARY "/usr/lib/*/faketime/libfaketime.so.1"
#define PRELOAD "weft-time.so"
#define NS      INT64_C(1000000000)
/* libfaketime takes a token while it reads the start; a program killed then never returns it. */
#define TOKENS 1000000

/* struct ft_shared_s of libfaketime. */
struct shared_start {
	uint64_t ticks, file_index;
	struct timespec real, monotonic, monotonic_raw, boot;
};

/* --- the start --- */

/* Reads the second line of the lab's clock. */
static int read_origin(const char *run_dir, int64_t *origin_ns, struct error *error)
{
	char path[PATH_MAX];
	FILE *file;
	int found = 0;

	snprintf(path, sizeof(path), "%s/clock", run_dir);
	file = fopen(path, "re");
	if (file != NULL) {
		found = fscanf(file, "%*s %" SCNd64, origin_ns);
		fclose(file);
	}
	return found == 1 ? 0
			  : error_set(error, ENOENT,
				    "%s: not the clock file of a lab that is up, with the clock's "
				    "origin",
				    path);
}

static void name_of(int64_t origin_ns, char name[64])
{
	snprintf(name, 64, "/weft-time-%" PRId64, origin_ns);
}

/* Returns the clock's value at the time of day 'origin_ns'. Uses system calls directly, because
 * this process may itself run under libfaketime. */
static struct timespec at_origin(clockid_t clock, int64_t origin_ns)
{
	struct timespec day, now;
	int64_t ns;

	syscall(SYS_clock_gettime, CLOCK_REALTIME, &day);
	syscall(SYS_clock_gettime, clock, &now);
	ns = now.tv_sec * NS + now.tv_nsec - (day.tv_sec * NS + day.tv_nsec - origin_ns);
	return (struct timespec){.tv_sec = ns / NS, .tv_nsec = ns % NS};
}

/* Written atomically: programs that start at the same time see a complete start, this one or an
 * equivalent one. */
static int share_start(const char *name, int64_t origin_ns, struct error *error)
{
	const struct shared_start start = {
		.real = {.tv_sec = origin_ns / NS, .tv_nsec = origin_ns % NS},
		.monotonic = at_origin(CLOCK_MONOTONIC, origin_ns),
		.monotonic_raw = at_origin(CLOCK_MONOTONIC_RAW, origin_ns),
		.boot = at_origin(CLOCK_BOOTTIME, origin_ns),
	};
	char path[PATH_MAX];
	struct atomic_file file = {.path = path};
	sem_t *tokens = sem_open(name, O_CREAT, 0600, TOKENS);
	int result;

	if (tokens == SEM_FAILED)
		return error_set(error, errno, "semaphore %s: %s", name, strerror(errno));
	sem_close(tokens);
	snprintf(path, sizeof(path), "/dev/shm%s", name);
	if (access(path, F_OK) == 0)
		return 0;
	result = atomic_file_open(&file, error);
	if (result < 0)
		return result;
	fwrite(&start, sizeof(start), 1, file.file);
	return atomic_file_close(&file, error);
}

/* --- the libraries --- */

/* Searches next to this program in a build, otherwise in the installation folder. */
int lab_preload_find(const char *name, char path[PATH_MAX], struct error *error)
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 64);

	path[length > 0 ? length : 0] = '\0';
	if (strrchr(path, '/') != NULL)
		snprintf(strrchr(path, '/'), 64, "/preload/%s", name);
	if (access(path, R_OK) != 0)
		snprintf(path, PATH_MAX, "%s/%s", TIME_FOLDER, name);
	return access(path, R_OK) == 0
		       ? 0
		       : error_set(error, errno,
				 "%s: %s; the weft package contains this file, so the installation may be incomplete",
				 path, strerror(errno));
}

static int find_library(char path[PATH_MAX], struct error *error)
{
	glob_t found;
	int result = glob(LIBRARY, 0, NULL, &found);

	if (result == 0)
		snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
	globfree(&found);
	return result == 0
		       ? 0
		       : error_set(error, ENOENT,
				 "libfaketime, which slows down programs in a dilated lab, is missing; run 'apt install faketime', or use --no-faketime");
}

/* --- the environment --- */

int lab_slow_time_begin(const char *run_dir, uint32_t dilation, struct error *error)
{
	char own[PATH_MAX], library[PATH_MAX], name[64], text[2 * PATH_MAX + 2];
	int64_t origin_ns;
	int result = lab_preload_find(PRELOAD, own, error);

	if (result == 0)
		result = find_library(library, error);
	if (result == 0)
		result = read_origin(run_dir, &origin_ns, error);
	if (result < 0)
		return result;
	name_of(origin_ns, name);
	result = share_start(name, origin_ns, error);
	if (result < 0)
		return result;
	snprintf(text, sizeof(text), "%s:%s", own, library);
	setenv("LD_PRELOAD", text, 1);
	snprintf(text, sizeof(text), "%s %s", name, name);
	setenv("FAKETIME_SHARED", text, 1);
	snprintf(text, sizeof(text), "+0 x%.17g", 1.0 / dilation);
	setenv("FAKETIME", text, 1);
	snprintf(text, sizeof(text), "%" PRIu32, dilation);
	setenv("WEFT_DILATION", text, 1);
	return 0;
}

void lab_slow_time_leave(void)
{
	if (getenv("WEFT_DILATION") == NULL)
		return;
	unsetenv("LD_PRELOAD");
	unsetenv("FAKETIME_SHARED");
	unsetenv("FAKETIME");
	unsetenv("WEFT_DILATION");
}

void lab_slow_time_forget(const char *run_dir)
{
	int64_t origin_ns;
	char name[64];

	if (read_origin(run_dir, &origin_ns, NULL) < 0)
		return;
	name_of(origin_ns, name);
	shm_unlink(name);
	sem_unlink(name);
}
