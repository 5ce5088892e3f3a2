/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The roots of congestion at which a switch's packets contend: the ARN table of Rocher-Gonzalez et
 * al., "Congestion Management in High-Performance Interconnection Networks Using Adaptive Routing
 * Notifications", section 3.4, table 2 and pseudo-codes 1 to 4; readings: congestion.md.
 *
 * An entry states that packets for a destination and of a VC (the one of their queuing scheme, even
 * while they travel in the AFC) contend at a root. At the switch that acts, the entry is consumed:
 * those packets take its alternative port. At other switches it waits: each of those packets causes
 * the notification to be sent back through the packet's input. Entries live as long as they are
 * refreshed.
 *
 * The entries of one port may occupy at most as much space as is left free. However many
 * notifications a neighbour sends, it therefore neither replaces the entries of others nor takes
 * their space: N ports that send as much as they can leave one part in N + 1 free.
 *
 * A state machine: its owner sends and chooses ports. A bit per destination records whether it has
 * entries, so packets for other destinations cost one test. One thread; no allocation after
 * arn_table_create(). */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "base/weft_time.h"
#include "wire/control.h"

#define ARN_ENTRY_NONE     0xFFFF
#define ARN_ENTRIES_MAX    65534
#define ARN_NO_ALTERNATIVE 0xFF
#define ARN_BUCKETS        256 /* a power of two */

/* The port that packets of (destination, VC) take instead of 'port': the one with the most credits
 * in the AFC or in the VC. ARN_NO_ALTERNATIVE if there is none. */
typedef unsigned (*arn_alternative_fn)(void *ctx, uint16_t destination, uint8_t vc, uint8_t port);

struct arn_table_config {
	uint32_t hosts;   /* destinations */
	uint32_t entries; /* upper bound, up to ARN_ENTRIES_MAX */
	uint8_t stage; /* stage of this switch, 1 next to the hosts; 0: none, nothing is consumed */
	weft_time ttl_ps;     /* lifetime of an entry that is not refreshed */
	weft_time refresh_ps; /* minimum time between notifications of an entry to one port */
	arn_alternative_fn alternative;
	void *ctx;
	/* Readings (interpretations of the paper); false follows its text literally. */
	bool adapted_notify; /* packets with the adapted bit also cause waiting entries to be sent
			      * back */
	bool waiting_first;  /* if a consumed and a waiting entry match a packet, the waiting one is
			      * used */
	bool down_roots_to_hosts; /* a root on a downward output is for the hosts to handle, not for
				   * its stage - 1 */
	bool adapted_roots;       /* a root that the hosts handle makes an entry even if the
				   * responsible packet is adapted: the hosts must continue to
				   * act */
};

struct arn_entry {
	weft_time since_ps; /* when the notification was due, or when the root was found */
	weft_time refreshed_ps;
	port_set notified; /* ports that received it in 'interval' */
	uint32_t interval; /* current refresh_ps interval, by number */
	struct control_arn arn;
	uint8_t port; /* port through which packets leave towards the root, or that is the root */
	bool consumed;
	uint8_t alternative;   /* alternative that a consumed one took */
	uint16_t next;         /* in its bucket, or free */
	uint16_t older, newer; /* by refreshed_ps */
};

struct arn_table_counters {
	uint64_t created, refreshed, expired, replaced;
	uint64_t no_room;   /* notifications dropped because their port had used up its share */
	uint64_t forgotten; /* entries removed when the tables that they refer to were exchanged */
	uint64_t adapted;   /* packets that took an alternative */
	uint64_t sent_back; /* notifications */
};

struct arn_table {
	struct arn_table_config config;
	struct arn_entry *entry;
	uint64_t *marked; /* [hosts / 64]: destinations with an entry */
	uint16_t *bucket; /* [ARN_BUCKETS]: first entry of its destinations */
	uint16_t free;    /* given back */
	uint16_t used;    /* high-water mark */
	uint16_t oldest, newest;
	uint32_t count;
	uint16_t by_port[PORT_SET_PORTS]; /* how many of them per port */
	struct arn_table_counters counters;
};

/* Returns NULL with errno EINVAL (a number out of range, no way to choose alternatives) or
 * ENOMEM. */
struct arn_table *arn_table_create(const struct arn_table_config *config);
void arn_table_destroy(struct arn_table *table);

/* congestionRootDetected(), pseudo-code 1: makes the notification of a root at an upward or
 * downward output. The responsible packet goes to 'destination' and has the original VC 'vc'. */
struct control_arn arn_table_root(
	const struct arn_table *table, bool up, uint32_t id, uint16_t destination, uint8_t vc);

/* processARN(), pseudo-code 2: handles a notification that arrived on 'port', or a root of this
 * switch at the output 'port'. Only in the latter case may 'adapted' be true, which means that the
 * responsible packet is adapted. Returns the new entry, or NULL if none was made. */
struct arn_entry *arn_table_process(struct arn_table *table, const struct control_arn *arn,
	uint8_t port, bool adapted, weft_time now);

/* Removes entries that were not refreshed in time. Cheap when there are none. */
void arn_table_expire(struct arn_table *table, weft_time now);

/* Removes all entries, because their alternatives belong to tables that are being exchanged. The
 * switch's stage is 'stage' from now on. */
void arn_table_forget(struct arn_table *table, uint8_t stage);

/* When the oldest entry expires, or WEFT_TIME_NEVER. */
weft_time arn_table_next_due(const struct arn_table *table);

enum arn_verdict {
	ARN_IGNORE,      /* no entry concerns the packet */
	ARN_ALTERNATIVE, /* it takes the entry's alternative port and, with AFI, the adapted bit */
	ARN_SEND_BACK,   /* the entry's notification is sent through the packet's input port */
};

/* True if packets for this destination require a lookup. */
static inline bool arn_table_concerns(const struct arn_table *table, uint16_t destination)
{
	return table->count != 0 && destination < table->config.hosts &&
	       (table->marked[destination / 64] >> destination % 64 & 1) != 0;
}

/* inputPortController(), pseudo-code 4: a data packet arrived on 'input'. 'vc': its original VC.
 * '*entry' is valid until the table is changed. */
enum arn_verdict arn_table_match(struct arn_table *table, uint16_t destination, uint8_t vc,
	bool adapted, unsigned input, weft_time now, const struct arn_entry **entry);

/* Checks invariants, for tests and debug builds. Returns NULL, or a description of the
 * violation. */
const char *arn_table_check(const struct arn_table *table);
