/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * One end of a link: credits of all VCs in both directions, sessions, hello, up and down
 * (the session numbers are our own, because a process on the bench may restart while
 * its neighbour lives on). The same object sits in every switch port and in every interface.
 *
 * It is handed decoded control frames and the time, and says which control frames are due; who owns
 * it builds and sends them. No clock, no allocation after link_end_init(). One thread.
 *
 * A cable that was pulled need not be found by missing hellos where the device reports its carrier:
 * link_end_set_dark().
 *
 * An end whose peer does not speak Weft's credits (a traffic generator, a capture file) can be
 * 'open': the far end is taken for a sink that is always empty and a source that was granted the
 * whole buffer at each look. Every check is still made, only the totals are renewed here.
 */

#include <stdbool.h>
#include <stdint.h>

#include "control.h"
#include "credit.h"
#include "weft_time.h"

/*
 * A link is down when so many hellos have been missed, that is after a silence of more than
 * LINK_HELLOS_MISSED * hello_ps. Of the time between two polls at most one hello interval counts as
 * silence: the rest was this end's own absence, in which the neighbour's hellos may have come and
 * lie unread behind other frames. A neighbour that is dead is therefore found by
 *   an end that is polled at least once a hello interval: at its first poll after three of them;
 *   an end that is polled every G, longer than that: at its fourth poll after the last frame;
 *   any end whose polls are never more than G apart: within four times G or hello_ps, whichever is
 *   longer.
 */
#define LINK_HELLOS_MISSED 3

struct link_end_config {
	uint64_t device; /* identity sent in hellos */
	uint8_t port;
	uint8_t device_kind;  /* 0 switch, 1 interface */
	uint8_t vcs;          /* 1..FRAME_VCS_MAX */
	bool open;            /* peer without credits */
	uint32_t vc_blocks;   /* buffer of each VC, blocks */
	uint32_t session;     /* nonzero, different in each life of the device */
	weft_time hello_ps;   /* hello interval; LINK_HELLOS_MISSED missed: down */
	weft_time refresh_ps; /* a credit frame at least this often */
};

enum link_end_state { LINK_WAITING, LINK_UP, LINK_DOWN };

struct link_end {
	struct credit_tx tx[FRAME_VCS_MAX];
	uint64_t peer_device; /* here for the sake of lines: a switch_port's */
	struct credit_rx rx[FRAME_VCS_MAX];
	struct link_end_config config;
	enum link_end_state state;
	uint32_t peer_session;
	uint8_t peer_port, peer_kind;
	bool known;         /* the neighbour knows our session; before that nothing is granted */
	bool credit_wanted; /* something to tell at once: a new session, a limit gone stale */
	bool dark;          /* link_end_set_dark() */
	weft_time heard_at; /* or later, by the time that nobody listened */
	weft_time polled_at;
	weft_time hello_due, credit_due;
	uint64_t credit_frames_sent, credit_frames_received, blocks_healed, sessions_seen;
	uint64_t downs; /* how often it went down after it had been up */
};

/* What link_end_poll() found due; a set. */
#define LINK_SEND_HELLO  0x1
#define LINK_SEND_CREDIT 0x2
#define LINK_WENT_DOWN   0x4

void link_end_init(struct link_end *end, const struct link_end_config *config, weft_time now);

/* Once per loop. Grants are worth a frame when they reach a quarter of a VC's buffer, an eighth if
 * the sender has less than that left, or at each refresh. */
unsigned link_end_poll(struct link_end *end, weft_time now);

/* The device has lost its carrier, or has it again: a link without goes down at its next poll, and
 * one that has it again sends a hello at once. */
void link_end_set_dark(struct link_end *end, bool dark, weft_time now);

/* Fills the control frame that link_end_poll() asked for and notes that it is being sent. Frames of
 * data sent before this call must leave before this frame and later ones after it: the totals speak
 * of exactly those. */
void link_end_fill_credit(struct link_end *end, struct control_credit *credit, weft_time now);
void link_end_fill_hello(struct link_end *end, struct control_hello *hello, weft_time now);

/* Each returns true when the transmitter may have more to send than before (new limit, link up). */
bool link_end_on_credit(struct link_end *end, const struct control_credit *credit, weft_time now);
bool link_end_on_hello(struct link_end *end, const struct control_hello *hello, weft_time now);

/* Open ends only: renews both directions' totals. */
void link_end_renew_open(struct link_end *end);
