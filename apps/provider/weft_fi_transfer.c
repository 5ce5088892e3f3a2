/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>
#include <string.h>

#include "weft_fi.h"

/* Sends and receives, tagged and untagged. Both kinds use the same functions; separate spaces of
 * libweft distinguish them. */

/* --- requests --- */

static struct weft_fi_request *get_request(struct weft_fi_ep *ep, const struct weft_fi_call *call)
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

void weft_fi_put_request(struct weft_fi_ep *ep, struct weft_fi_request *request)
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

static uint64_t kind_of(enum weft_fi_space space)
{
	return space == SPACE_TAGGED ? FI_TAGGED : FI_MSG;
}

static void count(struct weft_fi_cntr *cntr, int error)
{
	if (cntr == NULL)
		return;
	if (error == 0)
		cntr->value++;
	else
		cntr->errors++;
	weft_fi_watch_wake(&cntr->watch);
}

static int post(
	struct weft_fi_ep *ep, struct weft_fi_request *request, struct weft_receive *receive)
{
	bool directed = ep->directed && request->peer != FI_ADDR_UNSPEC;

	receive->from = directed ? &ep->av->address[request->peer] : NULL;
	receive->buffer = request->buffer;
	receive->bytes = request->bytes;
	receive->context = request;
	return weft_post_recv(ep->weft, receive);
}

/* Posts the rest of a multi-message buffer for the next message. Returns false if the buffer has
 * ended. */
static bool goes_on(
	struct weft_fi_ep *ep, struct weft_fi_request *request, const struct weft_event *event)
{
	struct weft_receive receive = {.space = SPACE_MESSAGE};

	if (event->error != 0)
		return false;
	request->buffer = (uint8_t *)request->buffer + event->bytes;
	request->bytes -= event->bytes;
	return request->bytes >= ep->multi_bytes && post(ep, request, &receive) == 0;
}

static void complete_request(
	struct weft_fi_ep *ep, struct weft_fi_request *request, const struct weft_event *event)
{
	enum weft_fi_side side = event->kind == WEFT_SENT ? SIDE_SEND : SIDE_RECEIVE;
	struct weft_fi_completion completion = {.from = FI_ADDR_NOTAVAIL,
		.error = event->error == 0 ? 0 : error_of(event->error),
		.entry = {.op_context = request->context,
			.flags = kind_of(event->space) | (side == SIDE_SEND ? FI_SEND : FI_RECV),
			.len = event->bytes,
			.buf = request->buffer,
			.data = event->data,
			.tag = event->tag}};

	bool last = !request->multi;

	if (side == SIDE_RECEIVE && event->has_data)
		completion.entry.flags |= FI_REMOTE_CQ_DATA;
	if (side == SIDE_RECEIVE && event->error == 0)
		completion.from = weft_fi_av_find(ep->av, &event->from);
	if (event->bytes > request->bytes && side == SIDE_RECEIVE) {
		completion.entry.len = request->bytes;
		completion.olen = event->bytes - request->bytes;
	}
	if (request->multi && !goes_on(ep, request, event)) {
		completion.entry.flags |= FI_MULTI_RECV;
		last = true;
	}
	count(ep->cntr[side], completion.error);
	/* If the completion were lost for lack of memory, the program would wait forever. */
	if (ep->cq[side] != NULL &&
		(!request->quiet || completion.error != 0 || (request->multi && last)) &&
		weft_fi_complete(ep->cq[side], &completion) < 0)
		abort();
	if (last)
		weft_fi_put_request(ep, request);
}

/* Copies the claimed message from its temporary memory to the buffer of the call. */
static void end_claim(struct weft_fi_ep *ep, struct weft_fi_request *request)
{
	struct weft_event event = request->event;
	size_t bytes;

	if (request->discard) {
		request->bytes = event.bytes;
		event.error = event.error == -EMSGSIZE ? 0 : event.error;
	}
	bytes = request->discard ? 0 : event.bytes < request->bytes ? event.bytes : request->bytes;
	if (event.error == 0 && bytes > 0)
		memcpy(request->buffer, request->own, bytes);
	if (event.error == 0 && event.bytes > request->bytes)
		event.error = -EMSGSIZE;
	complete_request(ep, request, &event);
}

int weft_fi_progress(struct weft_fi_ep *ep)
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
			if (request->claimed && request->quiet)
				weft_fi_put_request(ep, request);
			else if (request->claimed)
				end_claim(ep, request);
		}
	} while (events == 16);
	return events < 0 ? events : 0;
}

/* --- calls --- */

static bool is_quiet(const struct weft_fi_ep *ep, enum weft_fi_side side, uint64_t flags)
{
	return ep->selective[side] && !(flags & FI_COMPLETION);
}

static ssize_t send_locked(struct weft_fi_ep *ep, const struct weft_fi_call *call)
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
	message.flags = (call->flags & FI_INJECT ? WEFT_IMMEDIATE : 0) |
			(call->flags & FI_TRANSMIT_COMPLETE ? 0 : WEFT_EARLY);
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
		weft_fi_put_request(ep, request);
	return result == -EAGAIN ? -FI_EAGAIN : result;
}

