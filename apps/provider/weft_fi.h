/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The libfabric provider "weft". With it, programs that use libfabric, and Open MPI with its mtl
 * ofi, use endpoints of a lab without changes. It translates calls to libweft (weft_client.h). Its
 * attributes state what it supports: reliable datagrams with messages and tags. A lock in the
 * domain makes it thread-safe. Data moves when a queue or counter is read (FI_PROGRESS_MANUAL). */

#include <pthread.h>
#include <stdbool.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "host/weft_client.h"

#define WEFT_FI_TX_CAPS (FI_MSG | FI_TAGGED | FI_SEND)
#define WEFT_FI_RX_CAPS \
	(FI_MSG | FI_TAGGED | FI_RECV | FI_SOURCE | FI_DIRECTED_RECV | FI_MULTI_RECV)
#define WEFT_FI_DOMAIN_CAPS  (FI_LOCAL_COMM | FI_REMOTE_COMM)
#define WEFT_FI_CAPS         (WEFT_FI_TX_CAPS | WEFT_FI_RX_CAPS | WEFT_FI_DOMAIN_CAPS)
#define WEFT_FI_MULTI_BYTES  256 /* default of FI_OPT_MIN_MULTI_RECV */
#define WEFT_FI_INJECT_BYTES 256 /* below weft_eager_bytes() in every lab */
#define WEFT_FI_CONTEXTS     65536
#define WEFT_FI_MESSAGE_MAX  (UINT64_C(1) << 32)

/* Call flags that are supported or are only hints. All others are refused. */
#define WEFT_FI_SEND_FLAGS                                                                 \
	(FI_COMPLETION | FI_INJECT | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_MORE | \
		FI_REMOTE_CQ_DATA)
#define WEFT_FI_RECEIVE_FLAGS \
	(FI_COMPLETION | FI_MULTI_RECV | FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MORE)

enum weft_fi_space { SPACE_MESSAGE, SPACE_TAGGED };
enum weft_fi_side { SIDE_SEND, SIDE_RECEIVE };

struct weft_fi_domain {
	struct fid_domain fid;
	pthread_mutex_t lock;
	enum fi_av_type av_type;
};

struct weft_fi_av {
	struct fid_av fid;
	struct weft_fi_domain *domain;
	struct weft_address *address; /* indexed by fi_addr_t, for both types of table */
	size_t count, room;
};

/* An entry of a completion queue. */
struct weft_fi_completion {
	struct fi_cq_tagged_entry entry;
	fi_addr_t from;
	int error;   /* positive error code; 0: none */
	size_t olen; /* bytes that did not fit into the buffer */
};

/* The endpoints of a queue or counter. A caller can sleep until they have events. */
struct weft_fi_watch {
	struct weft_fi_domain *domain;
	struct weft_fi_ep *eps[2]; /* lists: senders, receivers */
	unsigned kind;             /* WATCH_QUEUE or WATCH_COUNTER */
	int poll;                  /* epoll descriptor; -1: no wait object */
	int bell;                  /* eventfd in 'poll', for events that another thread handled */
	bool armed, signalled;     /* signalled: fi_cq_signal() was called */
};
enum { WATCH_QUEUE, WATCH_COUNTER };

struct weft_fi_cq {
	struct fid_cq fid;
	struct weft_fi_watch watch;
	enum fi_cq_format format;
	struct weft_fi_completion *ring;
	size_t head, count, room; /* room: a power of two */
};

struct weft_fi_cntr {
	struct fid_cntr fid;
	struct weft_fi_watch watch;
	uint64_t value, errors;
};

/* A pending operation. */
struct weft_fi_request {
	struct weft_fi_request *next, *previous;
	void *context, *buffer;
	uint64_t flags; /* reported with the completion */
	size_t bytes;
	bool quiet;   /* no completion unless there is an error */
	bool claim;   /* receives into 'own' until a call claims the message */
	bool discard; /* the claiming call discards the data */
	bool multi;   /* the buffer is for several messages */
	fi_addr_t peer;
	bool arrived, claimed;
	uint8_t *own;
	struct weft_event event; /* the message that has arrived but is not claimed */
};

/* A call in the most general form. */
struct weft_fi_call {
	const void *buffer;
	size_t bytes;
	fi_addr_t peer;
	uint64_t tag, ignore, data;
	void *context;
	uint64_t flags;
	enum weft_fi_space space;
	bool quiet; /* no completion */
};

