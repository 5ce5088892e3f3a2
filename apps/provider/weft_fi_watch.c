/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "weft_fi.h"

/* Sleeping until the endpoints of a queue or counter have events. */

static int add(const struct weft_fi_watch *watch, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return watch->poll < 0 || epoll_ctl(watch->poll, EPOLL_CTL_ADD, fd, &event) == 0 ||
			       errno == EEXIST
		       ? 0
		       : -errno;
}

int weft_fi_watch_open(struct weft_fi_watch *watch, struct fid_domain *domain, unsigned kind,
	enum fi_wait_obj wait)
{
	*watch = (struct weft_fi_watch){
		.domain = (void *)domain, .kind = kind, .poll = -1, .bell = -1};
	if (wait == FI_WAIT_NONE)
		return 0;
	if (wait != FI_WAIT_UNSPEC && wait != FI_WAIT_FD)
		return -FI_ENOSYS;
	watch->poll = epoll_create1(EPOLL_CLOEXEC);
	watch->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (watch->poll >= 0 && watch->bell >= 0 && add(watch, watch->bell) == 0)
		return 0;
	weft_fi_watch_close(watch);
	return -FI_EMFILE;
}

int weft_fi_watch_close(struct weft_fi_watch *watch)
{
	if (watch->eps[SIDE_SEND] != NULL || watch->eps[SIDE_RECEIVE] != NULL)
		return -FI_EBUSY;
	if (watch->poll >= 0)
		close(watch->poll);
	if (watch->bell >= 0)
		close(watch->bell);
	return 0;
}

int weft_fi_watch_add(struct weft_fi_watch *watch, struct weft_fi_ep *ep, enum weft_fi_side side)
{
	ep->next[watch->kind][side] = watch->eps[side];
	watch->eps[side] = ep;
	return add(watch, weft_fd(ep->weft));
}

void weft_fi_watch_remove(
	struct weft_fi_watch *watch, const struct weft_fi_ep *ep, enum weft_fi_side side)
{
	struct weft_fi_ep **chain = &watch->eps[side];

	while (*chain != NULL && *chain != ep)
		chain = &(*chain)->next[watch->kind][side];
	if (*chain != NULL)
		*chain = ep->next[watch->kind][side];
}

int weft_fi_watch_control(struct weft_fi_watch *watch, int command, void *argument)
{
	if (command != FI_GETWAIT || watch->poll < 0)
		return -FI_ENOSYS;
	*(int *)argument = watch->poll;
	return 0;
}

int weft_fi_watch_progress(struct weft_fi_watch *watch)
{
	int result = 0;

	for (enum weft_fi_side side = SIDE_SEND; side <= SIDE_RECEIVE; side++)
		for (struct weft_fi_ep *ep = watch->eps[side]; ep != NULL;
			ep = ep->next[watch->kind][side])
			if (weft_fi_progress(ep) < 0)
				result = -FI_ENETDOWN;
	return result;
}

bool weft_fi_watch_arm(struct weft_fi_watch *watch)
{
	bool armed = !watch->signalled;
	eventfd_t value;

	if (watch->bell >= 0)
		eventfd_read(watch->bell, &value);
	watch->armed = true;
	for (enum weft_fi_side side = SIDE_SEND; side <= SIDE_RECEIVE; side++)
		for (struct weft_fi_ep *ep = watch->eps[side]; ep != NULL;
			ep = ep->next[watch->kind][side])
			armed = weft_arm(ep->weft) && armed;
	return armed;
}

void weft_fi_watch_wake(struct weft_fi_watch *watch)
{
	if (watch->armed && watch->bell >= 0)
		eventfd_write(watch->bell, 1);
	watch->armed = false;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t weft_fi_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? INT64_MAX : now_ms() + timeout_ms;
}

int weft_fi_watch_sleep(struct weft_fi_watch *watch, int64_t deadline)
{
	int64_t left = deadline == INT64_MAX ? -1 : deadline - now_ms();
	struct epoll_event event;
	int woken;

	if (deadline != INT64_MAX && left <= 0)
		return -FI_ETIMEDOUT;
	if (!weft_fi_watch_arm(watch))
		return 0;
	pthread_mutex_unlock(&watch->domain->lock);
	woken = epoll_wait(watch->poll, &event, 1, (int)left);
	woken = woken < 0 ? -errno : 0;
	pthread_mutex_lock(&watch->domain->lock);
	return woken;
}
