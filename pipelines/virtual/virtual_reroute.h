/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* New routes after an event, without what is down then ('mapper.after'). The time stands for what a
 * mapper needs to discover, compute and distribute.
 *
 * As the mapper does (lib/mapper/transition_check.h), the union of old and new routes is judged
 * first. If it has no cycle of channels, the new routes are in use at once, while packets with the
 * old ones still travel. Otherwise hosts pause until the fabric is empty, or for 'mapper.drain',
 * after which switches discard what they store. Packets whose old route leads over a dead link are
 * discarded there, counted and sent again. Between rounds, alike in all processes. */

#include "virtual_private.h"

struct virtual_reroute;

/* Nothing unless the run asks for it. 0 or -ENOMEM. */
int virtual_reroute_open(struct virtual_fabric *fabric);
/* Before the routes of the fabric are freed. */
void virtual_reroute_close(struct virtual_fabric *fabric);

/* A cable was cut or joined. */
void virtual_reroute_note(struct virtual_fabric *fabric, weft_time now);
/* When virtual_reroute_poll() has something to do; WEFT_TIME_NEVER: nothing. */
weft_time virtual_reroute_due(const struct virtual_fabric *fabric);
/* True: new routes are in use from now on. */
bool virtual_reroute_poll(struct virtual_fabric *fabric, weft_time now);
/* Warns of events after which there were no new routes, or only after a pause. */
void virtual_reroute_result(const struct virtual_fabric *fabric, struct run_result *result);
