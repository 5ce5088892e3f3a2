/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* What the processes of a lab say about the mapper (docs/mapper.md), put together: an object with
 * 'mappers', all candidates, and 'agents', all devices. */

#include "lab_control.h"

json_t *lab_mapping_create(void);
/* Asks a process and adds what it says. 0, or -errno and fault. */
int lab_mapping_add(json_t *mapping, struct lab_connection *connection,
	const struct lab_record *record, const char *dir, struct fault *fault);

/* This candidate leads, with or without routes. */
bool lab_mapping_leads(const json_t *mapper);
/* The mapper that leads, of several the one with most switches; NULL: none (here). */
json_t *lab_mapping_leader(const json_t *mapping);
/* The mapper that leads, wherever it is: heartbeats tell the devices here of one elsewhere. */
struct lab_lead {
	const char *host;    /* NULL: none is known of. The mapping's */
	bool elsewhere;      /* on another machine */
	bool silent;         /* no device here has heard of it for long; of one elsewhere */
	json_int_t epoch;    /* of its tables, as far as devices here use them */
	json_int_t heard_ns; /* how long ago it was heard; of one elsewhere */
};

/* 'elsewhere': devices that run on other machines (lab_elsewhere.h). */
struct lab_lead lab_mapping_lead(const json_t *mapping, const json_t *elsewhere);
/* One leads and is heard. 'why' says what is missing. */
bool lab_lead_lives(const struct lab_lead *lead, struct fault *why);

/* Every host here has routes to all other 'hosts' of the lab. 'why' names one that has not. */
bool lab_mapping_reaches(const json_t *mapping, uint32_t hosts, struct fault *why);

/* How many lead. */
unsigned lab_mapping_leaders(const json_t *mapping);

/* Whether all is done: one leads, has routes for what it has found and nothing to do, every device
 * here follows it and uses its tables. 'alone': all of the lab is here, so must be the mapper.
 * 'why' says what is missing. */
bool lab_mapping_done(const json_t *mapping, bool alone, struct fault *why);
