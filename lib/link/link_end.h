/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* One end of a link: credits of all VCs in both directions, sessions, hello, up and down. Sessions
 * are Weft's own addition: a process may restart while its neighbour keeps running. Every switch
 * port and every interface contains one of these objects.
 *
 * The caller passes decoded control frames and the time, and builds and sends the control frames
 * that are due. No clock, no allocation after link_end_init(). One thread.
 *
 * Where the device reports its carrier, link_end_set_dark() detects a pulled cable without waiting
 * for missed hellos.
 *
 * An end whose peer does not implement Weft's credits (a traffic generator, a capture file) can be
 * 'open': the far end counts as a sink that is always empty and as a source that is granted the
 * whole buffer at each poll. Every check still applies; only the totals are renewed here.
 *
 * Where control frames have tags (link_seal.h), a hello recorded before the neighbour restarted is
 * genuine, so a hello alone proves nothing. Such an end is 'proving': it adopts another session of
 * its neighbour only from a hello that names this end's session and its generation, a number that
 * rises with each session that it adopts. A hello that repeats them was sent after the last
 * adoption. Before the first adoption the end announces the session that it received, so that the
 * neighbour can prove itself. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "credit.h"
#include "wire/control.h"

/* A link goes down after this many missed hellos, that is, after a silence longer than
 * LINK_HELLOS_MISSED * hello_ps. At most one hello interval between two polls counts as silence:
 * for the rest of the time this end was not polled, and hellos may have arrived that wait unread
 * behind other frames. An end that is polled at least once per hello interval therefore detects a
 * dead neighbour at its first poll after three intervals; an end that is polled at a longer
 * interval G, at its fourth poll after the last frame; and any end whose polls are at most G apart,
 * within four times the longer of G and hello_ps. */
#define LINK_HELLOS_MISSED 3

struct link_end_config {
	uint64_t device; /* identity sent in hellos */
	uint8_t port;
	uint8_t device_kind;  /* 0 switch, 1 interface */
	uint8_t vcs;          /* 1..FRAME_VCS_MAX */
	bool open;            /* peer without credits */
	bool proving;         /* see above */
	bool each;            /* grant any free block at each poll */
	uint32_t vc_blocks;   /* buffer of each VC, blocks */
	uint32_t session;     /* nonzero, different in each run of the device */
	weft_time hello_ps;   /* hello interval; down after LINK_HELLOS_MISSED of them */
	weft_time refresh_ps; /* maximum time between credit frames */
};

enum link_end_state { LINK_WAITING, LINK_UP, LINK_DOWN };

struct link_end {
	struct credit_tx tx[FRAME_VCS_MAX];
	uint64_t peer_device; /* belongs to switch_port; stored here for the cache-line layout */
	struct credit_rx rx[FRAME_VCS_MAX];
	struct link_end_config config;
	enum link_end_state state;
	uint32_t peer_session;
	uint8_t peer_port, peer_kind;
	bool known;         /* the neighbour has confirmed this session; until then nothing is
			     * granted */
	bool credit_wanted; /* a credit frame is urgent: new session, or stale limit */
	bool dark;          /* link_end_set_dark() */
	weft_time heard_at; /* time of the last frame, moved forward by time in which this end was
			     * not polled */
	weft_time polled_at;
	weft_time hello_due, credit_due;
	uint64_t credit_frames_sent, credit_frames_received, blocks_healed, sessions_seen;
	uint64_t downs;         /* number of times it went down after being up */
	uint32_t other_formats; /* hellos of a neighbour whose build has other formats */
	/* Proving ends only. */
	uint32_t generation;      /* sessions that it has adopted */
	uint32_t peer_generation; /* generation of the session that the peer announced last */
	uint32_t announced;       /* session received from the peer while none is adopted yet; 0:
				   * none */
};

/* The verdict of a proving end on a hello. */
enum link_hello {
	LINK_HELLO_KNOWN,    /* from the session that this end has adopted */
	LINK_HELLO_PROVEN,   /* from another session, which may be adopted */
	LINK_HELLO_UNPROVEN, /* perhaps recorded long ago */
};

/* Classifies a hello whose tag was correct. */
enum link_hello link_end_judge_hello(const struct link_end *end, const struct control_hello *hello);

/* Result of link_end_poll(), a set. */
#define LINK_SEND_HELLO  0x1
#define LINK_SEND_CREDIT 0x2
#define LINK_WENT_DOWN   0x4

void link_end_init(struct link_end *end, const struct link_end_config *config, weft_time now);

/* Call once per loop. Grants are sent when they reach a quarter of a VC's buffer, or an eighth if
 * the sender has less than that left, and at each refresh; with 'each', also for a single free
 * block. */
unsigned link_end_poll(struct link_end *end, weft_time now);

/* The device has lost or regained its carrier. Without carrier a link goes down at its next poll; a
 * regained one sends a hello at once. */
void link_end_set_dark(struct link_end *end, bool dark, weft_time now);

/* The neighbour is known not to be scheduled, for example because it is a loop of this process that
 * has no CPU: at most one hello interval of its silence so far counts. */
void link_end_forgive_stall(struct link_end *end, weft_time now);

/* Fills the control frame that link_end_poll() requested and records it as sent. Data frames sent
 * before this call must leave before this frame, later ones after it: the totals count exactly the
 * earlier ones. */
void link_end_fill_credit(struct link_end *end, struct control_credit *credit, weft_time now);
void link_end_fill_hello(struct link_end *end, struct control_hello *hello, weft_time now);

/* Each returns true if the transmitter may send more than before (new limit, link up). */
bool link_end_on_credit(struct link_end *end, const struct control_credit *credit, weft_time now);
bool link_end_on_hello(struct link_end *end, const struct control_hello *hello, weft_time now);

/* True if the limits in this frame are valid: it is for this end's session and number of VCs. */
static inline bool link_end_accepts(const struct link_end *end, const struct control_credit *credit)
{
	return !end->config.open && credit->vcs == end->config.vcs &&
	       credit->peer_session == end->config.session;
}

/* Open ends only: renews the totals of both directions. */
void link_end_renew_open(struct link_end *end);
