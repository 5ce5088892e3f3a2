/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_query.h"
#include "lab_state.h"
#include "os/private_dir.h"

#define PASSED  "WEFT_LAB_LOCK" /* descriptor; passed on from one weft process to the next */
#define TRIES   100             /* retries while other commands take and release the lock */
#define NAME_MS 1000 /* for a new holder to write its id, or for a child to release the lock */

/* Returns true if the previous holder removed the file after it was opened here. */
static bool was_removed(int fd, const char *path)
{
	struct stat ours, there;

	return stat(path, &there) != 0 || fstat(fd, &ours) != 0 || ours.st_ino != there.st_ino ||
	       ours.st_dev != there.st_dev;
}

/* Returns -EINVAL with error set if another command holds the lock. Fails with -EBUSY: the holder
 * has not written its id yet, or the holder was killed and its child still has the descriptor
 * because it is about to call exec(). */
static int refuse(int fd, const char *dir, struct error *error)
{
	char who[64];
	ssize_t length = pread(fd, who, sizeof(who) - 1, 0);
	const char *pid;

	who[length > 0 ? length : 0] = '\0';
	pid = strrchr(who, ' ');
	error_set(error, EINVAL, "%s: this lab is being %s", dir,
		length > 0 ? who : "worked on by another command");
	return pid != NULL && (kill(atoi(pid), 0) == 0 || errno == EPERM) ? -EINVAL : -EBUSY;
}

/* Checks the owner, because in a shared folder such as /tmp, another user may have created the
 * file, or a link to one of this user's files. */
static bool is_ours(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       status.st_nlink <= 1;
}

/* Returns the locked file's descriptor, -ESTALE to retry, or an error of refuse(). */
static int try_lock(const char *path, const char *dir, struct error *error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600), result;

	if (fd < 0) /* ENOENT: the previous holder also removed the folder. */
		return errno == ENOENT ? -ESTALE
				       : error_set(error, errno, "%s: %s", path, strerror(errno));
	if (!is_ours(fd))
		result = error_set(error, EPERM,
			"%s: the file must belong to user %u and have no "
			"hard links",
			path, (unsigned)geteuid());
	else if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		result = refuse(fd, dir, error);
	else if (was_removed(fd, path))
		result = -ESTALE;
	else
		return fd;
	close(fd);
	return result;
}

static int try_until_named(const char *path, const char *dir, struct error *error)
{
	int result = try_lock(path, dir, error);

	for (unsigned i = 0; i < NAME_MS && result == -EBUSY; i++) {
		lab_sleep_ms(1);
		result = try_lock(path, dir, error);
	}
	return result == -EBUSY ? -EINVAL : result;
}

void lab_lock_pass(const struct lab_lock *lock)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", lock->fd);
	fcntl(lock->fd, F_SETFD, 0);
	setenv(PASSED, number, 1);
}

/* Returns the lock that lab_lock_pass() passed to this program, if it is for 'path'; otherwise -1.
 * Processes that this program starts do not inherit it. */
static int take_passed(const char *path)
{
	const char *number = getenv(PASSED);
	int fd = number != NULL ? atoi(number) : -1;

	unsetenv(PASSED);
	if (fd < 0 || was_removed(fd, path) || flock(fd, LOCK_EX | LOCK_NB) != 0)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

int lab_lock_take(struct lab_lock *lock, const char *dir, const char *work, struct error *error)
{
	int result = -ESTALE;
	size_t length = strlen(dir);

	while (length > 1 && dir[length - 1] == '/')
		length--;
	snprintf(lock->path, sizeof(lock->path), "%.*s.lock", (int)length, dir);
	lock->fd = take_passed(lock->path);
	lock->passed = lock->fd >= 0;
	if (lock->passed)
		return 0;
	for (unsigned i = 0; i < TRIES && result == -ESTALE; i++) {
		result = lab_make_parents(lock->path, error);
		if (result == 0)
			result = private_dir_check_way(lock->path, error);
		if (result == 0)
			result = try_until_named(lock->path, dir, error);
		else if (result == -ENOENT) /* as in try_lock() */
			result = -ESTALE;
	}
	if (result == -ESTALE)
		return error_set(error, EIO, "%s: cannot be created", lock->path);
	if (result < 0)
		return result;
	lock->fd = result;
	if (ftruncate(lock->fd, 0) == 0)
		dprintf(lock->fd, "%s by process %ld", work, (long)getpid());
	return 0;
}

void lab_lock_release(struct lab_lock *lock)
{
	char labs[RUNTIME_DIR_MAX];

	if (lock->fd < 0)
		return;
	/* Removed while the lock is held, so that a command that has just opened the file detects
	 * the removal. */
	if (!lock->passed)
		unlink(lock->path);
	close(lock->fd);
	lock->fd = -1;
	if (lock->passed)
		return;
	/* Also removes /run/weft, if this was the last lab. */
	runtime_dir_labs(labs);
	rmdir(labs);
}

/* Global, because a signal handler can access nothing else. */
static atomic_bool interrupted;

static void on_signal(int number)
{
	atomic_store(&interrupted, true);
}

void lab_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

bool lab_interrupted(void)
{
	return atomic_load(&interrupted);
}

const atomic_bool *lab_stop_flag(void)
{
	return &interrupted;
}

void lab_forget_interrupt(void)
{
	atomic_store(&interrupted, false);
}

int lab_wait_child(pid_t pid)
{
	int status = 0;

	/* lab_catch_signals() lets signals end what waits. */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}
