/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages between programs on the hosts of a lab. They pass through the hosts' interfaces and the
 * emulated fabric, and bypass the kernel and TCP. Each message is delivered once, in order per pair
 * of endpoints. The manual is weft(3). Link with -lweft.
 *
 * A program attaches to an endpoint of a host, sends, posts receives, and collects events.
 * Operations make progress only inside these calls. A handle must not be used by several threads
 * at the same time. Errors are negative errno values:
 *     -ECONNRESET   the program at the other end has ended, or there is none
 *     -ETIMEDOUT    the other end did not answer within nic.give-up
 *     -ENETDOWN     the lab process that runs this host has ended
 *     -EPROTO       the message had fewer bytes than its sender announced
 *     -EMSGSIZE     the message was longer than the buffer, which contains its first bytes
 *     -ECANCELED    the receive was cancelled with weft_cancel()
 * All programs of a lab must have the same byte order. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct weft;

/* Address of an endpoint. 'life' is different for each program that attaches; 0 addresses whichever
 * program is attached. */
struct weft_address {
	uint16_t host, endpoint;
	uint32_t life;
};

enum weft_event_kind { WEFT_SENT, WEFT_RECEIVED };

struct weft_event {
	enum weft_event_kind kind;
	int error;      /* 0 or negative errno */
	void *context;  /* as given to the call that this event completes */
	uint64_t bytes; /* length of the message, which may exceed the buffer */
	uint64_t tag, data;
	uint8_t space;
	uint8_t has_data;         /* nonzero: the sender set 'data' */
	struct weft_address from; /* peer; for WEFT_RECEIVED, the sender */
};

/* Attaches to a free endpoint of 'host'; NULL: the host in $WEFT_HOST. 'weft lab exec' sets
 * $WEFT_HOST and $WEFT_LAB, the lab's run directory. Returns 0, -EDESTADDRREQ (no host is given, or
 * $WEFT_LAB is not set), -ENOENT (no such lab, host or endpoint) or -EBUSY (all endpoints of the
 * host are in use). */
int weft_open(const char *host, struct weft **weft);
/* Like weft_open(), but attaches to the given endpoint; -1: any. */
int weft_open_endpoint(const char *host, int endpoint, struct weft **weft);
/* Detaches and notifies the peers. The library no longer uses any buffers, and no events follow.
 * NULL is allowed. */
void weft_close(struct weft *weft);

/* Returns the address of this endpoint, to be passed to peers. */
struct weft_address weft_address(const struct weft *weft);
/* Sets *address to an endpoint of the named host. Returns 0 or -ENOENT. */
int weft_find(struct weft *weft, const char *host, unsigned endpoint, struct weft_address *address);
/* Copies a host's name. Returns 0, -ENOENT, or -ENAMETOOLONG if 'bytes' is too small. */
int weft_host_name(struct weft *weft, unsigned host, char *name, unsigned bytes);
/* Returns the maximum size of a message that is sent without asking the receiver first. */
uint64_t weft_eager_bytes(const struct weft *weft);

/* Sends 'bytes' bytes, up to 2^32. The buffer is in use until the WEFT_SENT event. Returns 0,
 * -EINVAL (no such host or endpoint, or no buffer), -ENETDOWN or -ENOMEM. */
int weft_send(struct weft *weft, const struct weft_address *to, uint64_t tag, const void *buffer,
	uint64_t bytes, void *context);
/* Receives a message whose tag equals 'tag' in the bits of 'mask'. 'from' NULL: from any sender.
 * Receives are matched in the order in which they were posted. Returns 0, -EINVAL (no buffer),
 * -ENETDOWN or -ENOMEM. */
int weft_recv(struct weft *weft, const struct weft_address *from, uint64_t tag, uint64_t mask,
	void *buffer, uint64_t bytes, void *context);
/* Cancels the receive with this context if no message has been matched to it. Its event has the
 * error -ECANCELED. Returns 0 or -ENOENT. */
int weft_cancel(struct weft *weft, void *context);

/* WEFT_EARLY changes the time of the event; WEFT_IMMEDIATE does not. */
#define WEFT_NO_EVENT  1u /* no event except for an error */
#define WEFT_EARLY     2u /* event as soon as the buffer is free; later errors are not reported */
#define WEFT_IMMEDIATE 4u /* buffer is free on return, or -EAGAIN; up to weft_eager_bytes() */

/* Like weft_send(), with all message properties. Messages match receives of the same space. */
struct weft_message {
	struct weft_address to;
	uint64_t tag, data;
	uint8_t space;
	uint8_t has_data; /* nonzero: passes 'data' to the receiver */
	unsigned flags;
	const void *buffer;
	uint64_t bytes;
	void *context;
};
int weft_post_send(struct weft *weft, const struct weft_message *message);

struct weft_receive {
	const struct weft_address *from; /* NULL: any */
	uint64_t tag, mask;
	uint8_t space;
	unsigned flags; /* WEFT_NO_EVENT */
	void *buffer;
	uint64_t bytes;
	void *context;
};
int weft_post_recv(struct weft *weft, const struct weft_receive *receive);
/* Fills 'event' for the first stored message that matches. Returns 0, -EAGAIN or -ENETDOWN. */
int weft_peek(struct weft *weft, const struct weft_receive *receive, struct weft_event *event);

/* Makes progress and stores up to 'max' events. Returns the number of events, or -ENETDOWN if there
 * are none and none will follow. */
int weft_poll(struct weft *weft, struct weft_event *events, int max);
/* Sleeps until there is an event, for at most 'timeout_ms' (-1: no limit). Returns 1 if there is an
 * event, 0 after the timeout, -EINTR after a signal, or -ENETDOWN if none will follow. */
int weft_wait(struct weft *weft, int timeout_ms);
/* Returns a descriptor that becomes readable when weft_poll() may find an event or an error. Call
 * weft_arm() first, which returns 1, or 0 if weft_poll() may already find one. */
int weft_fd(const struct weft *weft);
int weft_arm(struct weft *weft);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
