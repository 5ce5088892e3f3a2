/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A signal that no thread of a Weft program blocks: it makes each thread give up its capabilities
 * (pipelines/process/sandbox.h), which no thread can do for another. Code that starts a thread
 * with all other signals blocked must leave this one unblocked. */

#include <signal.h>

#define THREAD_SIGNAL (SIGRTMIN + 5)