ssize_t weft_fi_send(struct fid_ep *fid, const struct weft_fi_call *call)
{
	struct weft_fi_ep *ep = (void *)fid;
	ssize_t result;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (call->flags & ~WEFT_FI_SEND_FLAGS)
		return -FI_EBADFLAGS;
	if (call->bytes > WEFT_FI_MESSAGE_MAX ||
		((call->flags & FI_INJECT) && call->bytes > WEFT_FI_INJECT_BYTES))
		return -FI_EMSGSIZE;
	pthread_mutex_lock(&ep->domain->lock);
	result = send_locked(ep, call);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}

/* Receives the peeked message into temporary memory, for the call that will claim it. */
static ssize_t take_for_claim(
	struct weft_fi_ep *ep, const struct weft_fi_call *call, const struct weft_event *seen)
{
	struct weft_fi_request *request = get_request(ep, call);
	struct weft_receive receive = {.from = &seen->from,
		.tag = seen->tag,
		.mask = UINT64_MAX,
		.space = (uint8_t)call->space,
		.bytes = call->flags & FI_DISCARD ? 0 : seen->bytes,
		.context = request};
	int result;

	if (request == NULL)
		return -FI_ENOMEM;
	request->claim = true;
	request->claimed = request->quiet = (call->flags & FI_DISCARD) != 0;
	/* The peer determines the length; SIZE_MAX + 1 would wrap to 0. */
	request->own = receive.bytes < SIZE_MAX ? malloc(receive.bytes + 1) : NULL;
	receive.buffer = request->own;
	result = request->own != NULL ? weft_post_recv(ep->weft, &receive) : -ENOMEM;
	if (result < 0)
		weft_fi_put_request(ep, request);
	return result;
}

/* A peek always results in a completion: a message or FI_ENOMSG. */
static ssize_t peek(
	struct weft_fi_ep *ep, const struct weft_fi_call *call, const struct weft_receive *receive)
{
	struct weft_fi_completion completion = {.from = FI_ADDR_NOTAVAIL,
		.entry = {.op_context = call->context, .flags = kind_of(call->space) | FI_RECV}};
	struct weft_event seen;

	if (weft_peek(ep->weft, receive, &seen) == 0) {
		ssize_t result =
			call->flags & (FI_CLAIM | FI_DISCARD) ? take_for_claim(ep, call, &seen) : 0;

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

static ssize_t claim(struct weft_fi_ep *ep, const struct weft_fi_call *call)
{
	struct weft_fi_request *request = ep->active.next;

	while (request != &ep->active &&
		(!request->claim || request->claimed || request->context != call->context))
		request = request->next;
	if (request == &ep->active)
		return -FI_EINVAL;
	request->claimed = true;
	request->discard = (call->flags & FI_DISCARD) != 0;
	request->buffer = (void *)call->buffer;
	request->bytes = call->bytes;
	if (request->arrived)
		end_claim(ep, request);
	return 0;
}

static ssize_t receive_locked(struct weft_fi_ep *ep, const struct weft_fi_call *call)
{
	bool directed = ep->directed && call->peer != FI_ADDR_UNSPEC;
	struct weft_receive receive = {
		.tag = call->tag, .mask = ~call->ignore, .space = (uint8_t)call->space};
	struct weft_fi_request *request;
	int result;

	if (directed && call->peer >= ep->av->count)
		return -FI_EINVAL;
	receive.from = directed ? &ep->av->address[call->peer] : NULL; /* used for FI_PEEK */
	if (call->flags & FI_PEEK)
		return peek(ep, call, &receive);
	if (call->flags & FI_CLAIM)
		return claim(ep, call);
	request = get_request(ep, call);
	if (request == NULL)
		return -FI_ENOMEM;
	request->quiet = is_quiet(ep, SIDE_RECEIVE, call->flags);
	request->multi = (call->flags & FI_MULTI_RECV) && call->space == SPACE_MESSAGE;
	request->peer = call->peer;
	result = post(ep, request, &receive);
	if (result < 0)
		weft_fi_put_request(ep, request);
	return result;
}

ssize_t weft_fi_receive(struct fid_ep *fid, const struct weft_fi_call *call)
{
	struct weft_fi_ep *ep = (void *)fid;
	ssize_t result;

	if (!ep->enabled)
		return -FI_EOPBADSTATE;
	if (call->flags & ~WEFT_FI_RECEIVE_FLAGS)
		return -FI_EBADFLAGS;
	if ((call->flags & FI_PEEK) && ep->cq[SIDE_RECEIVE] == NULL)
		return -FI_ENOSYS;
	if ((call->flags & FI_DISCARD) && !(call->flags & (FI_PEEK | FI_CLAIM)))
		return -FI_EINVAL;
	pthread_mutex_lock(&ep->domain->lock);
	result = receive_locked(ep, call);
	pthread_mutex_unlock(&ep->domain->lock);
	return result;
}
