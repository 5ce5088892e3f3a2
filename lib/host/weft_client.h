/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Messages between programs on the hosts of a lab, through the interfaces of these hosts and the
 * emulated fabric, without the kernel and TCP. Each message is delivered once, and in order between
 * two endpoints. weft(3) is the manual. Link with -lweft.
 *
 * A program attaches to an endpoint of a host, sends and posts receives, and collects events.
 * Operations make progress only inside these calls. Only one thread at a time may use a handle.
 * Errors are negative errno values:
 *     -ECONNRESET   the program at the other end has ended, or there is none
 *     -ETIMEDOUT    the other end did not answer within nic.give-up
 *     -ENETDOWN     the lab process that runs this host has ended
 *     -EMSGSIZE     the message was longer than the buffer; the buffer holds its first bytes
 *     -ECANCELED    weft_cancel()
 * Programs of one lab have the same byte order. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct weft;

/* An endpoint of a lab. 'life' differs for each program that attaches; 0 addresses whichever
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
	uint64_t bytes; /* length of the message, even if the buffer was shorter */
	uint64_t tag, data;
	uint8_t space;
	uint8_t has_data;         /* the sender set 'data' */
	struct weft_address from; /* WEFT_RECEIVED */
};

/* Attaches to an endpoint of 'host'; NULL: the host in $WEFT_HOST. 'weft lab exec' sets this and
 * $WEFT_LAB, the lab's run directory. Fails with -EDESTADDRREQ: neither is given; -ENOENT: no such
 * lab, host or endpoint; -EBUSY: all endpoints of the host are in use. */
int weft_open(const char *host, struct weft **weft);
/* The same for one endpoint of the host; -1: any. */
int weft_open_endpoint(const char *host, int endpoint, struct weft **weft);
/* Detaches and notifies peers. Buffers belong to the caller again, and no events follow. NULL is
 * allowed. */
void weft_close(struct weft *weft);

/* The endpoint's own address, for its peers. */
struct weft_address weft_address(const struct weft *weft);
/* Finds the address of an endpoint by its host's name. Returns 0 or -ENOENT. */
int weft_find(struct weft *weft, const char *host, unsigned endpoint, struct weft_address *address);
/* The name of a host. Returns 0 or -ENOENT. */
int weft_host_name(struct weft *weft, unsigned host, char *name, unsigned bytes);
/* The longest message that is sent without asking the receiver first. */
uint64_t weft_eager_bytes(const struct weft *weft);

/* Sends 'bytes' bytes, up to 2^32. The buffer is in use until the event WEFT_SENT. Returns 0,
 * -EINVAL (no such host or endpoint, or no buffer), -ENETDOWN or -ENOMEM. */
int weft_send(struct weft *weft, const struct weft_address *to, uint64_t tag, const void *buffer,
	uint64_t bytes, void *context);
/* Receives a message whose tag equals 'tag' in the bits of 'mask', from this sender or, with NULL,
 * from any sender. Earlier receives are matched first. Returns 0, -EINVAL (no buffer), -ENETDOWN or
 * -ENOMEM. */
int weft_recv(struct weft *weft, const struct weft_address *from, uint64_t tag, uint64_t mask,
	void *buffer, uint64_t bytes, void *context);
/* Cancels the receive with this context if nothing has arrived for it. Its event has the error
 * -ECANCELED. Returns 0 or -ENOENT. */
int weft_cancel(struct weft *weft, void *context);

/* WEFT_IMMEDIATE does not change when the event comes; WEFT_EARLY does. */
#define WEFT_NO_EVENT  1u /* no event unless there is an error */
#define WEFT_EARLY     2u /* event as soon as the buffer is free; later errors have no event */
#define WEFT_IMMEDIATE 4u /* the buffer is free at once, or -EAGAIN; up to weft_eager_bytes() */

/* The same with all properties of a message. Messages match only receives of the same space. */
struct weft_message {
	struct weft_address to;
	uint64_t tag, data;
	uint8_t space;
	uint8_t has_data; /* passed to the receiver */
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
/* Fills 'event' for a message that would match, without receiving it. Returns 0 or -EAGAIN. */
int weft_peek(struct weft *weft, const struct weft_receive *receive, struct weft_event *event);

/* Moves data and fills up to 'max' events. Returns their number, 0 or more, or -ENETDOWN if there
 * is none and none will follow. */
int weft_poll(struct weft *weft, struct weft_event *events, int max);
/* Sleeps until there is an event, or for 'timeout_ms' (-1: no limit). Returns 1 if there is one, 0
 * after the timeout, -EINTR after a signal, or -ENETDOWN if none will follow. */
int weft_wait(struct weft *weft, int timeout_ms);
/* A descriptor that becomes readable when weft_poll() may find an event or an error, provided that
 * weft_arm() returned 1 before. weft_arm() returns 0 if weft_poll() may find one now. */
int weft_fd(const struct weft *weft);
int weft_arm(struct weft *weft);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
