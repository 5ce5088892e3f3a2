/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "weft_fi.h"

/* Endpoints: messages with and without tags. Both go through one function for sends and one for
 * receives; a space of libweft keeps them apart. */

enum space { SPACE_MESSAGE, SPACE_TAGGED };
enum side { SIDE_SEND, SIDE_RECEIVE };

/* A call, in the form of the most general one. */
struct call {
	const void *buffer;
	size_t bytes;
	fi_addr_t peer;
	uint64_t tag, ignore, data;
	void *context;
	uint64_t flags;
	enum space space;
	bool quiet; /* no completion */
};

/* --- requests --- */

static struct weft_fi_request *get_request(struct weft_fi_ep *ep, const struct call *call)
{
	struct weft_fi_request *request = ep->spare;

	if (request != NULL)
		ep->spare = request->next;
	else
		request = malloc(sizeof(*request));
	if (request == NULL)
		return NULL;
	*request = (struct weft_fi_request){.context = call->context,
		.buffer = (void *)call->buffer,
		.bytes = call->bytes,
		.next = &ep->active,
		.previous = ep->active.previous};
	ep->active.previous->next = request;
	ep->active.previous = request;
	return request;
}

static void put_request(struct weft_fi_ep *ep, struct weft_fi_request *request)
{
	request->previous->next = request->next;
	request->next->previous = request->previous;
	free(request->own);
	request->next = ep->spare;
	ep->spare = request;
}

static int error_of(int error)
{
	return error == -EMSGSIZE ? FI_ETRUNC : -error;
}

static uint64_t kind_of(enum space space)
{
	return space == SPACE_TAGGED ? FI_TAGGED : FI_MSG;
}

static void count(struct weft_fi_cntr *cntr, int error)
{
	if (cntr != NULL && error == 0)
		cntr->value++;
	else if (cntr != NULL)
		cntr->errors++;
}

static void complete_request(
	struct weft_fi_ep *ep, struct weft_fi_request *request, const struct weft_event *event)
{
	enum side side = event->kind == WEFT_SENT ? SIDE_SEND : SIDE_RECEIVE;
	struct weft_fi_completion completion = {.from = FI_ADDR_NOTAVAIL,
		.error = event->error == 0 ? 0 : error_of(event->error),
		.entry = {.op_context = request->context,
			.flags = kind_of(event->space) | (side == SIDE_SEND ? FI_SEND : FI_RECV),
			.len = event->bytes,
			.buf = request->buffer,
			.data = event->data,
			.tag = event->tag}};

	if (side == SIDE_RECEIVE && event->has_data)
		completion.entry.flags |= FI_REMOTE_CQ_DATA;
	if (side == SIDE_RECEIVE && event->error == 0)
		completion.from = weft_fi_av_find(ep->av, &event->from);
	if (event->bytes > request->bytes && side == SIDE_RECEIVE) {
		completion.entry.len = request->bytes;
		completion.olen = event->bytes - request->bytes;
	}
	count(ep->cntr[side], completion.error);
	/* Without memory for it a completion is lost, and the program waits. */
	if (ep->cq[side] != NULL && (!request->quiet || completion.error != 0) &&
		weft_fi_complete(ep->cq[side], &completion) < 0)
		abort();
	put_request(ep, request);
}

/* The message of a claim goes from its own memory to the buffer of the call. */
static void end_claim(struct weft_fi_ep *ep, struct weft_fi_request *request)
{
	struct weft_event event = request->event;
	size_t bytes = event.bytes < request->bytes ? event.bytes : request->bytes;

	if (event.error == 0 && bytes > 0)
		memcpy(request->buffer, request->own, bytes);
	if (event.error == 0 && event.bytes > request->bytes)
		event.error = -EMSGSIZE;
	complete_request(ep, request, &event);
}

void weft_fi_progress(struct weft_fi_ep *ep)
{
	struct weft_event event[16];
	int events;

	do {
		events = weft_poll(ep->weft, event, 16);
		for (int i = 0; i < events; i++) {
			struct weft_fi_request *request = event[i].context;

			if (!request->claim) {
				complete_request(ep, request, &event[i]);
				continue;
			}
			request->event = event[i];
			request->arrived = true;
			if (request->claimed)
				end_claim(ep, request);
		}
	} while (events == 16);
}

