/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Selectors: choose a message's route among the alternatives to its destination (Flich's thesis,
 * sections 2.4, 3.3, 5.5 and 6.3). All frames of a message take the same route. A selector has a
 * struct route_choice_ops and an entry in ROUTE_CHOICES (docs/developer/extending.md).
 *
 * Some selectors learn from earlier messages: the sender reports each message and its transmission
 * time with route_choice_sent(). Some choose between route sets that several algorithms computed on
 * the same tree (route_algorithm.h), the set with the fewest ITBs first; 'sets' records to which
 * sets a route belongs.
 *
 * Integer arithmetic only; coefficients are in thousandths. A call examines at most all routes of
 * one destination, ROUTE_CHOICE_ROUTES_MAX. Single-threaded. */

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
	uint8_t count; /* number of its routes, 2 or more */
	uint32_t bytes;
};

struct route_choice_ops {
	const char *name;
	const char *summary; /* the selected route, for the documentation */
	unsigned sets;       /* number of route sets that it chooses between; 0: ignores sets */
	bool fixed;  /* always selects the same route for a pair, so messages stay in order */
	bool learns; /* needs the reports of route_choice_sent() */
	/* Returns the index of a route, below message->count. */
	unsigned (*choose)(struct route_choice *choice, const struct route_choice_message *message);
	/* Records the coefficient of route 'index' to the destination, one of 'count'. NULL if the
	 * selector does not learn. */
	void (*learn)(struct route_choice *choice, uint16_t destination, unsigned count,
		unsigned index, uint32_t coefficient);
};

/* Parameters of selectors. Each selector uses only some of them. */
struct route_choice_options {
	uint64_t rate_bps; /* injection rate; 0: no learning */
	uint32_t forget;   /* c_o: decrease of coefficients per message, thousandths */
	/* K: how far a set's best coefficient may exceed 1.0 before the next set is used; two
	 * thresholds for three sets. Thousandths. */
	uint32_t threshold[2];
	uint32_t short_bytes;   /* maximum size of a short message */
	uint32_t first_set_ppm; /* share of messages that use the first set */
	unsigned routes;        /* maximum routes per destination; 0: ROUTE_CHOICE_ROUTES_MAX */
	/* Bit s of [destination][index], ROUTE_CHOICE_ROUTES_MAX per destination: the route belongs
	 * to set s. Owned by the caller, constant. NULL: all routes belong to a single set. */
	const uint8_t *sets;
};

struct route_choice {
	const struct route_choice_ops *ops;
	struct route_choice_options options;
	struct rng rng;
	uint32_t hosts;
	uint64_t byte_fs;      /* transmission time of a byte at the injection rate, in 1e-15 s */
	uint8_t *next;         /* [hosts] next route in round robin */
	uint32_t *coefficient; /* [hosts][options.routes] in thousandths; NULL: no learning */
};

/* Returns the thesis' constants: c_o = 0.1, K = 1 (2 for the second threshold), short messages up
 * to 64 bytes, half of the messages in the first set. */
struct route_choice_options route_choice_options_default(void);

/* 'ops' NULL: "first". Random numbers depend on the seed and 'host'. Returns 0 or -ENOMEM. */
int route_choice_init(struct route_choice *choice, const struct route_choice_ops *ops,
	const struct route_choice_options *options, uint64_t seed, uint16_t host, uint32_t hosts);
void route_choice_fini(struct route_choice *choice);

/* Discards the estimates of a destination whose routes have changed. */
void route_choice_forget(struct route_choice *choice, uint16_t destination);

/* Returns the route index for this message, below 'count', which must not be 0. */
static inline unsigned route_choice_choose(
	struct route_choice *choice, uint16_t destination, unsigned count, uint32_t bytes)
{
	const struct route_choice_message message = {destination, (uint8_t)count, bytes};

	return count < 2 ? 0 : choice->ops->choose(choice, &message);
}

/* Reports a message sent over this route: its first bit could have been sent at start_ps, and its
 * last bit was sent at end_ps. 'bytes' includes all traffic on the link in between, so the
 * coefficient is 1.0 if nothing delayed the message. */
void route_choice_sent(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, weft_time start_ps, weft_time end_ps, uint32_t bytes);

/* Returns true if the selector uses route_choice_sent(). */
static inline bool route_choice_learns(const struct route_choice *choice)
{
	return choice->coefficient != NULL;
}

/* Returns the last coefficient of route 'index', minus its decay since then. */
static inline uint32_t *route_choice_coefficient(
	const struct route_choice *choice, uint16_t destination, unsigned index)
{
	return &choice->coefficient[(uint32_t)destination * choice->options.routes + index];
}

/* Returns the sets of route 'index', as bits. */
static inline uint8_t route_choice_sets(
	const struct route_choice *choice, uint16_t destination, unsigned index)
{
	if (choice->options.sets == NULL)
		return 1;
	return choice->options.sets[(uint32_t)destination * ROUTE_CHOICE_ROUTES_MAX + index];
}

/* Helpers of selectors. */

/* Figure 36: records the coefficient, and decays the estimates of the other routes. */
void route_choice_note(struct route_choice *choice, uint16_t destination, unsigned count,
	unsigned index, uint32_t coefficient);

/* All selectors; each is named route_choice_NAME. */
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

extern const struct name_table route_choices;

/* Returns NULL if no selector has this name. */
static inline const struct route_choice_ops *route_choice_find(const char *name)
{
	return name_table_find(&route_choices, name);
}
