/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * An interface's side of adaptive-routing notifications (docs/congestion.md): messages that
 * are marked leave in the adapted-flow channel, the last VC. The mark is looked for when the
 * message is at the head of its FIFO, and again when it is the turn of one of its frames; what goes
 * on to the AFC stays there. Frames of one flow may overtake each other then; the receiver puts
 * them in order, as it does with several paths.
 *
 * Only lib/nic includes this. Without marks everything here is one comparison.
 */

#include "nic_private.h"

/* A notification has come. False: nothing was made of it. */
bool nic_afi_on_arn(struct nic *nic, const struct control_arn *arn, weft_time now);

/* The message at the head of the FIFO 'vc' may join its peer's queue; a marked one has its VC
 * changed. False: it is marked and the AFC has no room for it: it waits, and with it the FIFO, for
 * left to its own VC it would feed the tree that it is to stay out of. */
bool nic_afi_admit(struct nic *nic, struct message *message, weft_time now);

/* True if a frame of 'message' whose turn has come was marked since it was admitted: its VC has
 * been changed. */
bool nic_afi_change(struct nic *nic, struct message *message, weft_time now);
