/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Interface of the topology generators. A kind is one file that defines one struct generator,
 * generator_KIND, and one entry in GENERATORS (docs/developer/extending.md). The text has the form
 * 'KIND:key=value,…'; 'KIND:' or 'KIND' suffice if no option is required. Every kind also accepts
 * rate= and delay=. Values passed to build() have been parsed and are in range. */

#include <stdbool.h>

#include "base/name_table.h"
#include "topology.h"

/* All kinds, each defined as generator_KIND, in listing order. */
#define GENERATORS(X)     \
	X(rlft)           \
	X(rail)           \
	X(clos)           \
	X(torus)          \
	X(mesh)           \
	X(torus_express)  \
	X(ring)           \
	X(hypercube)      \
	X(full)           \
	X(hyperx)         \
	X(dragonfly)      \
	X(dragonfly_plus) \
	X(slimfly)        \
	X(polarfly)       \
	X(cplant)         \
	X(irregular)      \
	X(jellyfish)

#define GENERATOR_OPTIONS_MAX 8
#define GENERATOR_DIMS_MAX    8

enum generator_option_type {
	GENERATOR_NUMBER,
	GENERATOR_DIMS,  /* 8x8: 'min' and 'max' apply to each dimension */
	GENERATOR_RATIO, /* 3:1, stored as two dimensions */
	GENERATOR_WORD,  /* one of 'words'; the value is its index */
};

struct generator_option {
	const char *name; /* NULL ends the list */
	enum generator_option_type type;
	bool required; /* if false, the default is 'fallback', or no dimensions */
	uint64_t min, max, fallback;
	const char *help;
	const char *const *words; /* NULL ends the list */
};

struct generator_value {
	uint64_t number;
	uint32_t dims[GENERATOR_DIMS_MAX];
	unsigned dim_count;
};

/* Argument of build(). */
struct generator_request {
	const char *spec; /* the text, for messages */
	const char *name; /* the topology's name */
	/* In the order of the kind's options. */
	struct generator_value values[GENERATOR_OPTIONS_MAX];
	struct topology_defaults links;
	struct error *error;
};

struct generator {
	const char *name;
	const char *help; /* one line */
	struct generator_option options[GENERATOR_OPTIONS_MAX + 1];
	/* Creates '*topology' with generator_create() and adds links. The caller finishes it, and
	 * destroys it if this function fails. Returns 0, or -EINVAL or -ENOMEM with 'error' set. */
	int (*build)(const struct generator_request *request, struct topology **topology);
};

#define X(kind) extern const struct generator generator_##kind;
GENERATORS(X)
#undef X

extern const struct name_table generators;

/* Returns kind i of the list, or NULL after the last. */
static inline const struct generator *generator_at(unsigned i)
{
	return name_table_at(&generators, i);
}

/* Returns the kind at the start of 'spec', up to ':' or the end, or NULL if it is unknown. */
const struct generator *generator_find(const char *spec);

/* Like topology_generate(), but with defaults (may be NULL) for values that are not in the text.
 * Returns 0 or a negative error code. */
int generator_run(const char *spec, const struct topology_defaults *defaults,
	struct topology **topology, struct error *error);
/* Like generator_run(), but for a given kind, listed or not. The text must start with its name. */
int generator_run_kind(const struct generator *generator, const char *spec,
	const struct topology_defaults *defaults, struct topology **topology, struct error *error);

/* For build(): creates a topology of this size with 'ports' ports per switch, within the limits. */
int generator_create(const struct generator_request *request, uint64_t switches, uint64_t hosts,
	uint64_t ports, struct topology **topology);
/* Link a switch's port to a port of another switch, or to a host. */
int generator_link_switches(const struct generator_request *request, struct topology *topology,
	uint32_t a, unsigned port_a, uint32_t b, unsigned port_b);
int generator_link_host(const struct generator_request *request, struct topology *topology,
	uint32_t host, uint32_t at, unsigned port);
/* Links all hosts in order, 'per_switch' to each switch, starting at port 'first_port'. */
int generator_link_hosts(const struct generator_request *request, struct topology *topology,
	uint32_t per_switch, unsigned first_port);
/* Links all pairs of switches for which 'adjacent' returns true. The first ports of each switch
 * lead to its neighbours in the order of their numbers. May return -ENOMEM. */
int generator_link_adjacent(const struct generator_request *request, struct topology *topology,
	bool (*adjacent)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);