struct weft_fi_ep {
	struct fid_ep fid;
	struct weft_fi_domain *domain;
	struct weft *weft;
	struct weft_fi_av *av;
	struct weft_fi_cq *cq[2]; /* for sends, for receives */
	struct weft_fi_cntr *cntr[2];
	struct weft_fi_ep *next[2][2]; /* [kind of watch][side] */
	bool selective[2];
	bool enabled, directed; /* directed: receives specify their sender */
	uint64_t tx_flags, rx_flags;
	size_t multi_bytes; /* a multi-message buffer ends when less space than this is left */
	struct weft_fi_request active; /* head of a ring */
	struct weft_fi_request *spare;
};

int weft_fi_domain_open(
	struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain, void *context);
int weft_fi_eq_open(
	struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq, void *context);
int weft_fi_av_open(
	struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av, void *context);
int weft_fi_cq_open(
	struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
int weft_fi_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
	void *context);
int weft_fi_ep_open(
	struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context);

extern struct fi_ops_mr weft_fi_mr_ops;
extern struct fi_ops_msg weft_fi_msg_ops;
extern struct fi_ops_tagged weft_fi_tagged_ops;

ssize_t weft_fi_send(struct fid_ep *ep, const struct weft_fi_call *call);
ssize_t weft_fi_receive(struct fid_ep *ep, const struct weft_fi_call *call);
/* Call when the request has ended or could not be started. */
void weft_fi_put_request(struct weft_fi_ep *ep, struct weft_fi_request *request);
/* Moves data and completes finished operations. The caller must hold the domain's lock. Returns
 * -FI_ENETDOWN if the lab process that runs the host has ended. */
int weft_fi_progress(struct weft_fi_ep *ep);
/* Appends a completion. Returns 0 or -FI_ENOMEM. */
int weft_fi_complete(struct weft_fi_cq *cq, const struct weft_fi_completion *completion);
/* Returns FI_ADDR_NOTAVAIL if the address is not in the table. */
fi_addr_t weft_fi_av_find(const struct weft_fi_av *av, const struct weft_address *address);

/* Returns 0 or a negative libfabric error code. */
int weft_fi_watch_open(struct weft_fi_watch *watch, struct fid_domain *domain, unsigned kind,
	enum fi_wait_obj wait);
/* Returns -FI_EBUSY if endpoints still use the watch. */
int weft_fi_watch_close(struct weft_fi_watch *watch);
/* Handles FI_GETWAIT. */
int weft_fi_watch_control(struct weft_fi_watch *watch, int command, void *argument);

/* The caller of the following functions must hold the domain's lock. */
int weft_fi_watch_add(struct weft_fi_watch *watch, struct weft_fi_ep *ep, enum weft_fi_side side);
void weft_fi_watch_remove(
	struct weft_fi_watch *watch, const struct weft_fi_ep *ep, enum weft_fi_side side);
/* Moves data for all endpoints. Returns 0 or -FI_ENETDOWN. */
int weft_fi_watch_progress(struct weft_fi_watch *watch);
/* Prepares for sleeping. Returns false if there may already be events. */
bool weft_fi_watch_arm(struct weft_fi_watch *watch);
/* Call when there is an event. */
void weft_fi_watch_wake(struct weft_fi_watch *watch);
/* Returns a deadline in ms of now_ms(); INT64_MAX: none. */
int64_t weft_fi_deadline(int timeout_ms);
/* Sleeps with the lock released. Returns 0 if the caller should check again, -FI_ETIMEDOUT or
 * another error. */
int weft_fi_watch_sleep(struct weft_fi_watch *watch, int64_t deadline);

/* A call that the provider does not support but for which libfabric requires a function. */
#define NOT_SUPPORTED(type, name, ...)       \
	static inline type name(__VA_ARGS__) \
	{                                    \
		return -FI_ENOSYS;           \
	}

NOT_SUPPORTED(int, weft_fi_no_bind, struct fid *fid, struct fid *to, uint64_t flags)
NOT_SUPPORTED(int, weft_fi_no_control, struct fid *fid, int command, void *argument)
NOT_SUPPORTED(int, weft_fi_no_ops, struct fid *fid, const char *name, uint64_t flags, void **ops,
	void *context)
