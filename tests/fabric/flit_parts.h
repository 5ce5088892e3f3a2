/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The parts of the flit model, for flit_model.c, flit_switch.c and flit_host.c. */

#include "flit_model.h"

struct flit {
	uint32_t message;
	uint32_t index; /* in the message; 0 is the header */
	uint8_t cursor; /* headers: the next route element */
};

enum flit_symbol { SYMBOL_NONE, SYMBOL_STOP, SYMBOL_GO };

/* One direction of a cable. */
struct flit_link {
	bool exists;
	struct topology_port from, to;
	unsigned flight; /* cycles from end to end */
	/* The ring of flits in flight; 'now' is the place for this cycle. */
	unsigned now;
	bool full[FLIT_FLIGHT_MAX];
	struct flit flit[FLIT_FLIGHT_MAX];
	/* The same for symbols, in the reverse direction. */
	uint8_t symbol[FLIT_FLIGHT_MAX]; /* enum flit_symbol */
	bool stopped;                    /* the last symbol received by the sender was STOP */
	uint64_t carried, stopped_cycles;
};

/* A switch port as an input: the slack buffer behind the link. */
struct flit_input {
	unsigned used;        /* slots; slot 0 is the front */
	bool told_stop;       /* the last symbol sent was STOP */
	int output;           /* the port granted to its front message, or -1 */
	uint64_t granted;     /* the cycle in which it was */
	uint64_t front_since; /* the first cycle of the front message at the front */
	struct flit slot[FLIT_SLOTS_MAX];
};

/* A switch port as an output. */
struct flit_output {
	bool busy;     /* granted to an input whose tail has not left */
	unsigned turn; /* the input that comes first next time */
};

struct flit_switch {
	unsigned ports;
	struct flit_input *input;
	struct flit_output *output;
};

/* A message in transit at a host, or its part that has arrived. */
struct flit_visit {
	uint32_t message;
	uint8_t cursor;    /* behind the mark */
	uint64_t ready;    /* the cycle from which it may be chosen */
	uint32_t received; /* flits */
	uint32_t sent;
};

struct flit_host {
	/* Own messages, in order of their cycles, then of the list. */
	uint32_t *own;
	uint32_t own_count, own_next;
	/* Messages in transit, in the order of their headers' arrival. */
	struct flit_visit *visit;
	uint32_t visits, visit_next, visit_room;
	uint64_t pool_used;
	unsigned in_transit_since_own;
	/* Reception. */
	enum { TAKING_NOTHING, TAKING_DELIVERY, TAKING_VISIT, TAKING_WASTE } taking;
	uint32_t taken; /* flits of it */
	/* Transmission. */
	enum { SENDING_NOTHING, SENDING_OWN, SENDING_VISIT } sending;
	uint64_t may_leave; /* the cycle from which its header may */
	uint32_t sent;      /* flits of it */
};

struct flit_model {
	const struct topology *topology;
	struct flit_parameters parameters;
	const struct flit_message *message;
	uint32_t messages;
	struct flit_fate *fate;
	uint32_t ended; /* messages delivered or discarded to the last flit */

	uint64_t cycle;
	uint64_t moved; /* the last cycle in which a flit did */
	uint64_t last;  /* the last cycle in which a host gets a message */
	unsigned ports; /* ports of the widest switch */
	uint32_t links;
	struct flit_link *link; /* by sender, see flit_link_of() */
	struct flit_switch *switch_at;
	struct flit_host *host_at;

	struct flit_mark *mark;
	size_t marks, mark_room;
	uint64_t injected, delivered, wasted; /* flits */
	unsigned fullest;
	uint64_t pool_peak;
	const char *broken;
};

/* The link that leaves by this port. */
struct flit_link *flit_link_of(struct flit_model *model, struct topology_port sender);
/* Puts a flit on a link, at most one per cycle. */
void flit_link_send(struct flit_model *model, struct flit_link *link, struct flit flit);
/* Notes the first rule that was broken. */
void flit_model_break(struct flit_model *model, const char *what);

static inline bool flit_is_tail(const struct flit_model *model, struct flit flit)
{
	return flit.index + 1 == model->message[flit.message].bytes;
}

void flit_switch_take(struct flit_model *model, struct topology_port port, struct flit flit);
void flit_switch_grant(struct flit_model *model, uint32_t number);
void flit_switch_cross(struct flit_model *model, uint32_t number);
/* Returns the symbol that the buffer at a port sends in this cycle, if any. */
enum flit_symbol flit_switch_symbol(struct flit_model *model, struct topology_port port);

void flit_host_take(struct flit_model *model, uint32_t number, struct flit flit);
void flit_host_choose(struct flit_model *model, uint32_t number);
void flit_host_send(struct flit_model *model, uint32_t number);
