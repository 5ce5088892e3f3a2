/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The identity of a lab as a text, on which all its machines have to agree: the lab's name, the
 * devices and cables of the topology, and those sections of the lab file by which both ends of a
 * cable have to act, whole, although some of their keys concern one end alone. A lab file of
 * another machine that differs there gives another number of the fabric (lab_security.h), so its
 * cables do not join. What each machine may decide is not in the text: which hosts may be the
 * mapper, DPDK devices, processes, paths of files, traffic, measurements.
 */

#include "lab.h"

/* The caller frees the text. NULL: no memory. */
char *lab_identity(const struct lab *lab);
