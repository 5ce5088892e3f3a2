/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A topology after failures of cables or switches. Devices keep their numbers and names, so that
 * routes, tables and figures before and after compare device by device. A failed switch stays as a
 * switch without links. A host whose link or switch failed stays as a host without a link:
 * topology_peer() and topology_link_at() find nothing there, its 'host_link' is -1 and its
 * 'cut_off' is set, which topology_finish() accepts. Ports keep their numbers and are free; links
 * move up in 'link_at'.
 *
 * Such a topology may be disconnected; the caller checks that (topology_check_connected). It cannot
 * be written to a file, where every host has a link. */

#include <stddef.h>

#include "topology.h"

/* A copy of a finished topology without 'count' elements, each named as by users: "s0:3", "h5:0" or
 * "h5" is a link, by either end; "s4" is a switch with all its links. Duplicates, also by another
 * name of the same link, count once. The binding of a port without a link is dropped. Returns NULL
 * with 'error' and errno EINVAL for an unknown device or a port that had no link, ENOMEM. The
 * caller destroys the copy. */
struct topology *topology_without(const struct topology *topology, const char *const *failed,
	size_t count, struct error *error);

/* The attached part of a topology with failures, for writing to a file: without hosts that are cut
 * off and switches without links. Names stay, numbers move up. Returns NULL with 'error' and errno
 * ENOMEM. The caller destroys it. */
struct topology *topology_attached(const struct topology *topology, struct error *error);
