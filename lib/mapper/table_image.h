/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The tables of one device as the bytes that the mapper sends (docs/explanation/the-mapper.md,
 * 'Images'). A host's image has the routes to each destination in order of preference, or a mark
 * that switch tables lead there, and the queuing scheme with the data for service levels. A
 * switch's image has the port for each destination, sets of alternatives, its stage, its part of
 * the VC rule, and the queues of the scheme. The epoch is not included, so equal tables have equal
 * images. */

#include <stdbool.h>
#include <stdint.h>

#include "queuing/queuing.h"
#include "route/route_set.h"
#include "route/route_table.h"
#include "topo/topology.h"

#define TABLE_IMAGE_BY_TABLE 0xFF /* instead of a number of routes */

struct table_image {
	uint8_t *bytes; /* from malloc(); the owner frees it */
	uint32_t length;
};

/* Input of an image. One of set and table may be NULL, and 'queuing' if only VC 0 is used. */
struct table_image_source {
	const struct topology *topology;
	const struct route_set *set;
	const struct route_table *table;
	const struct queuing *queuing;
};

/* Image of host 'host': the routes of the set; a destination without any is marked by table if the
 * table reaches it from the host's switch. May return -ENOMEM. */
int table_image_of_host(
	struct table_image *image, const struct table_image_source *source, uint32_t host);
/* Image of switch 'at'. The VC rule is the table's or the set's. May return -ENOMEM. */
int table_image_of_switch(
	struct table_image *image, const struct table_image_source *source, uint32_t at);

/* True if the bytes are an image for a device of this kind (0 switch, 1 host) with this many ports:
 * every length, port and element is in range. */
bool table_image_check(const uint8_t *bytes, uint32_t length, unsigned kind, unsigned ports);

/* Only for images that passed table_image_check(). */
uint64_t table_image_digest(const uint8_t *bytes, uint32_t length);
uint16_t table_image_number(const uint8_t *bytes);
uint16_t table_image_hosts(const uint8_t *bytes);

struct table_image_route {
	uint16_t destination;
	uint8_t which; /* index among the destination's routes, from 0 */
	uint8_t parts; /* algorithms that produced it (route_set_parts()); 0: unknown */
	uint8_t length;
	const uint8_t *elements; /* in the image; NULL, and length 0, if the destination is reached
				    by table */
};

/* Calls back for each reachable destination in order, once per route. */
typedef void (*table_image_route_fn)(void *context, const struct table_image_route *route);
void table_image_each_route(const uint8_t *bytes, table_image_route_fn each, void *context);

/* Number of queues of the scheme, 0 without one. Service level n uses VC n if n is below this
 * number, else VC 0. */
uint8_t table_image_queues(const uint8_t *bytes);
/* The queuing scheme of a host's image, from which it chooses service levels; NULL without one. May
 * return -ENOMEM. The caller owns it, queuing_destroy(). */
int table_image_queuing(const uint8_t *bytes, struct queuing **queuing);

/* A switch's tables. 'primary' points into the image. */
struct table_image_switch {
	const uint8_t *primary; /* [hosts]; ROUTE_TABLE_NONE */
	uint8_t stage;
	uint8_t vc_classes;  /* 0: no rule */
	uint8_t vc_steps;    /* enum vc_steps */
	const uint8_t *ring; /* [ports] */
	uint64_t dateline;
};

/* 'alternatives' (may be NULL) has room for one set per host. */
void table_image_read_switch(const uint8_t *bytes, unsigned ports,
	struct table_image_switch *tables, uint64_t *alternatives);

/* The queuing scheme in a host's image: its number and the leaves of all hosts, from which the host
 * computes the same service levels as every other host. Only table_image.c includes this and its
 * byte helpers. */

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

/* Writes scheme and leaves; only counts if 'at' is NULL. Returns the bytes, 0 without a scheme. */
uint32_t image_queuing_put(uint8_t *at, const struct queuing *queuing);
/* Number of bytes of scheme and leaves; 0 if they are invalid. */
uint32_t image_queuing_check(const uint8_t *at, uint32_t left, uint32_t hosts, unsigned queues);
/* The bytes of a checked scheme. */
uint32_t image_queuing_length(const uint8_t *at);
/* Reads a checked scheme. Returns NULL with errno ENOMEM if out of memory. */
struct queuing *image_queuing_read(const uint8_t *at, uint32_t hosts, unsigned queues);
