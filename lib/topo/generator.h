/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The interface between topology generators and the rest. A kind is one file that defines one
 * struct generator, generator_KIND, and one word in GENERATORS (docs/developer/extending.md).
 * Text is 'KIND:key=value,…', 'KIND:' or 'KIND' alone where no option is required; every kind takes
 * rate= and delay= as well. Values have been parsed and are in range when build() sees them. */

#include <stdbool.h>

#include "base/name_table.h"
#include "topology.h"

/* All kinds, generator_KIND each, in the order in which they are listed. */
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
	GENERATOR_RATIO, /* 3:1, as two dimensions */
	GENERATOR_WORD,  /* one of 'words'; its number is the value */
};

struct generator_option {
	const char *name; /* NULL ends the list */
	enum generator_option_type type;
	bool required; /* if not, the default is 'fallback', or no dimensions */
	uint64_t min, max, fallback;
	const char *help;
	const char *const *words; /* NULL ends the list */
};

struct generator_value {
	uint64_t number;
	uint32_t dims[GENERATOR_DIMS_MAX];
	unsigned dim_count;
};

/* The argument of build(). */
struct generator_request {
	const char *spec; /* for messages */
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
	/* Creates '*topology' with generator_create() and adds links; the caller finishes it, and
	 * destroys it if this function fails. Returns 0, -EINVAL or -ENOMEM with error set. */
	int (*build)(const struct generator_request *request, struct topology **topology);
};

#define X(kind) extern const struct generator generator_##kind;
GENERATORS(X)
#undef X

/* The list of kinds. */
extern const struct name_table generators;

/* Kind i of the list, NULL after the last. */
static inline const struct generator *generator_at(unsigned i)
{
	return name_table_at(&generators, i);
}

/* Returns NULL if no kind has this name, which may be followed by ':'. */
const struct generator *generator_find(const char *spec);

/* topology_generate() with defaults (may be NULL) for values that are not in the text. Returns 0 or
 * a negative code. */
int generator_run(const char *spec, const struct topology_defaults *defaults,
	struct topology **topology, struct error *error);
/* The same for a given kind, listed or not; the text starts with its name. */
int generator_run_kind(const struct generator *generator, const char *spec,
	const struct topology_defaults *defaults, struct topology **topology, struct error *error);

/* For build(): creates a topology of this size with 'ports' ports per switch; sizes above the
 * limits are refused with a message. */
int generator_create(const struct generator_request *request, uint64_t switches, uint64_t hosts,
	uint64_t ports, struct topology **topology);
/* Links a switch's port to another's, or to a host. */
int generator_link_switches(const struct generator_request *request, struct topology *topology,
	uint32_t a, unsigned port_a, uint32_t b, unsigned port_b);
int generator_link_host(const struct generator_request *request, struct topology *topology,
	uint32_t host, uint32_t at, unsigned port);
/* Links all hosts in order, 'per_switch' to each switch from port 'first_port' on. */
int generator_link_hosts(const struct generator_request *request, struct topology *topology,
	uint32_t per_switch, unsigned first_port);
/* Links between all pairs of switches that are 'adjacent'. The first ports of each lead to its
 * neighbours in the order of their numbers. May return -ENOMEM. */
int generator_link_adjacent(const struct generator_request *request, struct topology *topology,
	bool (*adjacent)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);
