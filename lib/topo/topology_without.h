/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A topology after failures: what would be there if some cables were out or some switches dead.
 * Nothing is renumbered or renamed, so that routes, tables and figures of before and after compare
 * device by device. A failed switch stays as a switch without links; a host whose link or switch
 * failed stays as a host without link: topology_peer() and topology_link_at() find nothing there,
 * its 'host_link' is -1 and its 'cut_off' is set, by which topology_finish() knows that this is
 * meant. Ports keep their numbers and are free; links move up in 'link_at'.
 *
 * Such a topology may hang together no longer, which is for the user to find out
 * (topology_check_connected). It is not for writing to a file: there every host has a link.
 */

#include <stddef.h>

#include "topology.h"

/* A copy of a finished topology without 'count' things, each named as people do: "s0:3", "h5:0" or
 * "h5" is a link, by either end; "s4" is a switch with all its links. Naming something twice, or a
 * port whose link fails by another name, is the same as naming it once. What labs have bound to a
 * port without link is forgotten. NULL with 'fault' and errno EINVAL for a device that does not
 * exist or a port that had no link before, ENOMEM. The caller destroys the copy. */
struct topology *topology_without(const struct topology *topology, const char *const *failed,
	size_t count, struct fault *fault);

/* What of a topology with failures is still attached to something, for writing to a file: without
 * hosts that are cut off and switches without links. Names stay, numbers move up. NULL with 'fault'
 * and errno ENOMEM. The caller destroys it. */
struct topology *topology_attached(const struct topology *topology, struct fault *fault);
