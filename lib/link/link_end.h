/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One end of a link: credits of all VCs in both directions, sessions, hellos, and link state.
 * Sessions are Weft's own addition: a process may restart while its neighbour keeps running. Every
 * switch port and every interface contains one of these objects.
 *
 * The caller passes in decoded control frames and the time, and builds and sends the control
 * frames that are due. No clock, and no allocation after link_end_init(). Single-threaded.
 *
 * If the device reports its carrier, link_end_set_dark() detects a pulled cable without waiting for
 * missed hellos.
 *
 * An end whose peer does not implement Weft's credits (a traffic generator, a capture file) can be
 * 'open': the peer counts as a sink that is always empty and as a source that is granted the whole
 * buffer at each poll. All checks still apply; only the totals are renewed locally.
 *
 * If control frames have tags (link_seal.h), a recorded hello still has a valid tag after the
 * neighbour restarts, so a hello alone proves nothing. Such an end is 'proving': it adopts a new
 * session of its neighbour only from a hello that contains this end's session and generation, a
 * number that rises with each adopted session. A hello with these values was sent after the last
 * adoption. Before the first adoption, the end announces the session that it received, so that the
 * neighbour can prove itself. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "credit.h"
#include "wire/control.h"

/* A link goes down after a silence longer than LINK_HELLOS_MISSED * hello_ps. Between two polls, at
 * most one hello interval counts as silence, because hellos that arrived while this end was not
 * polled may still be queued behind other frames. An end that is polled at least once per hello
 * interval detects a dead neighbour at its first poll after three intervals. An end that is polled
 * at a longer interval G detects it at the fourth poll after the last frame. In general, if polls
 * are at most G apart, detection takes at most four times the longer of G and hello_ps. */
#define LINK_HELLOS_MISSED 3
/* How often an end is polled per hello interval while it is not up, for example by a loop that
 * sleeps. */
#define LINK_POLLS_PER_HELLO 4

struct link_end_config {
	uint64_t device; /* device identity sent in hellos */
	uint8_t port;
	uint8_t device_kind;  /* 0 switch, 1 interface */
	uint8_t vcs;          /* 1..FRAME_VCS_MAX */
	bool open;            /* peer without credits */
	bool proving;         /* control frames have tags (see above) */
	bool each;            /* grant any free block at each poll */
	uint32_t vc_blocks;   /* buffer size of each VC, in blocks */
	uint32_t session;     /* nonzero, different for each run of the device */
	weft_time hello_ps;   /* hello interval */
	weft_time refresh_ps; /* maximum time between credit frames */
};

enum link_end_state { LINK_WAITING, LINK_UP, LINK_DOWN };

struct link_end {
	struct credit_tx tx[FRAME_VCS_MAX];
	uint64_t peer_device; /* used by switch_port; stored here for the cache-line layout */
	struct credit_rx rx[FRAME_VCS_MAX];
	struct link_end_config config;
	enum link_end_state state;
	uint32_t peer_session;
	uint8_t peer_port, peer_kind;
	bool known;         /* the neighbour has confirmed this session; no grants before that */
	bool credit_wanted; /* a credit frame is urgent: new session, or stale limit */
	bool dark;          /* no carrier (link_end_set_dark()) */
	weft_time heard_at; /* time of the last frame, moved forward by the time without polls */
	weft_time polled_at;
	weft_time hello_due, credit_due;
	uint64_t credit_frames_sent, credit_frames_received, blocks_healed, sessions_seen;
	uint64_t downs;         /* number of transitions from up to down */
	uint32_t other_formats; /* hellos from a neighbour built with different formats */
	/* Used by proving ends only. */
	uint32_t generation;      /* number of sessions adopted */
	uint32_t peer_generation; /* generation in the peer's last hello */
	uint32_t announced;       /* peer session received before any is adopted; 0: none */
};

/* A proving end's verdict on a hello. */
enum link_hello {
	LINK_HELLO_KNOWN,    /* from the adopted session */
	LINK_HELLO_PROVEN,   /* from a different session, which may be adopted */
	LINK_HELLO_UNPROVEN, /* possibly an old recording */
};

/* Classifies a hello with a valid tag. */
enum link_hello link_end_judge_hello(const struct link_end *end, const struct control_hello *hello);

/* Bit set returned by link_end_poll(). */
#define LINK_SEND_HELLO  0x1
#define LINK_SEND_CREDIT 0x2
#define LINK_WENT_DOWN   0x4

void link_end_init(struct link_end *end, const struct link_end_config *config, weft_time now);

/* Call once per loop. A credit frame is due when a quarter of a VC's buffer can be granted, or an
 * eighth if the sender has less than that left, and at each refresh. With 'each', a single free
 * block suffices. */
unsigned link_end_poll(struct link_end *end, weft_time now);

/* Returns when an idle end must be polled again if no frame arrives: a hello is due, or the
 * neighbour has been silent for too long. Until both ends know each other's session, polls are a
 * quarter of a hello interval apart. Credit frames that only repeat a limit may wait. */
static inline weft_time link_end_due(const struct link_end *end)
{
	weft_time silent = end->heard_at + LINK_HELLOS_MISSED * end->config.hello_ps + 1;

	if (end->config.open)
		return WEFT_TIME_NEVER;
	if (end->state != LINK_UP || !end->known)
		return end->polled_at + end->config.hello_ps / LINK_POLLS_PER_HELLO;
	return end->hello_due < silent ? end->hello_due : silent;
}

/* Call when the device has lost or regained its carrier. Without a carrier, the link goes down at
 * the next poll. A regained carrier makes a hello due immediately. */
void link_end_set_dark(struct link_end *end, bool dark, weft_time now);

/* Call when the neighbour is known to be descheduled, for example because it is a loop of this
 * process without a CPU. At most one hello interval of its silence so far still counts. */
void link_end_forgive_stall(struct link_end *end, weft_time now);

/* Fills the control frame that link_end_poll() requested and records it as sent. Data frames sent
 * before this call must be transmitted before this frame, and later ones after it, because the
 * totals cover exactly the earlier ones. */
void link_end_fill_credit(struct link_end *end, struct control_credit *credit, weft_time now);
void link_end_fill_hello(struct link_end *end, struct control_hello *hello, weft_time now);

/* Return true if the transmitter may send more than before (new limit, or link up). */
bool link_end_on_credit(struct link_end *end, const struct control_credit *credit, weft_time now);
bool link_end_on_hello(struct link_end *end, const struct control_hello *hello, weft_time now);

/* Returns true if the limits are valid: the frame has this end's session and number of VCs. */
static inline bool link_end_accepts(const struct link_end *end, const struct control_credit *credit)
{
	return !end->config.open && credit->vcs == end->config.vcs &&
	       credit->peer_session == end->config.session;
}

/* Renews the totals of both directions. For open ends only. */
void link_end_renew_open(struct link_end *end);
