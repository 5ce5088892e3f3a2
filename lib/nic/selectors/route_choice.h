/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Selectors: which of the alternative routes to a destination a message takes (Flich's thesis,
 * sections 2.4, 3.3, 5.5 and 6.3). All frames of a message take the same route. A selector is one
 * struct route_choice_ops and one word in ROUTE_CHOICES (docs/developer/extending.md).
 *
 * Some selectors learn from earlier messages: the sender reports each message and the time that it
 * took to leave with route_choice_sent(). Some choose between route sets that several algorithms
 * computed on the same tree (route_algorithm.h), the one with the fewest ITBs first; 'sets' records
 * to which of them a route belongs.
 *
 * Everything is an integer; coefficients are in thousandths. No call does more than examine all
 * routes of one destination, at most ROUTE_CHOICE_ROUTES_MAX. One thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/name_table.h"
#include "base/rng.h"
#include "base/weft_time.h"

#define ROUTE_CHOICE_ROUTES_MAX 10
#define ROUTE_CHOICE_SETS_MAX   4
#define ROUTE_CHOICE_ONE        1000u /* a coefficient or constant of 1.0 */

struct route_choice;

/* The message that needs a route. */
struct route_choice_message {
	uint16_t destination;
	uint8_t count; /* routes to it, 2 or more */
	uint32_t bytes;
};

struct route_choice_ops {
	const char *name;
	const char *summary; /* the route that it takes, for the documentation */
	unsigned sets;       /* route sets that it chooses between; 0: it ignores them */
	bool fixed;          /* always the same route for a pair, so messages stay in order */
	bool learns;         /* needs the reports of route_choice_sent() */
	/* The index of a route, below message->count. */
	unsigned (*choose)(struct route_choice *choice, const struct route_choice_message *message);
	/* Route 'index' to the destination, one of 'count', had this coefficient. NULL if it does
	 * not learn. */
	void (*learn)(struct route_choice *choice, uint16_t destination, unsigned count,
		unsigned index, uint32_t coefficient);
};

/* Parameters of selectors; each uses those that it needs. */
struct route_choice_options {
	uint64_t rate_bps; /* injection rate; 0: it does not learn */
	uint32_t forget;   /* c_o: what coefficients lose with each message, thousandths */
	/* K: how much better a set's routes must be to be preferred to the first set's; for three
	 * sets two thresholds above 1.0. Thousandths. */
	uint32_t threshold[2];
	uint32_t short_bytes;   /* the longest message that counts as short */
	uint32_t first_set_ppm; /* share of the messages that take the first set */
	unsigned routes;        /* most routes of a destination; 0: ROUTE_CHOICE_ROUTES_MAX */
	/* Bit s of [destination][index], ROUTE_CHOICE_ROUTES_MAX per destination: the route belongs
	 * to set s. The caller's, constant. NULL: all belong to the only set. */
	const uint8_t *sets;
};

struct route_choice {
	const struct route_choice_ops *ops;
	struct route_choice_options options;
	struct rng rng;
	uint32_t hosts;
	uint64_t byte_fs;      /* time of a byte at the rate of injection, in 1e-15 s */
	uint8_t *next;         /* [hosts], round robin */
	uint32_t *coefficient; /* [hosts][options.routes], thousandths; NULL if it does not learn */
};

/* The thesis' constants: c_o = 0.1, K = 1 (and 2 for the third set), messages up to 64 bytes are
 * short, half of them in the first set. */
struct route_choice_options route_choice_options_default(void);

/* ops: NULL stands for "first". Returns 0 or -ENOMEM; random numbers depend on the seed and this
 * host. */
int route_choice_init(struct route_choice *choice, const struct route_choice_ops *ops,
	const struct route_choice_options *options, uint64_t seed, uint16_t host, uint32_t hosts);
void route_choice_fini(struct route_choice *choice);

/* The routes to the destination changed: forgets everything learnt about them. */
void route_choice_forget(struct route_choice *choice, uint16_t destination);

/* The index of the route for this message, below 'count', which is not 0. */
static inline unsigned route_choice_choose(
	struct route_choice *choice, uint16_t destination, unsigned count, uint32_t bytes)
{
	const struct route_choice_message message = {destination, (uint8_t)count, bytes};

	return count < 2 ? 0 : choice->ops->choose(choice, &message);
}

/* A message was sent over this route: its first bit could have left at start_ps, and its last bit
 * left at end_ps. 'bytes' includes everything that took time on the link in between, so the
 * coefficient is 1.0 if nothing held the message back. */
void route_choice_sent(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, weft_time start_ps, weft_time end_ps, uint32_t bytes);

/* True if route_choice_sent() is of use. */
static inline bool route_choice_learns(const struct route_choice *choice)
{
	return choice->coefficient != NULL;
}

/* The last coefficient of route 'index', minus what has faded since. */
static inline uint32_t *route_choice_coefficient(
	const struct route_choice *choice, uint16_t destination, unsigned index)
{
	return &choice->coefficient[(uint32_t)destination * choice->options.routes + index];
}

/* The sets of route 'index', as bits. */
static inline uint8_t route_choice_sets(
	const struct route_choice *choice, uint16_t destination, unsigned index)
{
	if (choice->options.sets == NULL)
		return 1;
	return choice->options.sets[(uint32_t)destination * ROUTE_CHOICE_ROUTES_MAX + index];
}

/* Parts of selectors. */

/* Figure 36: records the coefficient; the estimates of the other routes to the destination fade. */
void route_choice_note(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, uint32_t coefficient);

/* All selectors, route_choice_NAME each. */
#define ROUTE_CHOICES(X)  \
	X(first)          \
	X(random)         \
	X(round_robin)    \
	X(contention)     \
	X(message_length) \
	X(fraction)       \
	X(detect)         \
	X(three_sets)     \
	X(detect_short)

#define X(name) extern const struct route_choice_ops route_choice_##name;
ROUTE_CHOICES(X)
#undef X

/* The list of selectors. */
extern const struct name_table route_choices;

/* Returns NULL if no selector has this name. */
static inline const struct route_choice_ops *route_choice_find(const char *name)
{
	return name_table_find(&route_choices, name);
}
