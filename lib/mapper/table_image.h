/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The tables of a device, as the bytes that the mapper sends (docs/explanation/the-mapper.md,
 * 'Images'). A host's image contains the routes to each destination in order of preference, or a
 * mark that switch tables lead there, and the queuing scheme with the data for service levels. A
 * switch's image contains the port for each destination, sets of alternatives, its stage, its part
 * of the VC rule, and the number of queues. The epoch is not included, so equal tables have equal
 * images. */

#include <stdbool.h>
#include <stdint.h>

#include "queuing/queuing.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

#define TABLE_IMAGE_BY_TABLE 0xFF /* in place of a number of routes */

struct table_image {
	uint8_t *bytes; /* allocated with malloc(); freed by the owner */
	uint32_t length;
};

/* Input of an image. 'set' or 'table' may be NULL, and 'queuing' if only VC 0 is used. */
struct table_image_source {
	const struct topology *topology;
	const struct route_set *set;
	const struct route_table *table;
	const struct queuing *queuing;
};

/* Creates the image of a host from the routes in the set. A destination without routes is marked as
 * reached by table if the table leads there from the host's switch. Returns 0 or -ENOMEM. */
int table_image_of_host(
	struct table_image *image, const struct table_image_source *source, uint32_t host);
/* Creates the image of switch 'at', with the table's or set's VC rule. Returns 0 or -ENOMEM. */
int table_image_of_switch(
	struct table_image *image, const struct table_image_source *source, uint32_t at);

/* Returns true if the bytes are a valid image for a device of this kind (0 switch, 1 host) and
 * number of ports: every length, port and element is in range. */
bool table_image_check(const uint8_t *bytes, uint32_t length, unsigned kind, unsigned ports);

/* For images that passed table_image_check() only. */
uint64_t table_image_digest(const uint8_t *bytes, uint32_t length);
uint16_t table_image_number(const uint8_t *bytes);
uint16_t table_image_hosts(const uint8_t *bytes);

struct table_image_route {
	uint16_t destination;
	uint8_t which; /* index among the destination's routes, from 0 */
	uint8_t parts; /* set of the algorithms that produced it (route_set_parts()); 0: unknown */
	uint8_t length;
	const uint8_t *elements; /* within the image; NULL, with length 0, if the destination is
				    reached by table */
};

/* Calls 'each' for every reachable destination in order, once per route. */
typedef void (*table_image_route_fn)(void *context, const struct table_image_route *route);
void table_image_each_route(const uint8_t *bytes, table_image_route_fn each, void *context);

/* Returns the number of queues of the scheme, or 0 without a scheme. Service level n uses VC n if n
 * is below this number, otherwise VC 0. */
uint8_t table_image_queues(const uint8_t *bytes);
/* Creates the queuing scheme of a host's image, which determines service levels; NULL if there is
 * none. The caller owns it (queuing_destroy()). Returns 0 or -ENOMEM. */
int table_image_queuing(const uint8_t *bytes, struct queuing **queuing);

/* Tables of a switch. 'primary' points into the image. */
struct table_image_switch {
	const uint8_t *primary; /* [hosts]; ROUTE_TABLE_NONE */
	uint8_t stage;
	uint8_t vc_classes;  /* 0: no rule */
	uint8_t vc_steps;    /* enum vc_steps */
	const uint8_t *ring; /* [ports] */
	uint64_t dateline;
};

/* 'alternatives' has room for one set per host, or is NULL. */
void table_image_read_switch(const uint8_t *bytes, unsigned ports,
	struct table_image_switch *tables, uint64_t *alternatives);

/* The queuing scheme in a host's image: its number and the leaves of all hosts, from which all
 * hosts compute the same service levels. Only table_image.c uses this and the byte helpers. */

static inline uint8_t *image_put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
	return at + bytes;
}

static inline uint64_t image_get(const uint8_t *at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

/* Writes scheme and leaves, or only counts the bytes if 'at' is NULL. Returns their number. */
uint32_t image_queuing_put(uint8_t *at, const struct queuing *queuing);
/* Returns the size of scheme and leaves in bytes, or 0 if they are invalid. */
uint32_t image_queuing_check(const uint8_t *at, uint32_t left, uint32_t hosts, unsigned queues);
/* Returns the size of a checked scheme in bytes. */
uint32_t image_queuing_length(const uint8_t *at);
/* Reads a checked scheme. Returns NULL with errno ENOMEM if out of memory. */
struct queuing *image_queuing_read(const uint8_t *at, uint32_t hosts, unsigned queues);
