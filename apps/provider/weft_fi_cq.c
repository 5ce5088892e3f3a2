/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_fi.h"

/* Completion queues. */

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
	weft_fi_watch_wake(&cq->watch);
	return 0;
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

/* Reads entries in any format, because each format is a prefix of the tagged one. */
static ssize_t read_locked(struct weft_fi_cq *cq, void *buffer, size_t count, fi_addr_t *from)
{
	size_t bytes = entry_bytes(cq), taken = 0;
	int down = weft_fi_watch_progress(&cq->watch);

	while (taken < count && cq->count > 0 && cq->ring[cq->head].error == 0) {
		memcpy((uint8_t *)buffer + taken * bytes, &cq->ring[cq->head].entry, bytes);
		if (from != NULL)
			from[taken] = cq->ring[cq->head].from;
		cq->head = (cq->head + 1) & (cq->room - 1);
		cq->count--;
		taken++;
	}
	if (taken > 0)
		return (ssize_t)taken;
	return cq->count > 0 ? -FI_EAVAIL : down < 0 ? down : -FI_EAGAIN;
}

static ssize_t read_from(struct fid_cq *fid, void *buffer, size_t count, fi_addr_t *from)
{
	struct weft_fi_cq *cq = (void *)fid;
	ssize_t result;

	pthread_mutex_lock(&cq->watch.domain->lock);
	result = read_locked(cq, buffer, count, from);
	pthread_mutex_unlock(&cq->watch.domain->lock);
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

	pthread_mutex_lock(&cq->watch.domain->lock);
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
	pthread_mutex_unlock(&cq->watch.domain->lock);
	return result;
}

static ssize_t sread_from(struct fid_cq *fid, void *buffer, size_t count, fi_addr_t *from,
	const void *condition, int timeout)
{
	struct weft_fi_cq *cq = (void *)fid;
	int64_t deadline = weft_fi_deadline(timeout);
	ssize_t result;
	int woken = 0;

	if (cq->watch.poll < 0)
		return -FI_ENOSYS;
	pthread_mutex_lock(&cq->watch.domain->lock);
	while ((result = read_locked(cq, buffer, count, from)) == -FI_EAGAIN && woken == 0 &&
		!cq->watch.signalled)
		woken = weft_fi_watch_sleep(&cq->watch, deadline);
	cq->watch.signalled = false;
	pthread_mutex_unlock(&cq->watch.domain->lock);
	return result == -FI_EAGAIN && woken != -FI_ETIMEDOUT && woken != 0 ? woken : result;
}

static ssize_t sread(
	struct fid_cq *cq, void *buffer, size_t count, const void *condition, int timeout)
{
	return sread_from(cq, buffer, count, NULL, condition, timeout);
}

static int wake(struct fid_cq *fid)
{
	struct weft_fi_cq *cq = (void *)fid;

	pthread_mutex_lock(&cq->watch.domain->lock);
	cq->watch.signalled = true;
	weft_fi_watch_wake(&cq->watch);
	pthread_mutex_unlock(&cq->watch.domain->lock);
	return 0;
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
	.signal = wake,
	.strerror = explain};

static int close_cq(struct fid *fid)
{
	struct weft_fi_cq *cq = (void *)fid;

	if (weft_fi_watch_close(&cq->watch) < 0)
		return -FI_EBUSY;
	free(cq->ring);
	free(cq);
	return 0;
}

static int control_cq(struct fid *fid, int command, void *argument)
{
	return weft_fi_watch_control(&((struct weft_fi_cq *)fid)->watch, command, argument);
}

static struct fi_ops cq_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_cq,
	.bind = weft_fi_no_bind,
	.control = control_cq,
	.ops_open = weft_fi_no_ops};

int weft_fi_cq_open(
	struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **opened, void *context)
{
	struct weft_fi_cq *cq = calloc(1, sizeof(*cq));
	int result = cq != NULL
			     ? weft_fi_watch_open(&cq->watch, domain, WATCH_QUEUE, attr->wait_obj)
			     : -FI_ENOMEM;

	if (result < 0) {
		free(cq);
		return result;
	}
	cq->format = attr->format;
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fid_ops;
	cq->fid.ops = &cq_ops;
	*opened = &cq->fid;
	return 0;
}
