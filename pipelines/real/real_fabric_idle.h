/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The loops of an idle fabric sleep until one of their TAPs has something to read, a frame arrives
 * from another process, another loop or the control thread has work for them, or a command arrives.
 * They also run once every 50 ms, and in a process that has only part of a lab four times per hello
 * interval. Such a process sleeps only if it has a single loop and no ethdev, whose frames arrive
 * without a signal (port_sleep()).
 *
 * No loop sleeps while a host of any of them is busy, since its frames may be in flight anywhere,
 * while one of its switches holds data from another process, while traffic is due or routes are
 * being made, or shortly after a cable was cut. So sleeping delays messages only by the time that
 * it takes to wake up. Links do not go down: the time during which an end does not poll is not
 * silence (link_end.h), and after each sleep the ends exchange their hellos. */

#include "real_private.h"

/* Called before the loops run and after they ended. If memory or descriptors run out, no loop
 * sleeps. */
void real_idle_open(struct real_fabric *fabric);
void real_idle_close(struct real_fabric *fabric);
/* In the leader's loop, each time that it leads. */
void real_idle_allow(struct real_fabric *fabric, bool allowed, weft_time now);
/* In the leader's loop: forbids all loops to sleep until it allows it again. */
void real_idle_forbid(struct real_fabric *fabric);
/* Likewise, for the time that links need to notice that a cable was cut. */
void real_idle_defer(struct real_fabric *fabric, weft_time now);
/* Any thread. */
bool real_idle_is_allowed(const struct real_fabric *fabric);
/* At the end of an iteration, in the worker's loop: sleeps if it may. Returns false if it did
 * not. */
bool real_idle(struct real_worker *worker, weft_time now);
/* Any thread: the loop's longest stall since the traffic started, including the present one; sleep
 * does not count. */
weft_time real_idle_away(const struct real_worker *worker, weft_time now);
/* Any thread: wakes all loops. */
void real_idle_wake(struct real_fabric *fabric);
