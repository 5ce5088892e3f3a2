/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The ARN table of a switch: the roots of congestion at which its packets contend. See
 * Rocher-Gonzalez et al., "Congestion Management in High-Performance Interconnection Networks Using
 * Adaptive Routing Notifications", section 3.4, table 2 and pseudo-codes 1 to 4; readings:
 * congestion.md.
 *
 * An entry states that packets for a destination and VC contend at a root. The VC is the one that
 * the queuing scheme chose, even while the packets travel in the AFC. At the switch that acts, the
 * entry is consumed: those packets take its alternative port. At other switches the entry is
 * waiting: each of those packets causes the notification to be sent back through the packet's
 * input. Entries that are not refreshed expire.
 *
 * The entries of one port may occupy at most as much space as is left free. A neighbour that sends
 * many notifications therefore cannot replace the entries of other ports or exhaust the table: even
 * if N ports send as many as they can, 1 / (N + 1) of it stays free.
 *
 * A state machine: its owner sends frames and chooses ports. One bit per destination records
 * whether entries exist, so packets for other destinations cost one test. Single-threaded; no
 * allocation after arn_table_create(). */

#include <stdbool.h>
#include <stdint.h>

#include "base/port_set.h"
#include "base/weft_time.h"
#include "wire/control.h"

#define ARN_ENTRY_NONE     0xFFFF
#define ARN_ENTRIES_MAX    65534
#define ARN_NO_ALTERNATIVE 0xFF
#define ARN_BUCKETS        256 /* a power of two */

/* Returns the port that packets of (destination, VC) take instead of 'port', the one with the most
 * credits in the AFC or in the VC; ARN_NO_ALTERNATIVE if there is none. */
typedef unsigned (*arn_alternative_fn)(void *ctx, uint16_t destination, uint8_t vc, uint8_t port);

struct arn_table_config {
	uint32_t hosts;       /* number of destinations */
	uint32_t entries;     /* capacity, at most ARN_ENTRIES_MAX */
	uint8_t stage;        /* 1 next to the hosts; 0: none, entries are never consumed */
	weft_time ttl_ps;     /* lifetime of an entry that is not refreshed */
	weft_time refresh_ps; /* minimum time between notifications of one entry to one port */
	arn_alternative_fn alternative;
	void *ctx;
	/* Readings (interpretations of the paper); false follows its text literally. */
	bool adapted_notify;      /* adapted packets also cause waiting entries to be sent back */
	bool waiting_first;       /* prefer a matching waiting entry to a matching consumed one */
	bool down_roots_to_hosts; /* the hosts handle a root on a downward output, instead of stage
				     - 1 */
	bool adapted_roots; /* a root that the hosts handle creates an entry even if the responsible
			       packet is adapted, because the hosts must continue to act */
};

struct arn_entry {
	weft_time since_ps; /* when the notification was due, or the root was found */
	weft_time refreshed_ps;
	port_set notified; /* ports notified in 'interval' */
	uint32_t interval; /* number of the refresh_ps interval */
	struct control_arn arn;
	uint8_t port; /* output port towards the root, or the root itself */
	bool consumed;
	uint8_t alternative;   /* chosen port of a consumed entry */
	uint16_t next;         /* next entry in the bucket or free list */
	uint16_t older, newer; /* list in order of refreshed_ps */
};

struct arn_table_counters {
	uint64_t created, refreshed, expired, replaced;
	uint64_t no_room;   /* notifications dropped because their port had used its share */
	uint64_t forgotten; /* entries removed when the routing tables were exchanged */
	uint64_t adapted;   /* packets that took an alternative */
	uint64_t sent_back; /* notifications sent back */
};

struct arn_table {
	struct arn_table_config config;
	struct arn_entry *entry;
	uint64_t *marked; /* [hosts / 64]: destinations with an entry */
	uint16_t *bucket; /* [ARN_BUCKETS]: first entry of a bucket of destinations */
	uint16_t free;    /* head of the free list */
	uint16_t used;    /* high-water mark */
	uint16_t oldest, newest;
	uint32_t count;
	uint16_t by_port[PORT_SET_PORTS]; /* entries per port */
	struct arn_table_counters counters;
};

/* Returns NULL with errno EINVAL (a number out of range, no 'alternative' function) or ENOMEM. */
struct arn_table *arn_table_create(const struct arn_table_config *config);
void arn_table_destroy(struct arn_table *table);

/* congestionRootDetected(), pseudo-code 1: returns the notification for a root at an upward ('up')
 * or downward output. The responsible packet goes to 'destination' and has the original VC 'vc'. */
struct control_arn arn_table_root(
	const struct arn_table *table, bool up, uint32_t id, uint16_t destination, uint8_t vc);

/* processARN(), pseudo-code 2: handles a notification that arrived on 'port', or a root of this
 * switch at the output 'port'. 'adapted' is true if the responsible packet of a root is adapted;
 * false for notifications. Returns the new entry, or NULL if none was created. */
struct arn_entry *arn_table_process(struct arn_table *table, const struct control_arn *arn,
	uint8_t port, bool adapted, weft_time now);

/* Removes expired entries. Cheap when there are none. */
void arn_table_expire(struct arn_table *table, weft_time now);

/* Removes all entries, because their alternatives belong to routing tables that are being replaced.
 * Sets the switch's stage. */
void arn_table_forget(struct arn_table *table, uint8_t stage);

/* Returns when the oldest entry expires, or WEFT_TIME_NEVER. */
weft_time arn_table_next_due(const struct arn_table *table);

enum arn_verdict {
	ARN_IGNORE,      /* no matching entry */
	ARN_ALTERNATIVE, /* send the packet through the entry's alternative port, with AFI adapted
			  */
	ARN_SEND_BACK,   /* send the entry's notification through the packet's input port */
};

/* Returns true if packets for this destination require a lookup. */
static inline bool arn_table_concerns(const struct arn_table *table, uint16_t destination)
{
	return table->count != 0 && destination < table->config.hosts &&
	       (table->marked[destination / 64] >> destination % 64 & 1) != 0;
}

/* inputPortController(), pseudo-code 4: call for each data packet that arrives on 'input' with the
 * original VC 'vc'. '*entry' stays valid until the table changes. */
enum arn_verdict arn_table_match(struct arn_table *table, uint16_t destination, uint8_t vc,
	bool adapted, unsigned input, weft_time now, const struct arn_entry **entry);

/* Checks invariants, for tests and debug builds. Returns NULL or a description of the violation. */
const char *arn_table_check(const struct arn_table *table);
