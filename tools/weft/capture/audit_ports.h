/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Assigns the interfaces of captures to ports, and checks whether the files have all frames of
 * these ports and come from this fabric. */

#include "audit_subject.h"

#define AUDIT_NO_WAY   UINT32_MAX
#define AUDIT_WAY_NAME (TOPOLOGY_NAME_MAX + 8)

/* The name of the port from which this direction of a link starts. */
const char *audit_way_name(
	const struct topology *topology, uint32_t way, char text[AUDIT_WAY_NAME]);

/* The direction in which a frame was sent, from its source address. AUDIT_NO_WAY if that is not a
 * port of this topology. */
uint32_t audit_sender_of(const struct topology *topology, const struct capture_packet *packet);

/* Fills in the subject's interfaces, 'captured', 'wired', 'part' and 'cut'. 'owner': [ways],
 * zeroed. Returns 0, or -errno with error set: a port is in two files, or the captures are from
 * another fabric. */
int audit_ports_find(struct audit_subject *subject, uint32_t *owner, struct error *error);

/* How many ports lack frames, and why the first one does, as allocated text. NULL if none does. */
char *audit_ports_missing(const struct audit_subject *subject);
