/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "weft_fi.h"

/* Endpoints: opening, binding, enabling, closing. */

static ssize_t cancel(fid_t fid, void *context)
{
	struct weft_fi_ep *ep = (void *)fid;
	struct weft_fi_request *request;
	int result = -FI_ENOENT;

	pthread_mutex_lock(&ep->domain->lock);
	for (request = ep->active.next; request != &ep->active && result < 0;
		request = request->next)
		if (request->context == context && !request->claim)
			result = weft_cancel(ep->weft, request) == 0 ? 0 : -FI_ENOENT;
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static int get_option(fid_t fid, int level, int name, void *value, size_t *bytes)
{
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (*bytes < sizeof(size_t))
		return -FI_ETOOSMALL;
	*bytes = sizeof(size_t);
	memcpy(value, &((struct weft_fi_ep *)fid)->multi_bytes, sizeof(size_t));
	return 0;
}

static int set_option(fid_t fid, int level, int name, const void *value, size_t bytes)
{
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (bytes != sizeof(size_t))
		return -FI_EINVAL;
	memcpy(&((struct weft_fi_ep *)fid)->multi_bytes, value, bytes);
	return 0;
}

NOT_SUPPORTED(int, no_tx_context, struct fid_ep *ep, int index, struct fi_tx_attr *attr,
	struct fid_ep **tx, void *context)
NOT_SUPPORTED(int, no_rx_context, struct fid_ep *ep, int index, struct fi_rx_attr *attr,
	struct fid_ep **rx, void *context)
NOT_SUPPORTED(ssize_t, no_size_left, struct fid_ep *ep)

static struct fi_ops_ep ep_ops = {.size = sizeof(struct fi_ops_ep),
	.cancel = cancel,
	.getopt = get_option,
	.setopt = set_option,
	.tx_ctx = no_tx_context,
	.rx_ctx = no_rx_context,
	.rx_size_left = no_size_left,
	.tx_size_left = no_size_left};

NOT_SUPPORTED(int, no_set_name, fid_t fid, void *address, size_t bytes)

static int get_name(fid_t fid, void *address, size_t *bytes)
{
	struct weft_address own = weft_address(((struct weft_fi_ep *)fid)->weft);
	size_t room = *bytes;

	*bytes = sizeof(own);
	if (room < sizeof(own))
		return -FI_ETOOSMALL;
	memcpy(address, &own, sizeof(own));
	return 0;
}

NOT_SUPPORTED(int, no_peer, struct fid_ep *ep, void *address, size_t *bytes)
NOT_SUPPORTED(
	int, no_connect, struct fid_ep *ep, const void *address, const void *param, size_t bytes)
NOT_SUPPORTED(int, no_listen, struct fid_pep *pep)
NOT_SUPPORTED(int, no_accept, struct fid_ep *ep, const void *param, size_t bytes)
NOT_SUPPORTED(int, no_reject, struct fid_pep *pep, fid_t handle, const void *param, size_t bytes)
NOT_SUPPORTED(int, no_shutdown, struct fid_ep *ep, uint64_t flags)
NOT_SUPPORTED(int, no_join, struct fid_ep *ep, const void *address, uint64_t flags,
	struct fid_mc **mc, void *context)

static struct fi_ops_cm cm_ops = {.size = sizeof(struct fi_ops_cm),
	.setname = no_set_name,
	.getname = get_name,
	.getpeer = no_peer,
	.connect = no_connect,
	.listen = no_listen,
	.accept = no_accept,
	.reject = no_reject,
	.shutdown = no_shutdown,
	.join = no_join};

static int close_ep(struct fid *fid)
{
	struct weft_fi_ep *ep = (void *)fid;

	pthread_mutex_lock(&ep->domain->lock);
	for (enum weft_fi_side side = SIDE_SEND; side <= SIDE_RECEIVE; side++) {
		if (ep->cq[side] != NULL)
			weft_fi_watch_remove(&ep->cq[side]->watch, ep, side);
		if (ep->cntr[side] != NULL)
			weft_fi_watch_remove(&ep->cntr[side]->watch, ep, side);
	}
	pthread_mutex_unlock(&ep->domain->lock);
	weft_close(ep->weft);
	while (ep->active.next != &ep->active)
		weft_fi_put_request(ep, ep->active.next);
	while (ep->spare != NULL) {
		struct weft_fi_request *next = ep->spare->next;

		free(ep->spare);
		ep->spare = next;
	}
	free(ep);
	return 0;
}

static int bind_cq(struct weft_fi_ep *ep, struct weft_fi_cq *cq, uint64_t flags)
{
	static const uint64_t flag[] = {FI_TRANSMIT, FI_RECV};
	int result = 0;

	for (enum weft_fi_side side = SIDE_SEND; side <= SIDE_RECEIVE; side++) {
		if (!(flags & flag[side]))
			continue;
		if (ep->cq[side] != NULL)
			return -FI_EINVAL;
		ep->cq[side] = cq;
		ep->selective[side] = (flags & FI_SELECTIVE_COMPLETION) != 0;
		result = weft_fi_watch_add(&cq->watch, ep, side);
	}
	return result;
}

static int bind_cntr(struct weft_fi_ep *ep, struct weft_fi_cntr *cntr, uint64_t flags)
{
	static const uint64_t flag[] = {FI_SEND, FI_RECV};
	int result = 0;

	if (flags & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE))
		return -FI_ENOSYS;
	for (enum weft_fi_side side = SIDE_SEND; side <= SIDE_RECEIVE; side++) {
		if (!(flags & flag[side]))
			continue;
		ep->cntr[side] = cntr;
		result = weft_fi_watch_add(&cntr->watch, ep, side);
	}
	return result;
}

