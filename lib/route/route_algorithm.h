/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The interface of routing algorithms.
 *
 * Contents       one struct route_algorithm for each entry of ROUTE_ALGORITHMS
 * Input          a topology (as a route_graph) and struct route_options; nothing else
 * Output         a set of source routes (route_set.h), destination tables (route_table.h), or both
 * Callers        runs and labs (fabric_routes.h), the mapper, 'weft route compute'; any thread, and
 *                concurrently: an algorithm has no state
 * Failure        0 or -errno with an error; -EINVAL if the algorithm does not support the network
 * Verification   route_verify.h, which is independent of the algorithms
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

/* Makers route pair by pair, for algorithms that can route a pair of hosts independently of the
 * other pairs. route_maker_fill() computes the routes of all pairs. A set with routes on demand
 * (route_algorithm.h) computes the routes of a pair on first use. Both produce the same routes.
 *
 * Constant after creation, except for the scratch space, which belongs to one thread. */

struct route_options;

struct route_maker {
	const struct route_graph *graph;
	const struct route_options *options;
	/* Every pair of hosts has a route of at most ROUTE_LINKS_USUAL links, no route has an
	 * in-transit buffer, and lengths are known. If false, the routes of all pairs must be
	 * computed before first use, and 'row' and 'elements' are not called. */
	bool complete;
	/* Adds the routes of two different hosts, both connected to switches. Returns 0, -ENOMEM,
	 * or -EINVAL with error set if a route does not fit into a frame. */
	int (*add)(const struct route_maker *maker, void *scratch, struct route_set *set,
		uint32_t source, uint32_t destination, struct error *error);
	/* Returns the row of a host, below twice the number of switches. Hosts of a row have the
	 * same routes to all other hosts. NULL: each host has its own routes. */
	uint32_t (*row)(const struct route_maker *maker, uint32_t host);
	/* Returns the number of elements of the first route between hosts of these switches. */
	unsigned (*elements)(const struct route_maker *maker, uint32_t from, uint32_t to);
	/* Returns NULL if out of memory. Itself NULL if 'add' needs no scratch space. */
	void *(*scratch_create)(const struct route_maker *maker);
	void (*scratch_destroy)(void *scratch);
	void (*destroy)(struct route_maker *maker);
};

/* Creates a maker, and sets the VC rule of the empty set. Graph and options must outlive the maker.
 * Errors as for route_algorithm.routes; '*maker' is then NULL. */
typedef int (*route_maker_fn)(const struct route_graph *graph, const struct route_options *options,
	struct route_set *set, struct route_maker **maker, struct error *error);

/* Fills an empty set: route_algorithm.routes for an algorithm with route_algorithm.pairs. */
int route_maker_fill(route_maker_fn make, const struct route_graph *graph,
	const struct route_options *options, struct route_set *set, struct error *error);

enum route_granularity {
	ROUTE_PER_HOST_PAIR,   /* each pair of hosts has its own choice */
	ROUTE_PER_SWITCH_PAIR, /* hosts of the same two switches share the choice */
};

#define ROUTE_RADIUS_MAX 4

/* The transition between two steps of a path: a route element that switches skip and VC classes
 * follow, or a host of the switch that absorbs and re-injects the packet (an in-transit buffer). */
enum route_steps { ROUTE_STEPS_NEXT, ROUTE_STEPS_ITB };

/* The choice among equally good paths in grids: drawn for each pair of switches or hosts and each
 * dimension, or by port number and equal for all pairs. */
enum route_ties { ROUTE_TIES_SEED, ROUTE_TIES_PORT };

struct route_options {
	uint64_t seed;
	uint32_t root;         /* root switch of a tree; default: 0, the first */
	unsigned alternatives; /* 0: the algorithm's default; at most ROUTE_ALTERNATIVES_MAX */
	unsigned jobs;         /* threads; 0 means 1 */
	unsigned radius; /* msp: maximum links from either end to its intermediate node; 0: 1 */
	enum route_steps steps; /* msp only */
	enum route_ties ties;   /* dor and msp only */
	enum route_granularity granularity;
	/* VC classes of the switches; 0: no limit. Routes that need more are not computed; the set
	 * or table then contains only the VC rule. */
	unsigned classes;
	/* The set may compute routes on demand, if the algorithm supports it
	 * (route_algorithm.pairs). The topology must then outlive the set. */
	bool on_demand;
};

/* Labels each arc up (true) or down for the tree rooted at 'root'. Every closed chain of arcs
 * contains an up arc that follows a down arc. Returns 0 or -ENOMEM. */
typedef int (*route_label_fn)(
	const struct route_graph *graph, uint32_t root, bool *up, struct error *error);

/* Returns true if the switches have the classes of the rule, which may be NULL. */
static inline bool route_options_allow(
	const struct route_options *options, const struct vc_rule *rule)
{
	return options->classes == 0 || rule == NULL || rule->classes <= options->classes;
}

