/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The interface between routing algorithms and the rest.
 *
 * Contents       one struct route_algorithm for each word of ROUTE_ALGORITHMS
 * Input          a topology (as a route_graph) and struct route_options; nothing else
 * Output         a set of source routes (route_set.h), destination tables (route_table.h), or both
 * Callers        runs and labs (fabric_routes.h), the mapper, 'weft route compute'; any thread, and
 *                several at once: an algorithm keeps no state
 * Failure        0 or -errno with an error; -EINVAL if the algorithm does not support the network
 * Verification   route_verify.h, which knows no algorithm, checks what it claims
 * Source         each algorithm names its paper and section in its own file
 *
 * docs/developer/extending.md explains how to add one. */

#include <stdbool.h>
#include <stdint.h>

#include "base/name_table.h"
#include "base/weft_error.h"
#include "route_graph.h"
#include "route_set.h"
#include "route_table.h"

/* Routes pair by pair, for algorithms that can route a pair of hosts without looking at the other
 * pairs. route_maker_fill() computes the routes of all pairs. A set with routes on demand
 * (route_algorithm.h) computes the routes of a pair on first use. Both produce the same routes.
 *
 * Constant after creation, except for the scratch space, which belongs to one thread. */

struct route_options;

struct route_maker {
	const struct route_graph *graph;
	const struct route_options *options;
	/* Every pair of hosts has a route of at most ROUTE_LINKS_USUAL links, no route has an
	 * in-transit buffer, and lengths are known. Otherwise the routes of all pairs must be
	 * computed before first use, and 'row' and 'elements' are not called. */
	bool complete;
	/* Adds the routes of two different hosts, both connected to switches. -EINVAL with 'error':
	 * a route does not fit into a frame; -ENOMEM. */
	int (*add)(const struct route_maker *maker, void *scratch, struct route_set *set,
		uint32_t source, uint32_t destination, struct error *error);
	/* The host's row, a number below twice the number of switches: hosts of one row have the
	 * same routes to all other hosts. NULL: each host has its own routes. */
	uint32_t (*row)(const struct route_maker *maker, uint32_t host);
	/* Elements of the first route between two hosts of these switches. */
	unsigned (*elements)(const struct route_maker *maker, uint32_t from, uint32_t to);
	/* NULL: 'add' needs no scratch space. The function returns NULL for -ENOMEM. */
	void *(*scratch_create)(const struct route_maker *maker);
	void (*scratch_destroy)(void *scratch);
	void (*destroy)(struct route_maker *maker);
};

/* Creates a maker, and sets the VC rule of the empty set. Graph and options outlive it. Errors as
 * for route_algorithm.routes; '*maker' is then NULL. */
typedef int (*route_maker_fn)(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error);

