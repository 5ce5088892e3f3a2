/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The answers of a lab's processes about the mapper (docs/explanation/the-mapper.md), merged into
 * an object with 'mappers', all candidates, and 'agents', all devices. */

#include "lab_query.h"
#include "topo/topology.h"

json_t *lab_mapping_create(void);
/* Queries a process and adds its answer. Returns 0, or -errno with error set. */
int lab_mapping_add(
	json_t *mapping, const struct lab_record *record, const char *dir, struct error *error);

/* Returns true if this candidate is the leader, with or without routes. */
bool lab_mapping_leads(const json_t *mapper);
/* Returns the leading mapper; if there are several, the one with the most switches. Returns NULL if
 * there is none on this machine. */
json_t *lab_mapping_leader(const json_t *mapping);
/* The leading mapper on any machine. Devices here recognise a remote mapper by its heartbeats. */
struct lab_lead {
	const char *host;    /* NULL: unknown; points into the mapping */
	bool elsewhere;      /* runs on another machine */
	bool silent;         /* if 'elsewhere': no device here has received it for a long time */
	json_int_t epoch;    /* epoch of its tables, as far as devices here use them */
	json_int_t heard_ns; /* if 'elsewhere': time since a device here last received it */
};

/* Returns the leading mapper. 'elsewhere': devices on other machines (lab_state.h). */
struct lab_lead lab_mapping_lead(const json_t *mapping, const json_t *elsewhere);
/* Returns whether a mapper leads and is sending. Otherwise 'why' gives the reason. */
bool lab_lead_lives(const struct lab_lead *lead, struct error *why);

/* Returns the leading mapper on this machine that the device follows, or else lab_mapping_leader().
 */
json_t *lab_mapping_leader_of(const json_t *mapping, const char *device);

/* Returns whether every host here has routes to all other hosts of its lab or plane. Otherwise
 * 'why' names a host that lacks routes. */
bool lab_mapping_reaches(const json_t *mapping, const struct topology *topology, struct error *why);

/* Returns the number of leading mappers. */
unsigned lab_mapping_leaders(const json_t *mapping);

/* Returns whether mapping is complete: in each plane, one mapper leads, has routes for
 * everything that it found, and has no work left; and every device here follows a leader and uses
 * its tables. 'alone': the whole lab is on this machine, so the mappers must also be here.
 * Otherwise 'why' gives the reason. */
bool lab_mapping_done(const json_t *mapping, bool alone, uint32_t planes, struct error *why);