struct route_algorithm {
	const char *name;
	const char *summary;                /* one line, shown by 'weft route algorithms' */
	const struct route_algorithm *wide; /* variant for switches with more than 64 ports */
	bool deadlock_free;                 /* the algorithm guarantees this */
	unsigned alternatives;              /* default number of routes per pair; 0: 1 */
	bool adaptive;   /* tables may give a switch several ports to choose from */
	bool vc_classes; /* routes may need VC classes (vc_rule.h) */
	bool steps;      /* paths have several steps; uses options->radius */
	bool ties;       /* uses options->ties */
	/* enum vc_steps: switches take detours on this ladder of VCs (vc_ladder.h), so packets may
	 * be reordered. VC_STEPS_NONE: no detours. */
	uint8_t ladder;
	/* Default selector (lib/nic/selectors/route_choice.h), with which interfaces choose among
	 * the routes of a pair; NULL: "first". */
	const char *selector;
	/* Computes the labels that the routes obey, or at whose forbidden turns ITBs are placed;
	 * uses options->root. NULL: no tree. */
	route_label_fn label;
	/* Fills an empty set; options->alternatives is not 0. Unconnected pairs get no route, which
	 * is not an error here (route_set_check_connected). NULL: the algorithm only has tables. */
	int (*routes)(const struct route_graph *graph, const struct route_options *options,
		struct route_set *set, struct error *error);
	/* Computes the same routes pair by pair. NULL: routing a pair requires all pairs, or some
	 * routes have in-transit buffers. */
	route_maker_fn pairs;
	/* Fills an empty table in the same manner. NULL: the algorithm only has routes. */
	int (*tables)(const struct route_graph *graph, const struct route_options *options,
		struct route_table *table, struct error *error);
};

/* Compute routes or destination tables for a finished topology. The caller owns the result. Return
 * NULL on failure, with error set and '*result' -ENOMEM, or -EINVAL if the algorithm does not
 * support the request. 'result' may be NULL. */
struct route_set *route_compute(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options, int *result,
	struct error *error);
struct route_table *route_compute_table(const struct topology *topology,
	const struct route_algorithm *algorithm, const struct route_options *options, int *result,
	struct error *error);

/* All algorithms (route_NAME), in the order in which they are listed. */
#define ROUTE_ALGORITHMS(X)                         \
	/* Reference. */                            \
	X(minhop)                                   \
	/* Trees, without ITBs. */                  \
	X(up_down)                                  \
	X(ud_random)                                \
	X(ud_rr)                                    \
	X(ud_det)                                   \
	X(depth_first)                              \
	/* Balanced by a linear program. */         \
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

/* Returns algorithm i of the list; NULL after the last. */
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
 * with few or no ITBs and a set that uses ITBs freely, both computed on the same tree. Both are in
 * the network at the same time, so they are stored and verified together. */

#define ROUTE_MERGE_MAX 4

/* Finds the algorithms of a text such as "ud" or "ud+ud-itb". Stores them and returns their number,
 * -E2BIG, or -ENOENT with the unknown part in 'unknown' (ROUTE_LABEL_MAX bytes). */
int route_merge_find(const char *names, const struct route_algorithm *algorithms[ROUTE_MERGE_MAX],
	char *unknown);

/* Like route_compute(), for several algorithms with the same options. Each pair has the routes of
 * the first algorithm, then the additional routes of the others. options->alternatives applies to
 * each algorithm. The origin contains all names, joined by '+'. '*result' is also -EINVAL if a pair
 * would have more than ROUTE_ALTERNATIVES_MAX routes, or VC rules differ. route_set_parts() returns
 * the algorithms of a route. */
struct route_set *route_merge_compute(const struct topology *topology,
	const struct route_algorithm *const *algorithms, unsigned count,
	const struct route_options *options, int *result, struct error *error);

/* Routes on demand: a route_set that computes the routes of a pair on first use, and stores them.
 * Time and memory depend on the pairs that communicate, not on all pairs: 11,664 hosts have 136
 * million.
 *
 * Any thread may read at any time. Reading a known pair takes no lock: each row of hosts with the
 * same routes has a hash table of destinations that only grows, and entries never move. A new pair
 * takes the lock of the set and occasionally allocates memory. */

struct route_demand;

/* Creates routes on demand for the set that 'maker' fills. Takes ownership of maker, options and
 * graph, which must be allocated for it. On failure takes no ownership, and returns NULL with errno
 * ENOMEM. */
struct route_demand *route_demand_create(struct route_set *set, struct route_maker *maker,
	struct route_graph *graph, struct route_options *options);
void route_demand_destroy(struct route_demand *demand);

/* Returns the entry of two different hosts: a count byte, and for each route a length byte and its
 * elements. Returns NULL if the entry could not be created; route_demand_failed() is then true. */
const uint8_t *route_demand_entry(
	struct route_demand *demand, uint32_t source, uint32_t destination);
bool route_demand_failed(const struct route_demand *demand);
/* Returns the first error; "" if there was none, or if out of memory. Must not run while a thread
 * requests routes. */
const char *route_demand_fault(const struct route_demand *demand);

/* Appends a route to the entry under construction, for route_set_add(). Returns 0, -ENOSPC, or
 * -EINVAL if the route belongs to a different pair. */
int route_demand_add(struct route_demand *demand, uint32_t source, uint32_t destination,
	const uint8_t *route, unsigned length);

/* Adds to sum[source], for each source host, the lengths of its first routes to all other hosts. */
void route_demand_sum(const struct route_demand *demand, uint64_t *sum);
