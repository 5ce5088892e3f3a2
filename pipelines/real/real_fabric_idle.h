/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The loops of an idle fabric sleep until a TAP is readable, a frame arrives from a different
 * process, a loop or the control thread has work for them, or a command arrives. They also wake up
 * every 50 ms. In a process with only part of a lab, they wake up once per hello interval, or four
 * times while a link is down and for some intervals after data. Such a process sleeps only if it
 * has a single loop and no ethdev, whose frames arrive without a signal
 * (port_sleep()).
 *
 * No loop sleeps in these cases: a host of any loop is busy, since its frames may be in flight
 * anywhere; one of its switches holds data from a different process; traffic is due; routes are
 * being computed; a cable was cut recently. Sleeping therefore delays messages only by the wake-up
 * time. Links do not go down, because time during which an end does not poll does not count as
 * silence (link_end.h), and the ends exchange hellos after each sleep. */

#include "real_private.h"

/* Call before the loops run and after they end. If out of memory or descriptors, no loop sleeps. */
void real_idle_open(struct real_fabric *fabric);
void real_idle_close(struct real_fabric *fabric);
/* Allows or forbids sleep. For the leader, each time that it leads. */
void real_idle_allow(struct real_fabric *fabric, bool allowed, weft_time now);
/* Forbids all loops to sleep until the leader allows it again. For the leader. */
void real_idle_forbid(struct real_fabric *fabric);
/* Like real_idle_forbid(), for the time that links need to detect a cut cable. */
void real_idle_defer(struct real_fabric *fabric, weft_time now);
/* Any thread. */
bool real_idle_is_allowed(const struct real_fabric *fabric);
/* Sleeps if allowed. Returns true if the loop should poll at once. For the worker's loop, at the
 * end of an iteration. */
bool real_idle(struct real_worker *worker, weft_time now);
/* Returns the loop's longest stall since the traffic started, including the current one but not
 * sleep. Any thread. */
weft_time real_idle_away(const struct real_worker *worker, weft_time now);
/* Wakes all loops. Any thread. */
void real_idle_wake(struct real_fabric *fabric);
