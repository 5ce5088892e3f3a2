/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "weft_fi.h"

/* Completion queues and counters. */

/* --- completion queue --- */

int weft_fi_complete(struct weft_fi_cq *cq, const struct weft_fi_completion *completion)
{
	if (cq->count == cq->room) {
		size_t room = cq->room == 0 ? 256 : 2 * cq->room;
		struct weft_fi_completion *grown = malloc(room * sizeof(*grown));

		if (grown == NULL)
			return -FI_ENOMEM;
		for (size_t i = 0; i < cq->count; i++)
			grown[i] = cq->ring[(cq->head + i) & (cq->room - 1)];
		free(cq->ring);
		cq->ring = grown;
		cq->head = 0;
		cq->room = room;
	}
	cq->ring[(cq->head + cq->count++) & (cq->room - 1)] = *completion;
	return 0;
}

int weft_fi_cq_watch(struct weft_fi_cq *cq, struct weft_fi_ep *ep)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (cq->poll >= 0)
		epoll_ctl(cq->poll, EPOLL_CTL_ADD, weft_fd(ep->weft), &event);
	return 0;
}

static void move_data(struct weft_fi_ep *const eps[2], bool queue)
{
	for (unsigned side = 0; side < 2; side++)
		for (struct weft_fi_ep *ep = eps[side]; ep != NULL;
			ep = queue ? ep->next_cq[side] : ep->next_cntr[side])
			weft_fi_progress(ep);
}

static size_t entry_bytes(const struct weft_fi_cq *cq)
{
	switch (cq->format) {
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_DATA:
		return sizeof(struct fi_cq_data_entry);
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	default:
		return sizeof(struct fi_cq_entry);
	}
}

/* Each format begins as the one with tags. */
static ssize_t read_from(struct fid_cq *fid, void *buffer, size_t count, fi_addr_t *from)
{
	struct weft_fi_cq *cq = (void *)fid;
	size_t bytes = entry_bytes(cq), taken = 0;
	ssize_t result;

	pthread_mutex_lock(&cq->domain->lock);
	move_data(cq->eps, true);
	while (taken < count && cq->count > 0 && cq->ring[cq->head].error == 0) {
		memcpy((uint8_t *)buffer + taken * bytes, &cq->ring[cq->head].entry, bytes);
		if (from != NULL)
			from[taken] = cq->ring[cq->head].from;
		cq->head = (cq->head + 1) & (cq->room - 1);
		cq->count--;
		taken++;
	}
	result = taken > 0 ? (ssize_t)taken : cq->count > 0 ? -FI_EAVAIL : -FI_EAGAIN;
	pthread_mutex_unlock(&cq->domain->lock);
	return result;
}

static ssize_t read_plain(struct fid_cq *cq, void *buffer, size_t count)
{
	return read_from(cq, buffer, count, NULL);
}

static ssize_t read_error(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
	struct weft_fi_cq *cq = (void *)fid;
	const struct weft_fi_completion *first;
	ssize_t result = -FI_EAGAIN;

	pthread_mutex_lock(&cq->domain->lock);
	first = cq->count > 0 ? &cq->ring[cq->head] : NULL;
	if (first != NULL && first->error != 0) {
		*entry = (struct fi_cq_err_entry){.op_context = first->entry.op_context,
			.flags = first->entry.flags,
			.len = first->entry.len,
			.buf = first->entry.buf,
			.data = first->entry.data,
			.tag = first->entry.tag,
			.olen = first->olen,
			.err = first->error,
			.prov_errno = first->error,
			.err_data = entry->err_data,
			.err_data_size = 0};
		cq->head = (cq->head + 1) & (cq->room - 1);
		cq->count--;
		result = 1;
	}
	pthread_mutex_unlock(&cq->domain->lock);
	return result;
}

/* False: there may be news already. */
static bool arm(struct weft_fi_cq *cq)
{
	bool armed = true;

	pthread_mutex_lock(&cq->domain->lock);
	for (unsigned side = 0; side < 2; side++)
		for (struct weft_fi_ep *ep = cq->eps[side]; ep != NULL; ep = ep->next_cq[side])
			armed = weft_arm(ep->weft) && armed;
	armed = armed && cq->count == 0;
	pthread_mutex_unlock(&cq->domain->lock);
	return armed;
}

/* The time of a call that is woken without a completion begins anew; it gets no shorter. */
static ssize_t sread_from(struct fid_cq *fid, void *buffer, size_t count, fi_addr_t *from,
	const void *condition, int timeout)
{
	struct weft_fi_cq *cq = (void *)fid;
	struct epoll_event event;

	if (cq->poll < 0)
		return -FI_ENOSYS;
	for (;;) {
		ssize_t result = read_from(fid, buffer, count, from);
		int woken;

		if (result != -FI_EAGAIN || timeout == 0)
			return result;
		if (!arm(cq))
			continue;
		woken = epoll_wait(cq->poll, &event, 1, timeout);
		if (woken < 0)
			return -errno;
		if (woken == 0)
			return read_from(fid, buffer, count, from);
	}
}