/* --- calls --- */

static bool is_quiet(const struct weft_fi_ep *ep, enum side side, uint64_t flags)
{
	return ep->selective[side] && !(flags & FI_COMPLETION);
}

static ssize_t send_locked(struct weft_fi_ep *ep, const struct call *call)
{
	struct weft_message message = {.tag = call->tag,
		.data = call->data,
		.has_data = (call->flags & FI_REMOTE_CQ_DATA) != 0,
		.space = (uint8_t)call->space,
		.buffer = call->buffer,
		.bytes = call->bytes};
	struct weft_fi_request *request = NULL;
	int result;

	if (call->peer >= ep->av->count)
		return -FI_EINVAL;
	message.to = ep->av->address[call->peer];
	if (call->flags & FI_INJECT)
		message.flags = WEFT_IMMEDIATE;
	else if (!(call->flags & FI_TRANSMIT_COMPLETE))
		message.flags = WEFT_EARLY;
	request = get_request(ep, call);
	if (request == NULL)
		return -FI_ENOMEM;
	request->quiet = call->quiet || is_quiet(ep, SIDE_SEND, call->flags);
	message.context = request;
	result = weft_post_send(ep->weft, &message);
	if (result == -EAGAIN) {
		weft_fi_progress(ep);
		result = weft_post_send(ep->weft, &message);
	}
	if (result < 0)
		put_request(ep, request);
	return result == -EAGAIN ? -FI_EAGAIN : result;
}

