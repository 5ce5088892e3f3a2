/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The output of ibnetdiscover, and handwritten listings for ibsim in the same format: nodes, and
 * for each node its connected ports with their far ends. Reading does not resolve references;
 * ib_listing_topology() does. Texts point into the input, which must outlive the listing, or into
 * included files, which the listing owns. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "topology_format.h"

struct ib_text {
	const char *start;
	uint32_t length;
};

/* Returns the length of a text from the input in messages, for "%.*s". */
static inline int ib_shown(struct ib_text text)
{
	return text.length < 40 ? (int)text.length : 40;
}

/* Switch 36 "S-0002c90200404780"	# "leaf 1" enhanced port 0 lid 3 lmc 0 */
struct ib_node {
	enum device_kind kind; /* channel adapters and routers are hosts */
	struct ib_text id;     /* id by which other nodes refer to this one */
	struct ib_text name;   /* the description, or the id if there is none */
	bool router;
	bool aggregation; /* aggregation node (from the device id), without own traffic */
	bool described;   /* Slurm: the node has its own line */
	bool disputed;    /* lines contradict each other about the node */
	unsigned ports;
	uint64_t guid; /* GUID and LID are 0 if unknown */
	uint32_t lid;
	const char *origin; /* file name for messages */
	uint32_t line, column;
	uint32_t order; /* sort key (listing_reader.h) */
};

/* [3]	"H-0002c903000a1b2c"[1](2c903000a1b2d) 		# "node1 HCA-1" lid 7 4xQDR */
struct ib_port {
	uint32_t node; /* the node that has the port */
	unsigned port;
	struct ib_text peer, peer_name; /* description of the peer; empty if not on the line */
	unsigned peer_port;             /* 0 if not on the line */
	uint64_t rate_bps;              /* 0 if not on the line */
	uint64_t guid; /* port GUID; GUID and LID are 0 if the same as the node's */
	uint32_t lid;
	weft_time delay_ps; /* WEFT_TIME_NEVER if not on the line */
	uint8_t widths,
		speeds; /* ibsim: the port's capabilities, as in PortInfo; 0 if not specified */
	const char *origin;
	uint32_t line, column; /* position of the peer's name */
};

/* An included file. */
struct ib_source {
	struct ib_source *next;
	char *text;
	char origin[];
};

struct ib_listing {
	const char *origin; /* for messages */
	bool twice;         /* both ends of a cable should have a line */
	struct ib_node *node_at;
	struct ib_port *port_at; /* ordered by node, then as in the file */
	uint32_t nodes, ports, node_room, port_room;
	struct ib_source *sources;
};

/* Reads the lines. Returns 0; -EINVAL with FILE:LINE:COLUMN; -ENOENT, -EISDIR, … for an included
 * file; -ERANGE for an error that must not be skipped; or -ENOMEM. The caller must always free the
 * listing. */
int ib_listing_read(struct ib_listing *listing, const char *text, size_t length, const char *origin,
	struct topology_import *import, struct error *error);
void ib_listing_free(struct ib_listing *listing);

/* Returns the described network. Port n becomes port n - 1, except that up to TOPOLOGY_PORTS_RUN
 * cables of a switch move from higher ports to lower ports without a cable. A channel adapter
 * becomes a host with a port for each connected port. Unless strict, contradictions and everything
 * not connected to the largest part are left out. Returns NULL with errno as for ib_listing_read().
 */
struct topology *ib_listing_topology(
	struct ib_listing *listing, struct topology_import *import, struct error *error);

/* Parses a number up to 'max'; in base 16, 0x is optional. Returns false for other texts. */
bool ib_number(struct ib_text text, unsigned base, uint64_t max, uint64_t *number);

/* The rates of InfiniBand links as ibnetdiscover writes them: lanes and speed, such as 4xEDR. The
 * corresponding nominal rates are 10Gbps for 4xSDR, 20 DDR, 40 QDR and FDR10, 56 FDR, 100 EDR, 200
 * HDR, 400 NDR, 800 XDR. (The data rate is lower because of the line coding, 8b/10b up to QDR.) */

#define IB_RATE_TEXT 16

/* Parses a text such as "4xEDR". Returns false if it is not a rate. */
bool ib_rate_parse(const char *text, size_t length, uint64_t *rate_bps);
/* ibsim's defaults. */
#define IB_WIDTH_4X  2
#define IB_SPEED_SDR 1

/* Returns the rate of a link from the PortInfo bits that both ends support, widths (1: 1x, 2: 4x,
 * 4: 8x, 8: 12x, 16: 2x) and speeds (1: SDR, 2: DDR, 4: QDR); 0 if there are none. */
uint64_t ib_rate_of(uint8_t width_bits, uint8_t speed_bits);
/* Writes the fastest link of at most 'rate_bps', SDR to NDR, preferably with four lanes; 1xSDR if
 * none is slow enough. Returns true if the rate is exact. */
bool ib_rate_format(uint64_t rate_bps, char text[IB_RATE_TEXT]);

/* Device names from untrusted text. Invalid characters become '_', and a duplicate name gets a
 * number: "leaf", "leaf-2", "leaf-3". */

struct unique_names;

/* Returns NULL if out of memory. */
struct unique_names *unique_names_create(void);
void unique_names_destroy(struct unique_names *names);

/* Writes a name for 'text' followed by 'ending' (valid, short, may be "") that differs from all
 * names assigned before. Valid text that is not in use is unchanged. Returns 0 or -ENOMEM. */
int unique_names_add(struct unique_names *names, const char *text, size_t length,
	const char *ending, char out[TOPOLOGY_NAME_MAX]);

/* Converts text to a valid name. Does not check for duplicates. */
void unique_names_spell(
	const char *text, size_t length, const char *ending, char out[TOPOLOGY_NAME_MAX]);