static int bind_ep(struct fid *fid, struct fid *to, uint64_t flags)
{
	struct weft_fi_ep *ep = (void *)fid;
	int result = 0;

	pthread_mutex_lock(&ep->domain->lock);
	switch (to->fclass) {
	case FI_CLASS_AV:
		ep->av = (void *)to;
		break;
	case FI_CLASS_CQ:
		result = bind_cq(ep, (void *)to, flags);
		break;
	case FI_CLASS_CNTR:
		result = bind_cntr(ep, (void *)to, flags);
		break;
	case FI_CLASS_EQ:
		break;
	default:
		result = -FI_EINVAL;
	}
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static int control_ep(struct fid *fid, int command, void *argument)
{
	struct weft_fi_ep *ep = (void *)fid;

	if (command != FI_ENABLE)
		return -FI_ENOSYS;
	if (ep->av == NULL)
		return -FI_ENOAV;
	if (ep->cq[SIDE_SEND] == NULL && ep->cq[SIDE_RECEIVE] == NULL &&
		ep->cntr[SIDE_SEND] == NULL && ep->cntr[SIDE_RECEIVE] == NULL)
		return -FI_ENOCQ;
	ep->enabled = true;
	return 0;
}

static struct fi_ops ep_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_ep,
	.bind = bind_ep,
	.control = control_ep,
	.ops_open = weft_fi_no_ops};

int weft_fi_ep_open(
	struct fid_domain *domain, struct fi_info *info, struct fid_ep **opened, void *context)
{
	struct weft_fi_ep *ep = calloc(1, sizeof(*ep));
	int result = ep != NULL ? weft_open(NULL, &ep->weft) : -FI_ENOMEM;

	if (result < 0) {
		free(ep);
		return result;
	}
	ep->domain = (void *)domain;
	ep->multi_bytes = WEFT_FI_MULTI_BYTES;
	ep->active.next = ep->active.previous = &ep->active;
	ep->directed = (info->caps & FI_DIRECTED_RECV) != 0;
	ep->tx_flags = info->tx_attr != NULL ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr != NULL ? info->rx_attr->op_flags : 0;
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &ep_ops;
	ep->fid.cm = &cm_ops;
	ep->fid.msg = &weft_fi_msg_ops;
	ep->fid.tagged = &weft_fi_tagged_ops;
	*opened = &ep->fid;
	return 0;
}
