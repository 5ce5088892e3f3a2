/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The output of ibnetdiscover, and hand-written listings for ibsim in the same form, line by line:
 * nodes, and for each node its connected ports with their far ends. This part resolves nothing;
 * ib_listing_topology() does. Texts point into the input, which must outlive the listing, or into
 * included files, which belong to the listing. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology_format.h"

struct ib_text {
	const char *start;
	uint32_t length;
};

/* The length to show of a text from the input, for "%.*s". */
static inline int ib_shown(struct ib_text text)
{
	return text.length < 40 ? (int)text.length : 40;
}

/* Switch 36 "S-0002c90200404780"	# "leaf 1" enhanced port 0 lid 3 lmc 0 */
struct ib_node {
	enum device_kind kind; /* channel adapters and routers are hosts */
	struct ib_text id;     /* the id with which other nodes refer to it */
	struct ib_text name;   /* the description, or the id if there is none */
	bool router;
	bool aggregation; /* by device id: an aggregation node, without traffic of its own */
	bool described;   /* Slurm: has a line of its own */
	bool disputed;    /* lines contradict each other about what it is */
	unsigned ports;
	uint64_t guid; /* GUID and LID are 0 if unknown */
	uint32_t lid;
	const char *origin; /* the file, for messages */
	uint32_t line, column;
	uint32_t order; /* order as in listing_reader.h */
};

/* [3]	"H-0002c903000a1b2c"[1](2c903000a1b2d) 		# "node1 HCA-1" lid 7 4xQDR */
struct ib_port {
	uint32_t node; /* node that it belongs to */
	unsigned port;
	struct ib_text peer, peer_name; /* its description; empty if the line has none */
	unsigned peer_port;             /* 0: not on the line */
	uint64_t rate_bps;              /* 0: not on the line */
	uint64_t guid;                  /* port; GUID and LID are 0 if the same as the node's */
	uint32_t lid;
	weft_time delay_ps;     /* WEFT_TIME_NEVER: not on the line */
	uint8_t widths, speeds; /* ibsim: the port's capabilities, as in PortInfo; 0: not given */
	const char *origin;
	uint32_t line, column; /* where the peer's name is */
};

/* An included file. */
struct ib_source {
	struct ib_source *next;
	char *text;
	char origin[];
};

struct ib_listing {
	const char *origin; /* for messages */
	bool twice;         /* both ends of a cable have a line */
	struct ib_node *node_at;
	struct ib_port *port_at; /* by node, in the order of the file */
	uint32_t nodes, ports, node_room, port_room;
	struct ib_source *sources;
};

/* Reads the lines. Returns 0; -EINVAL with FILE:LINE:COLUMN; -ENOENT, -EISDIR, … for an included
 * file; -ERANGE for an error that must not be skipped; or -ENOMEM. The caller frees the listing in
 * every case. */
int ib_listing_read(struct ib_listing *listing, const char *text, size_t length, const char *origin,
	struct topology_import *import, struct error *error);
void ib_listing_free(struct ib_listing *listing);

/* The described network: port n becomes port n - 1, and up to TOPOLOGY_PORTS_RUN cables of a switch
 * move from higher ports to ones without a cable; a channel adapter becomes a host for each
 * connected port, "NAME" or, if there are several, "NAME-pN". Unless strict, what contradicts
 * itself and what is not connected to the largest part is left out. Returns Returns NULL with errno
 * as for ib_listing_read(). */
struct topology *ib_listing_topology(
	struct ib_listing *listing, struct topology_import *import, struct error *error);

/* Parses a number up to 'max', in base 16 with or without 0x; false if the text is not one. */
bool ib_number(struct ib_text text, unsigned base, uint64_t max, uint64_t *number);

/* The rates of InfiniBand links as ibnetdiscover writes them: lanes and speed, such as 4xEDR. In
 * bits per second they are the nominal rates: 10Gbps for 4xSDR, 20 DDR, 40 QDR and FDR10, 56 FDR,
 * 100 EDR, 200 HDR, 400 NDR, 800 XDR. (The data rate is lower because of the line coding, 8b/10b up
 * to QDR.) */

#define IB_RATE_TEXT 16

/* Parses a text such as "4xEDR"; returns false if it is not a rate. */
bool ib_rate_parse(const char *text, size_t length, uint64_t *rate_bps);
/* ibsim's defaults. */
#define IB_WIDTH_4X  2
#define IB_SPEED_SDR 1

/* The rate of a link between ports of these widths (1: 1x, 2: 4x, 4: 8x, 8: 12x, 16: 2x) and speeds
 * (1: SDR, 2: DDR, 4: QDR), bits of PortInfo that both ends have; 0 if none. */
uint64_t ib_rate_of(uint8_t width_bits, uint8_t speed_bits);
/* The fastest link of at most 'rate_bps', SDR to NDR, four lanes if possible; 1xSDR if none.
 * Returns true if the rate is exact. */
bool ib_rate_format(uint64_t rate_bps, char text[IB_RATE_TEXT]);

/* Device names from untrusted texts: an invalid character becomes '_', and a name already in use
 * gets a number, "leaf", "leaf-2", "leaf-3". */

struct unique_names;

/* Returns NULL if out of memory. */
struct unique_names *unique_names_create(void);
void unique_names_destroy(struct unique_names *names);

/* The name for 'text' followed by 'ending' (valid, short, may be ""), different from all names
 * assigned so far. A valid text that is not in use is unchanged. Returns 0 or -ENOMEM. */
int unique_names_add(struct unique_names *names, const char *text, size_t length,
	const char *ending, char out[TOPOLOGY_NAME_MAX]);

/* Spells a text as a name; does not check for duplicates. */
void unique_names_spell(
	const char *text, size_t length, const char *ending, char out[TOPOLOGY_NAME_MAX]);
