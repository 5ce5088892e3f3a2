/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "weft_fi.h"

/* Counters. */

static uint64_t read_counter(struct weft_fi_cntr *cntr, const uint64_t *value)
{
	uint64_t result;

	pthread_mutex_lock(&cntr->watch.domain->lock);
	weft_fi_watch_progress(&cntr->watch);
	result = *value;
	pthread_mutex_unlock(&cntr->watch.domain->lock);
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
	pthread_mutex_lock(&cntr->watch.domain->lock);
	*value = set ? by : *value + by;
	weft_fi_watch_wake(&cntr->watch);
	pthread_mutex_unlock(&cntr->watch.domain->lock);
	return 0;
}

#define CHANGE(name, member, set)                            \
	static int name(struct fid_cntr *fid, uint64_t by)   \
	{                                                    \
		struct weft_fi_cntr *cntr = (void *)fid;     \
                                                             \
		return change(cntr, &cntr->member, by, set); \
	}
CHANGE(add_value, value, false)
CHANGE(set_value, value, true)
CHANGE(add_error, errors, false)
CHANGE(set_error, errors, true)

static int wait_for(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct weft_fi_cntr *cntr = (void *)fid;
	int64_t deadline = weft_fi_deadline(timeout);
	uint64_t errors = cntr->errors;
	int result = 0;

	if (cntr->watch.poll < 0)
		return -FI_ENOSYS;
	pthread_mutex_lock(&cntr->watch.domain->lock);
	while (result == 0) {
		int down = weft_fi_watch_progress(&cntr->watch);

		if (cntr->value >= threshold)
			break;
		result = cntr->errors != errors ? -FI_EAVAIL : down;
		if (result == 0)
			result = weft_fi_watch_sleep(&cntr->watch, deadline);
	}
	pthread_mutex_unlock(&cntr->watch.domain->lock);
	return result;
}

static struct fi_ops_cntr cntr_ops = {.size = sizeof(struct fi_ops_cntr),
	.read = read_value,
	.readerr = read_errors,
	.add = add_value,
	.set = set_value,
	.wait = wait_for,
	.adderr = add_error,
	.seterr = set_error};

static int close_cntr(struct fid *fid)
{
	struct weft_fi_cntr *cntr = (void *)fid;

	if (weft_fi_watch_close(&cntr->watch) < 0)
		return -FI_EBUSY;
	free(cntr);
	return 0;
}

static int control_cntr(struct fid *fid, int command, void *argument)
{
	return weft_fi_watch_control(&((struct weft_fi_cntr *)fid)->watch, command, argument);
}

static struct fi_ops cntr_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_cntr,
	.bind = weft_fi_no_bind,
	.control = control_cntr,
	.ops_open = weft_fi_no_ops};

int weft_fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
	struct fid_cntr **opened, void *context)
{
	struct weft_fi_cntr *cntr;
	int result;

	if (attr->events != FI_CNTR_EVENTS_COMP)
		return -FI_ENOSYS;
	cntr = calloc(1, sizeof(*cntr));
	result = cntr != NULL
			 ? weft_fi_watch_open(&cntr->watch, domain, WATCH_COUNTER, attr->wait_obj)
			 : -FI_ENOMEM;
	if (result < 0) {
		free(cntr);
		return result;
	}
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fid_ops;
	cntr->fid.ops = &cntr_ops;
	*opened = &cntr->fid;
	return 0;
}
