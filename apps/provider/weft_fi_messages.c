/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_fi.h"

/* libfabric's send and receive calls, converted to the most general form. */

static uint64_t tx_flags(struct fid_ep *fid)
{
	return ((struct weft_fi_ep *)fid)->tx_flags;
}

static uint64_t rx_flags(struct fid_ep *fid)
{
	return ((struct weft_fi_ep *)fid)->rx_flags;
}

/* Returns false if the message has more than one part (iov_limit). */
static bool set_buffer(struct weft_fi_call *call, const struct iovec *iov, size_t parts)
{
	call->buffer = parts > 0 ? iov->iov_base : NULL;
	call->bytes = parts > 0 ? iov->iov_len : 0;
	return parts <= 1;
}

static ssize_t receive(
	struct fid_ep *ep, const struct iovec *iov, size_t parts, struct weft_fi_call call)
{
	return set_buffer(&call, iov, parts) ? weft_fi_receive(ep, &call) : -FI_EINVAL;
}

static ssize_t transmit(
	struct fid_ep *ep, const struct iovec *iov, size_t parts, struct weft_fi_call call)
{
	return set_buffer(&call, iov, parts) ? weft_fi_send(ep, &call) : -FI_EINVAL;
}

/* --- messages without tags --- */

static ssize_t msg_recv(
	struct fid_ep *ep, void *buffer, size_t bytes, void *desc, fi_addr_t from, void *context)
{
	return weft_fi_receive(ep, &(struct weft_fi_call){buffer, bytes, from, 0, UINT64_MAX, 0,
					   context, rx_flags(ep), SPACE_MESSAGE});
}

static ssize_t msg_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t from, void *context)
{
	return receive(ep, iov, parts,
		(struct weft_fi_call){
			NULL, 0, from, 0, UINT64_MAX, 0, context, rx_flags(ep), SPACE_MESSAGE});
}

static ssize_t msg_recvmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return receive(ep, msg->msg_iov, msg->iov_count,
		(struct weft_fi_call){
			NULL, 0, msg->addr, 0, UINT64_MAX, 0, msg->context, flags, SPACE_MESSAGE});
}

static ssize_t msg_senddata(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	uint64_t data, fi_addr_t to, void *context)
{
	return weft_fi_send(ep, &(struct weft_fi_call){buffer, bytes, to, 0, 0, data, context,
					tx_flags(ep) | FI_REMOTE_CQ_DATA, SPACE_MESSAGE});
}

static ssize_t msg_send(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	fi_addr_t to, void *context)
{
	return weft_fi_send(ep, &(struct weft_fi_call){buffer, bytes, to, 0, 0, 0, context,
					tx_flags(ep), SPACE_MESSAGE});
}

static ssize_t msg_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t to, void *context)
{
	return transmit(ep, iov, parts,
		(struct weft_fi_call){NULL, 0, to, 0, 0, 0, context, tx_flags(ep), SPACE_MESSAGE});
}

static ssize_t msg_sendmsg(struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
{
	return transmit(ep, msg->msg_iov, msg->iov_count,
		(struct weft_fi_call){
			NULL, 0, msg->addr, 0, 0, msg->data, msg->context, flags, SPACE_MESSAGE});
}

/* Sends an injected message, which has no completion. */
static ssize_t do_inject(struct fid_ep *ep, struct weft_fi_call call)
{
	call.flags |= FI_INJECT;
	call.quiet = true;
	return weft_fi_send(ep, &call);
}

static ssize_t msg_inject(struct fid_ep *ep, const void *buffer, size_t bytes, fi_addr_t to)
{
	return do_inject(
		ep, (struct weft_fi_call){buffer, bytes, to, 0, 0, 0, NULL, 0, SPACE_MESSAGE});
}

static ssize_t msg_injectdata(
	struct fid_ep *ep, const void *buffer, size_t bytes, uint64_t data, fi_addr_t to)
{
	return do_inject(ep, (struct weft_fi_call){buffer, bytes, to, 0, 0, data, NULL,
				     FI_REMOTE_CQ_DATA, SPACE_MESSAGE});
}

struct fi_ops_msg weft_fi_msg_ops = {.size = sizeof(struct fi_ops_msg),
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
	return weft_fi_receive(ep, &(struct weft_fi_call){buffer, bytes, from, tag, ignore, 0,
					   context, rx_flags(ep), SPACE_TAGGED});
}

static ssize_t tag_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
	return receive(ep, iov, parts,
		(struct weft_fi_call){
			NULL, 0, from, tag, ignore, 0, context, rx_flags(ep), SPACE_TAGGED});
}

static ssize_t tag_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return receive(ep, msg->msg_iov, msg->iov_count,
		(struct weft_fi_call){NULL, 0, msg->addr, msg->tag, msg->ignore, 0, msg->context,
			flags, SPACE_TAGGED});
}

static ssize_t tag_send(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	fi_addr_t to, uint64_t tag, void *context)
{
	return weft_fi_send(ep, &(struct weft_fi_call){buffer, bytes, to, tag, 0, 0, context,
					tx_flags(ep), SPACE_TAGGED});
}

static ssize_t tag_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc, size_t parts,
	fi_addr_t to, uint64_t tag, void *context)
{
	return transmit(ep, iov, parts,
		(struct weft_fi_call){NULL, 0, to, tag, 0, 0, context, tx_flags(ep), SPACE_TAGGED});
}

static ssize_t tag_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
{
	return transmit(ep, msg->msg_iov, msg->iov_count,
		(struct weft_fi_call){NULL, 0, msg->addr, msg->tag, 0, msg->data, msg->context,
			flags, SPACE_TAGGED});
}

static ssize_t tag_senddata(struct fid_ep *ep, const void *buffer, size_t bytes, void *desc,
	uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
	return weft_fi_send(ep, &(struct weft_fi_call){buffer, bytes, to, tag, 0, data, context,
					tx_flags(ep) | FI_REMOTE_CQ_DATA, SPACE_TAGGED});
}

static ssize_t tag_inject(
	struct fid_ep *ep, const void *buffer, size_t bytes, fi_addr_t to, uint64_t tag)
{
	return do_inject(
		ep, (struct weft_fi_call){buffer, bytes, to, tag, 0, 0, NULL, 0, SPACE_TAGGED});
}

static ssize_t tag_injectdata(struct fid_ep *ep, const void *buffer, size_t bytes, uint64_t data,
	fi_addr_t to, uint64_t tag)
{
	return do_inject(ep, (struct weft_fi_call){buffer, bytes, to, tag, 0, data, NULL,
				     FI_REMOTE_CQ_DATA, SPACE_TAGGED});
}

struct fi_ops_tagged weft_fi_tagged_ops = {.size = sizeof(struct fi_ops_tagged),
	.recv = tag_recv,
	.recvv = tag_recvv,
	.recvmsg = tag_recvmsg,
	.send = tag_send,
	.sendv = tag_sendv,
	.sendmsg = tag_sendmsg,
	.inject = tag_inject,
	.senddata = tag_senddata,
	.injectdata = tag_injectdata};