static ssize_t do_send(struct fid_ep *fid, const struct call *call)
{
	struct weft_fi_ep *ep = (void *)fid;
	ssize_t result;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (call->bytes > WEFT_FI_MESSAGE_MAX ||
		((call->flags & FI_INJECT) && call->bytes > WEFT_FI_INJECT_BYTES))
		return -FI_EMSGSIZE;
	pthread_mutex_lock(&ep->domain->lock);
	result = send_locked(ep, call);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

/* Takes the message that was looked at, into memory of its own, for the call that claims it. */
static ssize_t take_for_claim(
	struct weft_fi_ep *ep, const struct call *call, const struct weft_event *seen)
{
	struct weft_fi_request *request = get_request(ep, call);
	struct weft_receive receive = {.from = &seen->from,
		.tag = seen->tag,
		.mask = UINT64_MAX,
		.space = (uint8_t)call->space,
		.bytes = seen->bytes,
		.context = request};
	int result;

	if (request == NULL)
		return -FI_ENOMEM;
	request->claim = true;
	/* The peer chose the length: with SIZE_MAX the sum would be 0. */
	request->own = seen->bytes < SIZE_MAX ? malloc(seen->bytes + 1) : NULL;
	receive.buffer = request->own;
	result = request->own != NULL ? weft_post_recv(ep->weft, &receive) : -ENOMEM;
	if (result < 0)
		put_request(ep, request);
	return result;
}

/* A look always ends with a completion: what is there, or FI_ENOMSG. */
static ssize_t peek(
	struct weft_fi_ep *ep, const struct call *call, const struct weft_receive *receive)
{
	struct weft_fi_completion completion = {.from = FI_ADDR_NOTAVAIL,
		.entry = {.op_context = call->context, .flags = kind_of(call->space) | FI_RECV}};
	struct weft_event seen;

	if (weft_peek(ep->weft, receive, &seen) == 0) {
		ssize_t result = call->flags & FI_CLAIM ? take_for_claim(ep, call, &seen) : 0;

		if (result < 0)
			return result;
		completion.entry.len = seen.bytes;
		completion.entry.data = seen.data;
		completion.entry.tag = seen.tag;
		completion.entry.flags |= seen.has_data ? FI_REMOTE_CQ_DATA : 0;
		completion.from = weft_fi_av_find(ep->av, &seen.from);
	} else {
		completion.error = FI_ENOMSG;
	}
	return weft_fi_complete(ep->cq[SIDE_RECEIVE], &completion);
}

static ssize_t claim(struct weft_fi_ep *ep, const struct call *call)
{
	struct weft_fi_request *request = ep->active.next;

	while (request != &ep->active &&
		(!request->claim || request->claimed || request->context != call->context))
		request = request->next;
	if (request == &ep->active)
		return -FI_EINVAL;
	request->claimed = true;
	request->buffer = (void *)call->buffer;
	request->bytes = call->bytes;
	if (request->arrived)
		end_claim(ep, request);
	return 0;
}

static ssize_t receive_locked(struct weft_fi_ep *ep, const struct call *call)
{
	bool directed = ep->directed && call->peer != FI_ADDR_UNSPEC;
	struct weft_receive receive = {.tag = call->tag,
		.mask = ~call->ignore,
		.space = (uint8_t)call->space,
		.buffer = (void *)call->buffer,
		.bytes = call->bytes};
	struct weft_fi_request *request;
	int result;

	if (directed && call->peer >= ep->av->count)
		return -FI_EINVAL;
	receive.from = directed ? &ep->av->address[call->peer] : NULL;
	if (call->flags & FI_PEEK)
		return peek(ep, call, &receive);
	if (call->flags & FI_CLAIM)
		return claim(ep, call);
	request = get_request(ep, call);
	if (request == NULL)
		return -FI_ENOMEM;
	request->quiet = is_quiet(ep, SIDE_RECEIVE, call->flags);
	receive.context = request;
	result = weft_post_recv(ep->weft, &receive);
	if (result < 0)
		put_request(ep, request);
	return result;
}

static ssize_t do_receive(struct fid_ep *fid, const struct call *call)
{
	struct weft_fi_ep *ep = (void *)fid;
	ssize_t result;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if ((call->flags & (FI_DISCARD | FI_MULTI_RECV)) ||
		((call->flags & FI_PEEK) && ep->cq[SIDE_RECEIVE] == NULL))
		return -FI_ENOSYS;
	pthread_mutex_lock(&ep->domain->lock);
	result = receive_locked(ep, call);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

static uint64_t tx_flags(struct fid_ep *fid)
{
	return ((struct weft_fi_ep *)fid)->tx_flags;
}

static uint64_t rx_flags(struct fid_ep *fid)
{
	return ((struct weft_fi_ep *)fid)->rx_flags;
}

static const void *base_of(const struct iovec *iov, size_t count)
{
	return count > 0 ? iov->iov_base : NULL;
}

static size_t bytes_of(const struct iovec *iov, size_t count)
{
	return count > 0 ? iov->iov_len : 0;
}

/* --- messages without tags --- */

static ssize_t msg_recv(
	struct fid_ep *ep, void *buffer, size_t bytes, void *desc, fi_addr_t from, void *context)
{
	return do_receive(ep, &(struct call){buffer, bytes, from, 0, UINT64_MAX, 0, context,
				      rx_flags(ep), SPACE_MESSAGE});
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t from, void *context)
{
	return parts > 1 ? -FI_EINVAL
			 : msg_recv(ep, (void *)base_of(iov, parts), bytes_of(iov, parts), NULL,
				   from, context);
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return do_receive(ep, &(struct call){base_of(msg->msg_iov, msg->iov_count),
				      bytes_of(msg->msg_iov, msg->iov_count), msg->addr, 0,
				      UINT64_MAX, 0, msg->context, flags, SPACE_MESSAGE});
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	uint64_t data, fi_addr_t to, void *context)
{
	return do_send(ep, &(struct call){buffer, bytes, to, 0, 0, data, context,
				   tx_flags(ep) | FI_REMOTE_CQ_DATA, SPACE_MESSAGE});
}

static ssize_t msg_send(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	fi_addr_t to, void *context)
{
	return do_send(ep,
		&(struct call){buffer, bytes, to, 0, 0, 0, context, tx_flags(ep), SPACE_MESSAGE});
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t to, void *context)
{
	return parts > 1
		       ? -FI_EINVAL
		       : msg_send(ep, base_of(iov, parts), bytes_of(iov, parts), NULL, to, context);
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return do_send(ep, &(struct call){base_of(msg->msg_iov, msg->iov_count),
				   bytes_of(msg->msg_iov, msg->iov_count), msg->addr, 0, 0,
				   msg->data, msg->context, flags, SPACE_MESSAGE});
}

/* An injected message has no completion. */
static ssize_t do_inject(struct fid_ep *ep, struct call call)
{
	call.flags |= FI_INJECT;
	call.quiet = true;
	return do_send(ep, &call);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buffer, size_t bytes, fi_addr_t to)
{
	return do_inject(ep, (struct call){buffer, bytes, to, 0, 0, 0, NULL, 0, SPACE_MESSAGE});
}

static ssize_t msg_injectdata(
	struct fid_ep *ep, const void *buffer, size_t bytes, uint64_t data, fi_addr_t to)
{
	return do_inject(ep, (struct call){buffer, bytes, to, 0, 0, data, NULL, FI_REMOTE_CQ_DATA,
				     SPACE_MESSAGE});
}

static struct fi_ops_msg msg_ops = {.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata};

/* --- messages with tags --- */

static ssize_t tag_recv(struct fid_ep *ep, void *buffer, size_t bytes, void *desc, fi_addr_t from,
	uint64_t tag, uint64_t ignore, void *context)
{
	return do_receive(ep, &(struct call){buffer, bytes, from, tag, ignore, 0, context,
				      rx_flags(ep), SPACE_TAGGED});
}

static ssize_t tag_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
	return parts > 1 ? -FI_EINVAL
			 : tag_recv(ep, (void *)base_of(iov, parts), bytes_of(iov, parts), NULL,
				   from, tag, ignore, context);
}

static ssize_t tag_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return do_receive(ep, &(struct call){base_of(msg->msg_iov, msg->iov_count),
				      bytes_of(msg->msg_iov, msg->iov_count), msg->addr, msg->tag,
				      msg->ignore, 0, msg->context, flags, SPACE_TAGGED});
}

