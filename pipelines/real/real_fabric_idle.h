/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The loops of an idle fabric rest: they sleep until a TAP of theirs has something to read, another
 * loop or the control thread has something to do, or a command comes; and every 50 ms they run
 * once. Only the loops of a whole lab rest, because frames from other processes come without a
 * sign.
 *
 * No loop rests while a host of any of them is busy, since its frames may be under way anywhere,
 * nor while traffic is to be sent or routes are being made, nor shortly after a cable was cut. So
 * resting delays no message but by the time of waking up. Links do not fall: the time during which
 * an end does not poll is not silence (link_end.h), and after each rest the ends exchange their
 * hellos. */

#include "real_private.h"

/* Before the loops run and after they have ended. Without memory or descriptors no loop rests. */
void real_idle_open(struct real_fabric *fabric);
void real_idle_close(struct real_fabric *fabric);
/* In the leader's loop, each time that it leads. */
void real_idle_allow(struct real_fabric *fabric, bool allowed, weft_time now);
/* In the leader's loop: until it allows it again, no loop rests. */
void real_idle_forbid(struct real_fabric *fabric);
/* Likewise, for as long as links take to notice that a cable was cut. */
void real_idle_defer(struct real_fabric *fabric, weft_time now);
/* Any thread. */
bool real_idle_is_allowed(const struct real_fabric *fabric);
/* At the end of an iteration, in the worker's loop: rests if it may. False: it did not. */
bool real_idle(struct real_worker *worker, weft_time now);
/* Any thread: for how long the loop was away at most since the traffic began, the present absence
 * included; a rest is none. */
weft_time real_idle_away(const struct real_worker *worker, weft_time now);
/* Any thread: ends the rest of all loops. */
void real_idle_wake(struct real_fabric *fabric);
