/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* FIFOs of the interface, for the files of this folder. */

#include "datagram.h"

/* Starts the message at the head of the FIFO. One without a route is dropped. */
void datagram_begin_head(struct datagram *nic, unsigned vc);

/* Removes the message at the head of the FIFO, and starts the next. */
void datagram_drop_head(struct datagram *nic, unsigned vc);