static ssize_t tag_send(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	fi_addr_t to, uint64_t tag, void *context)
{
	return do_send(ep,
		&(struct call){buffer, bytes, to, tag, 0, 0, context, tx_flags(ep), SPACE_TAGGED});
}

static ssize_t tag_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t to, uint64_t tag, void *context)
{
	return parts > 1 ? -FI_EINVAL
			 : tag_send(ep, base_of(iov, parts), bytes_of(iov, parts), NULL, to, tag,
				   context);
}

static ssize_t tag_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	if (msg->iov_count > 1)
		return -FI_EINVAL;
	return do_send(ep, &(struct call){base_of(msg->msg_iov, msg->iov_count),
				   bytes_of(msg->msg_iov, msg->iov_count), msg->addr, msg->tag, 0,
				   msg->data, msg->context, flags, SPACE_TAGGED});
}

static ssize_t tag_senddata(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
	return do_send(ep, &(struct call){buffer, bytes, to, tag, 0, data, context,
				   tx_flags(ep) | FI_REMOTE_CQ_DATA, SPACE_TAGGED});
}

static ssize_t tag_inject(
	struct fid_ep *ep, const void *buffer, size_t bytes, fi_addr_t to, uint64_t tag)
{
	return do_inject(ep, (struct call){buffer, bytes, to, tag, 0, 0, NULL, 0, SPACE_TAGGED});
}

static ssize_t tag_injectdata(struct fid_ep *ep, const void *buffer, size_t bytes, uint64_t data,
	fi_addr_t to, uint64_t tag)
{
	return do_inject(ep, (struct call){buffer, bytes, to, tag, 0, data, NULL, FI_REMOTE_CQ_DATA,
				     SPACE_TAGGED});
}

static struct fi_ops_tagged tagged_ops = {.size = sizeof(struct fi_ops_tagged),
	.recv = tag_recv,
	.recvv = tag_recvv,
	.recvmsg = tag_recvmsg,
	.send = tag_send,
	.sendv = tag_sendv,
	.sendmsg = tag_sendmsg,
	.inject = tag_inject,
	.senddata = tag_senddata,
	.injectdata = tag_injectdata};

/* --- the endpoint itself --- */

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

static int no_get_option(fid_t fid, int level, int name, void *value, size_t *bytes)
{
	return -FI_ENOPROTOOPT;
}

