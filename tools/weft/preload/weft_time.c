/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Preloaded before libfaketime into programs of a dilated lab. Wraps blocking calls that
 * libfaketime 0.9.10 leaves in real time, or that never return with it because deadlines use the
 * slow clock but the kernel measures real time. Kernel packet time stamps would also be in real
 * time, so requests for them fail. Not part of any Weft program. */

#include <dlfcn.h>
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define US_PER_S INT64_C(1000000)
#define LONGEST  (INT64_MAX / 4)

/* The next definition of this function after this library. */
#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

static int64_t dilation(void)
{
	static int64_t value;
	const char *text;

	if (value == 0) {
		text = getenv("WEFT_DILATION");
		value = text != NULL && atoi(text) > 0 ? atoi(text) : 1;
	}
	return value;
}

static int64_t stretch(int64_t time)
{
	return time > LONGEST / dilation() ? LONGEST : time * dilation();
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

static struct timeval timeval_of(int64_t us)
{
	return (struct timeval){.tv_sec = us / US_PER_S, .tv_usec = us % US_PER_S};
}

/* Returns the kernel's time at which the slow clock shows 'shown'. */
static struct timespec real_deadline(clockid_t clock, const struct timespec *shown)
{
	struct timespec now, real;
	int64_t left;

	clock_gettime(clock, &now);
	syscall(SYS_clock_gettime, clock, &real);
	left = ns_of(shown) - ns_of(&now);
	return timespec_of(ns_of(&real) + (left > 0 ? stretch(left) : 0));
}

/* --- deadlines --- */

int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *deadline)
{
	const struct timespec real = real_deadline(clock, deadline);

	return NEXT(sem_clockwait)(sem, clock, &real);
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
	const struct timespec *deadline)
{
	const struct timespec real = real_deadline(clock, deadline);

	return NEXT(pthread_cond_clockwait)(cond, mutex, clock, &real);
}

int pthread_mutex_clocklock(
	pthread_mutex_t *mutex, clockid_t clock, const struct timespec *deadline)
{
	const struct timespec real = real_deadline(clock, deadline);

	return NEXT(pthread_mutex_clocklock)(mutex, clock, &real);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
	const struct timespec real = real_deadline(CLOCK_REALTIME, deadline);

	return NEXT(pthread_mutex_timedlock)(mutex, &real);
}

/* --- intervals --- */

static void scale_timeval(struct timeval *time, bool longer)
{
	int64_t us = (int64_t)time->tv_sec * US_PER_S + time->tv_usec;

	/* The shortest interval must not become 0, because 0 disables the timer. */
	*time = timeval_of(longer ? stretch(us) : (us + dilation() - 1) / dilation());
}

int setitimer(__itimer_which_t which, const struct itimerval *fresh, struct itimerval *before)
{
	struct itimerval real = {0};
	int result;

	if (fresh != NULL)
		real = *fresh;
	scale_timeval(&real.it_interval, true);
	scale_timeval(&real.it_value, true);
	result = NEXT(setitimer)(which, fresh != NULL ? &real : NULL, before);
	if (result == 0 && before != NULL) {
		scale_timeval(&before->it_interval, false);
		scale_timeval(&before->it_value, false);
	}
	return result;
}

int getitimer(__itimer_which_t which, struct itimerval *now)
{
	int result = NEXT(getitimer)(which, now);

	if (result == 0) {
		scale_timeval(&now->it_interval, false);
		scale_timeval(&now->it_value, false);
	}
	return result;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	struct timespec real = {0};

	if (timeout != NULL)
		real = timespec_of(stretch(ns_of(timeout)));
	return NEXT(sigtimedwait)(set, info, timeout != NULL ? &real : NULL);
}

/* The compiler calls these instead of poll() and ppoll() if the array size is known. */
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t size)
{
	if (size / sizeof(*fds) < count)
		abort();
	return poll(fds, count, timeout);
}

int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, size_t size)
{
	if (size / sizeof(*fds) < count)
		abort();
	return ppoll(fds, count, timeout, mask);
}

/* --- sockets --- */

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	struct timeval real;

	if (level != SOL_SOCKET || dilation() == 1)
		return NEXT(setsockopt)(fd, level, option, value, length);
	if (option == SO_TIMESTAMP || option == SO_TIMESTAMPNS || option == SO_TIMESTAMPING) {
		errno = ENOPROTOOPT;
		return -1;
	}
	if ((option != SO_RCVTIMEO && option != SO_SNDTIMEO) || length != sizeof(real))
		return NEXT(setsockopt)(fd, level, option, value, length);
	real = *(const struct timeval *)value;
	scale_timeval(&real, true);
	return NEXT(setsockopt)(fd, level, option, &real, length);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if ((request == SIOCGSTAMP_OLD || request == SIOCGSTAMPNS_OLD) && dilation() > 1) {
		errno = ENOENT; /* as if no packet had arrived */
		return -1;
	}
	return NEXT(ioctl)(fd, request, argument);
}
