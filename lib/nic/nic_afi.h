/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* An interface's handling of ARNs (docs/explanation/congestion.md): marked messages leave in the
 * adapted-flow channel, the last VC. The mark is looked up when the message is at the head of its
 * FIFO, and again when one of its frames is next; a message in the AFC stays there. Frames of one
 * flow may then overtake each other; the receiver restores the order, as with several paths.
 *
 * Only lib/nic includes this. Without marks everything here is one comparison. */

#include "nic_private.h"

/* An ARN arrived. False: it was ignored. */
bool nic_afi_on_arn(struct nic *nic, const struct control_arn *arn, weft_time now);

/* True if the message at the head of the FIFO 'vc' may join its peer's queue; the VC of a marked
 * message is changed. False: it is marked and the AFC has no room for it. It blocks the FIFO,
 * because on its own VC it would feed the congestion tree that it must stay out of. */
bool nic_afi_admit(struct nic *nic, struct message *message, weft_time now);

/* True if 'message', whose frame is next, was marked after its admission: its VC was changed. */
bool nic_afi_change(struct nic *nic, struct message *message, weft_time now);
