/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Gives up capabilities when a program has opened what it needs, which limits the damage of a
 * parser exploit. The user id stays. The kernel lets each thread give up only its own capabilities
 * (and libcap-ng does it for one thread), so every thread of the process gets THREAD_SIGNAL and
 * does it in the handler. */

#include <stdint.h>

#include "base/weft_error.h"

/* A bit for capability CAP_NET_RAW and the like of <linux/capability.h>. */
#define PRIVILEGE(capability) (UINT64_C(1) << (capability))

/* Keeps at most these capabilities, in all present and future threads, and for all programs that
 * they execute (PR_SET_NO_NEW_PRIVS). 0; -EPERM or -ETIMEDOUT and error: a thread kept more. */
int privileges_keep(uint64_t capabilities, struct error *error);
