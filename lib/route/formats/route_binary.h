/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The binary route file, for networks whose text would take gigabytes, and the only format of
 * destination tables. All numbers are little-endian:
 *
 *     8 bytes     "WEFTRT1\n"
 *     sections    length (4 bytes), that many bytes, CRC-32C of those bytes (4 bytes)
 *
 *     1. header, 216 bytes: contents (4 bytes: 1 routes, 2 tables, 3 tables with alternatives),
 *        switches (4), hosts (4), VC classes (2; 0: no rule), layout of
 *        steps (2; 0 none, 1 links, 2 equal; vc_rule.h), seed (8), and the labels topology,
 *        algorithm, root (64 each, zero-padded)
 *     2. if there are VC classes, for each switch: ring of each port (64 bytes; 255: none),
 *        set of ports whose link crosses a dateline (8 bytes)
 *     3. routes: one section per destination host: for each source host the number of its
 *        routes (1 byte), each with its length (1 byte) and its elements as in the frame.
 *        tables: one section per switch: for each destination host the port (255: none), then,
 *        with alternatives, the set of alternative ports (8 bytes each).
 *
 * Trailing bytes are an error. The reader reports the first byte that does not match the topology.
 */

#include <stdio.h>

#include "route_file.h"

#define ROUTE_BINARY_MAGIC  "WEFTRT1\n"
#define ROUTE_BINARY_HEADER 216

/* Writes the file's set or table, whichever exists. Returns 0, -EIO or -ENOMEM. */
int route_binary_write(const struct topology *topology, const struct route_file *file, FILE *out,
	struct error *error);

/* Reads the part after the magic. Returns 0, -ENOMEM, -EIO, or -EINVAL with an error in the form
 * "ORIGIN: byte N: FAULT, expected …". */
int route_binary_read(const struct topology *topology, FILE *in, const char *origin,
	struct route_file *file, struct error *error);

/* Reads only the first section, with the topology label stored there. */
int route_binary_read_header(
	FILE *in, const char *origin, struct route_file_header *header, struct error *error);