/* Fills an empty set: route_algorithm.routes for an algorithm that has route_algorithm.pairs. */
int route_maker_fill(route_maker_fn make, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

enum route_granularity {
	ROUTE_PER_HOST_PAIR,   /* each pair of hosts chooses for itself */
	ROUTE_PER_SWITCH_PAIR, /* hosts of the same two switches share the choice */
};

#define ROUTE_RADIUS_MAX 4

/* The transition from one step of a path to the next: an element of the route, which switches skip
 * and VC classes follow, or a host of the switch, which absorbs and re-injects (an in-transit
 * buffer). */
enum route_steps { ROUTE_STEPS_NEXT, ROUTE_STEPS_ITB };

/* How equally good paths in grids are chosen: drawn for each pair of switches or hosts and for each
 * dimension, or in the order of port numbers, the same for all pairs. */
enum route_ties { ROUTE_TIES_SEED, ROUTE_TIES_PORT };

struct route_options {
	uint64_t seed;
	uint32_t root;          /* root switch of a tree; the first one (0) by default */
	unsigned alternatives;  /* 0 means the algorithm's own number; at most
				 * ROUTE_ALTERNATIVES_MAX */
	unsigned jobs;          /* threads; 0 means 1 */
	unsigned radius;        /* msp: maximum number of links from an end to its IN; 0 means 1 */
	enum route_steps steps; /* msp only */
	enum route_ties ties;   /* dor and msp only */
	enum route_granularity granularity;
	/* VC classes that the switches have; 0: no limit. Routes that need more are not computed:
	 * the set or the table then has only its rule. */
	unsigned classes;
	/* The set may make routes on demand, if the algorithm can (route_algorithm.pairs). The
	 * topology must then outlive the set. */
	bool on_demand;
};

/* Labels each arc up (true) or down, seen from the tree that is rooted at 'root'; in every closed
 * chain of arcs an up arc follows a down arc somewhere. May return -ENOMEM. */
typedef int (*route_label_fn)(
	const struct route_graph *graph, uint32_t root, bool *up, struct error *error);

/* Whether the switches have the classes of the rule, which may be NULL. */
static inline bool route_options_allow(
	const struct route_options *options, const struct vc_rule *rule)
{
	return options->classes == 0 || rule == NULL || rule->classes <= options->classes;
}

struct route_algorithm {
	const char *name;
	const char *summary;                /* one line for 'weft route algorithms' */
	const struct route_algorithm *wide; /* the same for switches of more than 64 ports */
	bool deadlock_free;                 /* as the algorithm promises */
	unsigned alternatives; /* routes for each pair unless options set a number; 0 means 1 */
	bool adaptive;         /* its tables may give a switch several ports to choose from */
	bool vc_classes;       /* its routes may need VC classes (vc_rule.h) */
	bool steps;            /* its paths have several steps; options->radius counts */
	bool ties;             /* options->ties counts */
	/* enum vc_steps: switches take detours on this ladder of VCs (vc_ladder.h), so packets
	 * overtake each other. VC_STEPS_NONE: no detours. */
	uint8_t ladder;
	/* How interfaces choose among the routes of a pair: the name of a selector
	 * (lib/nic/selectors/route_choice.h); NULL means "first". */
	const char *selector;
	/* The labels that its routes obey, or at whose forbidden turns it places ITBs;
	 * options->root counts. NULL: it has no tree. */
	route_label_fn label;
	/* Fills an empty set; options->alternatives is not 0. Pairs without any path are left
	 * without a route; that is not an error here (route_set_check_connected). NULL: the
	 * algorithm has tables only. */
	int (*routes)(const struct route_graph *graph, const struct route_options *options,
		struct route_set *set, struct error *error);
	/* Computes the same routes pair by pair. NULL: the algorithm must look at all pairs to
	 * route one, or some of its routes have in-transit buffers. */
	route_maker_fn pairs;
	/* Fills an empty table in the same way. NULL: the algorithm has routes only. */
	int (*tables)(const struct route_graph *graph, const struct route_options *options,
		struct route_table *table, struct error *error);
};

/* Computes routes, or destination tables, for a finished topology. On failure returns NULL with
 * error set and '*result' -EINVAL, for a request that the algorithm cannot serve, or -ENOMEM. The
 * caller owns what is returned; 'result' may be NULL. */
struct route_set *route_compute(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options, int *result,
	struct error *error);
struct route_table *route_compute_table(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options, int *result,
	struct error *error);

/* All algorithms, route_NAME each, in the order in which they are listed. */
#define ROUTE_ALGORITHMS(X)                         \
	/* The reference. */                        \
	X(minhop)                                   \
	/* Trees without ITBs. */                   \
	X(up_down)                                  \
	X(ud_random)                                \
	X(ud_rr)                                    \
	X(ud_det)                                   \
	X(depth_first)                              \
	/* Balanced with a linear program. */       \
	X(smart)                                    \
	X(bsmart_itb)                               \
	/* Minimal paths with ITBs. */              \
	X(ud_mitb)                                  \
	X(ud_mitb_first)                            \
	X(ud_itb)                                   \
	X(dfs_itb)                                  \
	X(dfs_itb_any)                              \
	X(random_itb)                               \
	X(bmin_itb)                                 \
	X(b33_itb)                                  \
	X(b50_itb)                                  \
	X(b66_itb)                                  \
	X(bmax_itb)                                 \
	/* Shortest paths in layers of VCs. */      \
	X(dfsssp)                                   \
	X(lash)                                     \
	/* Regular networks. */                     \
	X(dmodk)                                    \
	X(dor)                                      \
	X(dor_o1turn)                               \
	X(valiant)                                  \
	X(ugal)                                     \
	X(df_min)                                   \
	X(df_valiant)                               \
	X(df_valiant_node)                          \
	X(df_ugal_l)                                \
	X(df_ugal_l_node)                           \
	X(df_ugal_g)                                \
	X(df_par)                                   \
	X(omni_war)                                 \
	X(dal)                                      \
	/* Several paths for one message stream. */ \
	X(disjoint)                                 \
	X(msp)

#define X(name) extern const struct route_algorithm route_##name;
ROUTE_ALGORITHMS(X)
#undef X

/* The list of algorithms. */
extern const struct name_table route_algorithms;

/* Algorithm i of the list, NULL after the last. */
static inline const struct route_algorithm *route_algorithm_at(unsigned i)
{
	return name_table_at(&route_algorithms, i);
}

/* Returns NULL if no algorithm has this name. */
static inline const struct route_algorithm *route_algorithm_find(const char *name)
{
	return name_table_find(&route_algorithms, name);
}

/* Routes of several algorithms in one set. The selectors that control latency choose between a set
 * with few or no ITBs and one that uses them freely, both computed on the same tree. Both are in
 * the network together, so they are stored and verified together. */

#define ROUTE_MERGE_MAX 4

/* Finds the algorithms of a text such as "ud" or "ud+ud-itb". Returns their number and stores them
 * in 'algorithms'; -ENOENT with the unknown part in 'unknown' (ROUTE_LABEL_MAX bytes); -E2BIG. */
int route_merge_find(const char *names, const struct route_algorithm *algorithms[ROUTE_MERGE_MAX],
	char *unknown);

/* Like route_compute() for several algorithms with the same options. Each pair has the routes of
 * the first algorithm, then the additional routes of the others; options->alternatives applies to
 * each. The origin names all, joined by '+'. Also -EINVAL if a pair would have more than
 * ROUTE_ALTERNATIVES_MAX routes, or VC rules differ. route_set_parts() returns the algorithms of a
 * route. */
struct route_set *route_merge_compute(const struct topology *topology,
	const struct route_algorithm *const *algorithms, unsigned count,
	const struct route_options *options, int *result, struct error *error);

/* Routes on demand: a route_set that computes the routes of a pair on first use, and keeps them.
 * Time and memory depend on the pairs that communicate, not on all pairs: 11,664 hosts have 136
 * million.
 *
 * Any thread may read at any time. A known pair takes no lock: each row of hosts with the same
 * routes has a hash table of destinations that only grows, and entries never move. A new pair takes
 * the lock of the set and, from time to time, allocates memory. */

struct route_demand;

/* For the set that 'maker' fills. Takes ownership of maker, options and graph, which were allocated
 * for it, unless it returns NULL with errno ENOMEM if out of memory. */
struct route_demand *route_demand_create(struct route_set *set, struct route_maker *maker,
	struct route_graph *graph, struct route_options *options);
void route_demand_destroy(struct route_demand *demand);

/* The entry of two different hosts: a count byte, and for each route a length byte and its
 * elements. Returns NULL if it could not be made; route_demand_failed() is true from then on. */
const uint8_t *route_demand_entry(
	struct route_demand *demand, uint32_t source, uint32_t destination);
bool route_demand_failed(const struct route_demand *demand);
/* The first error, to be read while no thread requests routes; "" if memory ran out or there was no
 * error. */
const char *route_demand_fault(const struct route_demand *demand);

/* Appends a route to the entry under construction; for route_set_add(). Returns -EINVAL if it
 * belongs to another pair; -ENOSPC. */
int route_demand_add(struct route_demand *demand, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length);

/* For every source host, adds to sum[source] the lengths of its first routes to all other hosts. */
void route_demand_sum(const struct route_demand *demand, uint64_t *sum);
