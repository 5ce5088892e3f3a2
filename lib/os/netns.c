/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "netns.h"

#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PATH_BYTES 320

struct job {
	const char *name; /* namespace to enter, or NULL */
	netns_work_fn *work;
	void *ctx;
	struct error *error;
	int result;
};

static int name_path(const char *name, char path[PATH_BYTES], struct error *error)
{
	if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL || strlen(name) > 200)
		return error_set(error, EINVAL,
			"network namespace '%s': expected a name without '/' or a leading '.'",
			name);
	snprintf(path, PATH_BYTES, "%s/%s", NETNS_DIR, name);
	return 0;
}

static int enter(const char *name, struct error *error)
{
	char path[PATH_BYTES];
	int result = name_path(name, path, error);
	int fd;

	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, errno,
			"network namespace '%s': %s; 'ip netns add %s' creates it", name,
			strerror(errno), name);
	result = setns(fd, CLONE_NEWNET) == 0 ? 0 : -errno;
	close(fd);
	if (result < 0)
		return error_set(error, -result,
			"network namespace '%s': cannot be entered: %s; run as root", name,
			strerror(-result));
	return 0;
}

static void *job_main(void *ctx)
{
	struct job *job = ctx;

	job->result = job->name != NULL ? enter(job->name, job->error) : 0;
	if (job->result == 0)
		job->result = job->work(job->ctx, job->error);
	return NULL;
}

int netns_run(const char *name, netns_work_fn *work, void *ctx, struct error *error)
{
	struct job job = {.name = name, .work = work, .ctx = ctx, .error = error};
	sigset_t all, before;
	pthread_t thread;
	int result;

	/* Signals go to the program's other threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&thread, NULL, job_main, &job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result != 0)
		return error_set(error, result, "cannot start a thread for a network namespace: %s",
			strerror(result));
	pthread_join(thread, NULL);
	return job.result;
}

static int loopback_up(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int result = -1;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFFLAGS, &request) == 0) {
		request.ifr_flags |= IFF_UP;
		result = ioctl(fd, SIOCSIFFLAGS, &request);
	}
	result = result == 0 ? 0 : -errno;
	close(fd);
	return result;
}

/* Creates a namespace and pins it to 'path'. Runs in its own thread. */
static int make_and_pin(void *path, struct error *error)
{
	char self[64];

	if (unshare(CLONE_NEWNET) != 0)
		return error_set(error, errno,
			"%s: cannot create a network namespace: %s; run as root",
			(const char *)path, strerror(errno));
	snprintf(self, sizeof(self), "/proc/self/task/%ld/ns/net", (long)syscall(SYS_gettid));
	if (mount(self, path, "none", MS_BIND, NULL) != 0)
		return error_set(error, errno, "%s: cannot pin the network namespace: %s",
			(const char *)path, strerror(errno));
	loopback_up();
	return 0;
}

/* As in 'ip netns', the directory is a shared mount, so that other mount namespaces see additions
 * and removals. */
static int directory_make(struct error *error)
{
	if (mkdir(NETNS_DIR, 0755) != 0 && errno != EEXIST)
		return error_set(error, errno, "%s: %s; run as root", NETNS_DIR, strerror(errno));
	if (mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) == 0)
		return 0;
	if (errno != EINVAL)
		return error_set(error, errno, "%s: %s; run as root", NETNS_DIR, strerror(errno));
	if (mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL) != 0 ||
		mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL) != 0)
		return error_set(error, errno, "%s: %s; run as root", NETNS_DIR, strerror(errno));
	return 0;
}

int netns_create(const char *name, struct error *error)
{
	char path[PATH_BYTES];
	int result = name_path(name, path, error);
	int fd;

	if (result == 0)
		result = directory_make(error);
	if (result < 0)
		return result;
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		return error_set(error, errno, "network namespace '%s': %s", name,
			errno == EEXIST ? "already exists" : strerror(errno));
	close(fd);
	result = netns_run(NULL, make_and_pin, path, error);
	if (result < 0)
		unlink(path);
	return result;
}

int netns_remove(const char *name, struct error *error)
{
	char path[PATH_BYTES];
	int result = name_path(name, path, error);

	if (result < 0)
		return result;
	umount2(path, MNT_DETACH);
	if (unlink(path) != 0)
		return error_set(error, errno, "network namespace '%s': cannot be removed: %s",
			name, strerror(errno));
	return 0;
}