static ssize_t sread(
	struct fid_cq *cq, void *buffer, size_t count, const void *condition, int timeout)
{
	return sread_from(cq, buffer, count, NULL, condition, timeout);
}

static int no_signal(struct fid_cq *cq)
{
	return -FI_ENOSYS;
}

static const char *explain(
	struct fid_cq *cq, int error, const void *data, char *buffer, size_t bytes)
{
	const char *text = fi_strerror(error);

	if (buffer != NULL && bytes > 0)
		snprintf(buffer, bytes, "%s", text);
	return text;
}

static struct fi_ops_cq cq_ops = {.size = sizeof(struct fi_ops_cq),
	.read = read_plain,
	.readfrom = read_from,
	.readerr = read_error,
	.sread = sread,
	.sreadfrom = sread_from,
	.signal = no_signal,
	.strerror = explain};

static int close_cq(struct fid *fid)
{
	struct weft_fi_cq *cq = (void *)fid;

	if (cq->eps[0] != NULL || cq->eps[1] != NULL)
		return -FI_EBUSY;
	if (cq->poll >= 0)
		close(cq->poll);
	free(cq->ring);
	free(cq);
	return 0;
}

static int control_cq(struct fid *fid, int command, void *argument)
{
	struct weft_fi_cq *cq = (void *)fid;

	if (command != FI_GETWAIT || cq->poll < 0)
		return -FI_ENOSYS;
	*(int *)argument = cq->poll;
	return 0;
}

static struct fi_ops cq_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_cq,
	.bind = weft_fi_no_bind,
	.control = control_cq,
	.ops_open = weft_fi_no_ops};

int weft_fi_cq_open(
	struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **opened, void *context)
{
	struct weft_fi_cq *cq;

	if (attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC &&
		attr->wait_obj != FI_WAIT_FD)
		return -FI_ENOSYS;
	cq = calloc(1, sizeof(*cq));
	if (cq == NULL)
		return -FI_ENOMEM;
	cq->domain = (void *)domain;
	cq->format = attr->format;
	cq->poll = -1;
	if (attr->wait_obj != FI_WAIT_NONE && (cq->poll = epoll_create1(EPOLL_CLOEXEC)) < 0) {
		free(cq);
		return -errno;
	}
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fid_ops;
	cq->fid.ops = &cq_ops;
	*opened = &cq->fid;
	return 0;
}

/* --- counter --- */

static uint64_t read_counter(struct weft_fi_cntr *cntr, const uint64_t *value)
{
	uint64_t result;

	pthread_mutex_lock(&cntr->domain->lock);
	move_data(cntr->eps, false);
	result = *value;
	pthread_mutex_unlock(&cntr->domain->lock);
	return result;
}

static uint64_t read_value(struct fid_cntr *fid)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	return read_counter(cntr, &cntr->value);
}

static uint64_t read_errors(struct fid_cntr *fid)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	return read_counter(cntr, &cntr->errors);
}

static int change(struct weft_fi_cntr *cntr, uint64_t *value, uint64_t by, bool set)
{
	pthread_mutex_lock(&cntr->domain->lock);
	*value = set ? by : *value + by;
	pthread_mutex_unlock(&cntr->domain->lock);
	return 0;
}

static int add_value(struct fid_cntr *fid, uint64_t by)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	return change(cntr, &cntr->value, by, false);
}

static int set_value(struct fid_cntr *fid, uint64_t to)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	return change(cntr, &cntr->value, to, true);
}

static int add_error(struct fid_cntr *fid, uint64_t by)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	return change(cntr, &cntr->errors, by, false);
}

static int set_error(struct fid_cntr *fid, uint64_t to)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	return change(cntr, &cntr->errors, to, true);
}

static int no_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	return -FI_ENOSYS;
}

static struct fi_ops_cntr cntr_ops = {.size = sizeof(struct fi_ops_cntr),
	.read = read_value,
	.readerr = read_errors,
	.add = add_value,
	.set = set_value,
	.wait = no_wait,
	.adderr = add_error,
	.seterr = set_error};

static int close_cntr(struct fid *fid)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	if (cntr->eps[0] != NULL || cntr->eps[1] != NULL)
		return -FI_EBUSY;
	free(cntr);
	return 0;
}

static struct fi_ops cntr_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_cntr,
	.bind = weft_fi_no_bind,
	.control = weft_fi_no_control,
	.ops_open = weft_fi_no_ops};

int weft_fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
	struct fid_cntr **opened, void *context)
{
	struct weft_fi_cntr *cntr;

	if (attr->events != FI_CNTR_EVENTS_COMP ||
		(attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC))
		return -FI_ENOSYS;
	cntr = calloc(1, sizeof(*cntr));
	if (cntr == NULL)
		return -FI_ENOMEM;
	cntr->domain = (void *)domain;
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fid_ops;
	cntr->fid.ops = &cntr_ops;
	*opened = &cntr->fid;
	return 0;
}
