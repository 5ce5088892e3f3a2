/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The tables of one device as the bytes in which the mapper sends them (docs/mapper.md, 'Images').
 * A host's: for each destination its routes in order of preference, or that the switches' tables
 * know the way, and the queuing scheme with what it has to know to compute service levels. A
 * switch's: for each destination the port, sets of alternatives, its stage, its part of the VC
 * rule, the queues of the scheme. The epoch is no part of it: equal tables have equal images.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queuing.h"
#include "route_set.h"
#include "route_table.h"
#include "topology.h"

#define TABLE_IMAGE_BY_TABLE 0xFF /* in place of a number of routes */

struct table_image {
	uint8_t *bytes; /* malloc'd; the owner's to free */
	uint32_t length;
};

/* What images are made of. One of set and table may be NULL, and 'queuing' where everything
 * travels in VC 0. */
struct table_image_source {
	const struct topology *topology;
	const struct route_set *set;
	const struct route_table *table;
	const struct queuing *queuing;
};

/* Of host 'host': the routes of the set, and where that has none and the table reaches the
 * destination from the host's switch, by table. -ENOMEM. */
int table_image_of_host(
	struct table_image *image, const struct table_image_source *source, uint32_t host);
/* Of switch 'at'. The VC rule is the table's or the set's. -ENOMEM. */
int table_image_of_switch(
	struct table_image *image, const struct table_image_source *source, uint32_t at);

/* Whether the bytes are an image for a device of this kind (0 switch, 1 host) with so many ports:
 * every length, every port and every element in range. */
bool table_image_check(const uint8_t *bytes, uint32_t length, unsigned kind, unsigned ports);

/* Of images that table_image_check() has passed. */
uint64_t table_image_digest(const uint8_t *bytes, uint32_t length);
uint16_t table_image_number(const uint8_t *bytes);
uint16_t table_image_hosts(const uint8_t *bytes);

struct table_image_route {
	uint16_t destination;
	uint8_t which; /* of the destination's, from 0 on */
	uint8_t parts; /* algorithms that have it (route_set_parts()); 0: nobody said */
	uint8_t length;
	const uint8_t *elements; /* in the image; NULL, and length 0, if it is reached by table */
};

/* Calls back for each destination in order, for its routes one by one. Not for what cannot be
 * reached. */
typedef void (*table_image_route_fn)(void *context, const struct table_image_route *route);
void table_image_each_route(const uint8_t *bytes, table_image_route_fn each, void *context);

/* The queues of the scheme, 0 without one: VC of service level n is n below that, else 0. */
uint8_t table_image_queues(const uint8_t *bytes);
/* Of a host's: the scheme, by which it chooses service levels; NULL without one. -ENOMEM. The
 * caller's, queuing_destroy(). */
int table_image_queuing(const uint8_t *bytes, struct queuing **queuing);

/* A switch's tables. 'primary' points into the image. */
struct table_image_switch {
	const uint8_t *primary; /* [hosts]; ROUTE_TABLE_NONE */
	uint8_t stage;
	uint8_t vc_classes;  /* 0: no rule */
	const uint8_t *ring; /* [ports] */
	uint64_t dateline;
};

/* 'alternatives' (may be NULL) has room for one set a host. */
void table_image_read_switch(const uint8_t *bytes, unsigned ports,
	struct table_image_switch *tables, uint64_t *alternatives);