static int no_set_option(fid_t fid, int level, int name, const void *value, size_t bytes)
{
	return -FI_ENOPROTOOPT;
}

static int no_tx_context(
	struct fid_ep *ep, int index, struct fi_tx_attr *attr, struct fid_ep **tx, void *context)
{
	return -FI_ENOSYS;
}

static int no_rx_context(
	struct fid_ep *ep, int index, struct fi_rx_attr *attr, struct fid_ep **rx, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

static struct fi_ops_ep ep_ops = {.size = sizeof(struct fi_ops_ep),
	.cancel = cancel,
	.getopt = no_get_option,
	.setopt = no_set_option,
	.tx_ctx = no_tx_context,
	.rx_ctx = no_rx_context,
	.rx_size_left = no_size_left,
	.tx_size_left = no_size_left};

static int no_set_name(fid_t fid, void *address, size_t bytes)
{
	return -FI_ENOSYS;
}

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

static int no_peer(struct fid_ep *ep, void *address, size_t *bytes)
{
	return -FI_ENOSYS;
}

static int no_connect(struct fid_ep *ep, const void *address, const void *param, size_t bytes)
{
	return -FI_ENOSYS;
}

static int no_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

static int no_accept(struct fid_ep *ep, const void *param, size_t bytes)
{
	return -FI_ENOSYS;
}

static int no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t bytes)
{
	return -FI_ENOSYS;
}

static int no_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int no_join(
	struct fid_ep *ep, const void *address, uint64_t flags, struct fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

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

static void leave(struct weft_fi_ep *ep, struct weft_fi_ep **chain, enum side side, bool queue)
{
	while (*chain != NULL && *chain != ep)
		chain = queue ? &(*chain)->next_cq[side] : &(*chain)->next_cntr[side];
	if (*chain != NULL)
		*chain = queue ? ep->next_cq[side] : ep->next_cntr[side];
}

static int close_ep(struct fid *fid)
{
	struct weft_fi_ep *ep = (void *)fid;

	pthread_mutex_lock(&ep->domain->lock);
	for (enum side side = SIDE_SEND; side <= SIDE_RECEIVE; side++) {
		if (ep->cq[side] != NULL)
			leave(ep, &ep->cq[side]->eps[side], side, true);
		if (ep->cntr[side] != NULL)
			leave(ep, &ep->cntr[side]->eps[side], side, false);
	}
	pthread_mutex_unlock(&ep->domain->lock);
	weft_close(ep->weft);
	while (ep->active.next != &ep->active)
		put_request(ep, ep->active.next);
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

	for (enum side side = SIDE_SEND; side <= SIDE_RECEIVE; side++) {
		if (!(flags & flag[side]))
			continue;
		if (ep->cq[side] != NULL)
			return -FI_EINVAL;
		ep->cq[side] = cq;
		ep->selective[side] = (flags & FI_SELECTIVE_COMPLETION) != 0;
		ep->next_cq[side] = cq->eps[side];
		cq->eps[side] = ep;
	}
	return weft_fi_cq_watch(cq, ep);
}

static int bind_cntr(struct weft_fi_ep *ep, struct weft_fi_cntr *cntr, uint64_t flags)
{
	static const uint64_t flag[] = {FI_SEND, FI_RECV};

	if (flags & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE))
		return -FI_ENOSYS;
	for (enum side side = SIDE_SEND; side <= SIDE_RECEIVE; side++) {
		if (!(flags & flag[side]))
			continue;
		ep->cntr[side] = cntr;
		ep->next_cntr[side] = cntr->eps[side];
		cntr->eps[side] = ep;
	}
	return 0;
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
	ep->active.next = ep->active.previous = &ep->active;
	ep->directed = (info->caps & FI_DIRECTED_RECV) != 0;
	ep->tx_flags = info->tx_attr != NULL ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr != NULL ? info->rx_attr->op_flags : 0;
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &ep_ops;
	ep->fid.cm = &cm_ops;
	ep->fid.msg = &msg_ops;
	ep->fid.tagged = &tagged_ops;
	*opened = &ep->fid;
	return 0;
}
