/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The topology model: switches and hosts (devices), their ports, and links. Switches are numbered
 * 0..switches-1, and hosts 0..hosts-1 separately. A finished topology is constant, and any thread
 * may read it.
 *
 * A host with several ports has an entry for each of them, named "h0:0", "h0:1", …. Routes, credits
 * and measurements are per entry, so "host" in other headers means an entry. topology_hosts.h
 * groups them.
 *
 * A topology is created by a generator (topology_generate), from a file (topology_load) or by calls
 * (topology_create, topology_add_link, topology_finish). The creator owns it; see
 * topology_destroy(). */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/name_table.h"
#include "base/weft_error.h"
#include "base/weft_time.h"

#define TOPOLOGY_PORTS_MAX      255 /* per switch: port numbers are bytes, and 255 means none */
#define TOPOLOGY_PORTS_RUN      64  /* per switch, for code that keeps a set of ports in one word */
#define TOPOLOGY_HOSTS_MAX      65536 /* host numbers have 16 bits in the frame */
#define TOPOLOGY_SWITCHES_MAX   65535
#define TOPOLOGY_NAME_MAX       64
#define TOPOLOGY_NO_STAGE       0
#define TOPOLOGY_HOST_PORTS_MAX 8

enum device_kind { DEVICE_SWITCH, DEVICE_HOST };

struct topology_device {
	char name[TOPOLOGY_NAME_MAX];
	uint8_t ports;  /* for a host: ports of the whole host, up to the last */
	uint8_t rail;   /* for a host: number of this port */
	uint8_t stage;  /* for a switch: 1 next to the hosts, or TOPOLOGY_NO_STAGE */
	bool cut_off;   /* for a host: topology_without() removed its link */
	bool absent;    /* removed from a running lab: keeps its number, has no links */
	uint32_t line;  /* in the file that defines the device; 0 if generated */
	uint32_t owner; /* for a host: the entry of its first port */
	uint32_t next;  /* for a host: the entry of its next port; 0 after the last */
	uint32_t plane; /* for a host: topology_planes(), before failures; 0 if all hosts have one
			   port */
	uint32_t home;  /* for a host: 1 + the switch that lost the link to it (topology_without());
			   0: none */
};

/* A port of a device, as one end of a link. */
struct topology_port {
	enum device_kind kind;
	uint32_t device;
	uint8_t port;
};

struct topology_link {
	struct topology_port a, b;
	uint64_t rate_bps;
	weft_time delay_ps;
	bool given; /* rate or delay is not Weft's default */
	uint32_t line;
};

static inline bool topology_link_is_inner(const struct topology_link *link)
{
	return link->a.kind == DEVICE_SWITCH && link->b.kind == DEVICE_SWITCH;
}

static inline bool topology_port_is(struct topology_port a, struct topology_port b)
{
	return a.kind == b.kind && a.device == b.device && a.port == b.port;
}

#define TOPOLOGY_VLAN_MAX 4094

/* The local device that implements a port (labs only). */
struct topology_binding {
	struct topology_port port;
	char dpdk[128]; /* PCI address or vdev arguments */
	uint16_t vlan;  /* VLAN tag of the port's frames; 0: none */
};

struct topology {
	char name[TOPOLOGY_NAME_MAX];
	uint64_t default_rate_bps;
	weft_time default_delay_ps;
	bool default_given; /* one of the two is not Weft's default */
	uint32_t switches, hosts, links, bindings;
	uint32_t nodes; /* number of hosts; 'hosts' counts host ports */
	struct topology_device *switch_at, *host_at;
	struct topology_link *link_at;
	struct topology_binding *binding_at;
	/* Set by topology_finish(). The link of port p of switch s is at [s * TOPOLOGY_PORTS_MAX +
	 * p], -1 if there is none; likewise the link of each host. */
	int32_t *switch_port_link;
	int32_t *host_link;
	/* Device numbers sorted by name, with hosts numbered after switches
	 * (topology_index_names()); initially NULL. */
	uint32_t *by_name;
};

/* Default rate and delay of links. */
#define TOPOLOGY_RATE_BPS ((uint64_t)10 * 1000 * 1000 * 1000)
#define TOPOLOGY_DELAY_PS (30 * PS_PER_NS)

/* Limits of link parameters, and their text for messages. */
#define TOPOLOGY_RATE_MIN_BPS ((uint64_t)1000)
#define TOPOLOGY_RATE_MAX_BPS ((uint64_t)100 * 1000 * 1000 * 1000 * 1000)
#define TOPOLOGY_RATE_RANGE   "1kbps to 100000Gbps"
#define TOPOLOGY_DELAY_MAX_PS (10 * PS_PER_S)
#define TOPOLOGY_DELAY_RANGE  "0ps to 10s"

struct topology_defaults {
	uint64_t rate_bps;  /* 0: TOPOLOGY_RATE_BPS */
	weft_time delay_ps; /* WEFT_TIME_NEVER: TOPOLOGY_DELAY_PS */
	bool unset;         /* both are Weft's defaults */
};

/* Opens 'KIND:key=value,…' (docs/reference/topology-file.md) or a file name. A known kind, alone or
 * followed by ':', and any text of that form select a generator. For a file with the name of a kind
 * write './ring'. Returns NULL on failure. 'error' then has FILE:LINE:COLUMN or the generator's
 * text, and errno is EINVAL for invalid contents, ENOENT, EACCES, … for an unreadable file, or
 * ENOMEM. */
struct topology *topology_open(const char *spec, struct error *error);
struct topology *topology_load(const char *path, struct error *error);
struct topology *topology_generate(const char *spec, struct error *error);
bool topology_is_generated(const char *spec);
/* Like topology_open(), with different defaults (may be NULL) for links without rate or delay. */
struct topology *topology_open_with(
	const char *spec, const struct topology_defaults *defaults, struct error *error);
/* Parses text in memory; 'origin' is the file name for messages. */
struct topology *topology_parse(
	const char *text, size_t length, const char *origin, struct error *error);

/* Creates devices s0…, h0… without switch ports, links or stages. The caller sets names, ports and
 * stages, adds links and calls topology_finish(). A switch with 0 ports then gets as many as its
 * links need. Returns NULL if out of memory or above the limits. */
struct topology *topology_create(const char *name, uint32_t switches, uint32_t hosts);
/* A rate of 0 or a delay of WEFT_TIME_NEVER selects the topology's default. Returns 0 or -ENOMEM;
 * topology_finish() checks the ends. */
int topology_add_link(struct topology *topology, struct topology_port a, struct topology_port b,
	uint64_t rate_bps, weft_time delay_ps, uint32_t line);
/* Checks for nonexistent ports, two links at one port, a link from a switch to itself and hosts
 * without a link, and builds the indexes. 'origin' is the file name or generator text for messages.
 */
int topology_finish(struct topology *topology, const char *origin, struct error *error);
void topology_destroy(struct topology *topology);
/* Returns NULL if out of memory. */
struct topology *topology_copy(const struct topology *topology);

/* Returns 0 if each host can reach each other host from one of its ports. Otherwise returns
 * -EINVAL, and 'error' names the first host that host 0 cannot reach, its line, and the number of
 * others. May return -ENOMEM. */
int topology_check_connected(
	const struct topology *topology, const char *origin, struct error *error);
/* Counts the switches that no host can reach; '*first' is the first of them. Returns 0 or -ENOMEM.
 */
int topology_unused_switches(const struct topology *topology, uint32_t *first, uint32_t *count);

/* Builds the name index; names must not change afterwards. topology_finish() calls this. Returns 0,
 * -EINVAL if two devices have the same name, or -ENOMEM. */
int topology_index_names(struct topology *topology, const char *origin, struct error *error);

/* Returns in '*at' the switch port that a host is attached to; false if there is none. */
bool topology_host_switch(const struct topology *topology, uint32_t host, struct topology_port *at);

/* Writes a topology file (docs/reference/topology-file.md) with all rates and delays and without
 * absent devices. Loading it gives the same topology, but fails if a host is cut off. Returns 0 or
 * -EIO. */
int topology_write(const struct topology *topology, FILE *out);

/* Return the number of host ports and of hosts that are not absent. */
uint32_t topology_present_hosts(const struct topology *topology);
uint32_t topology_present_nodes(const struct topology *topology);

/* Return -1 if the name is unknown. The name of a host with several ports selects the first. */
int32_t topology_find_switch(const struct topology *topology, const char *name);
int32_t topology_find_host(const struct topology *topology, const char *name);
/* Returns ", nearest is 'NAME'" with the device whose name is closest to a misspelt one, which may
 * have a port, or "" if none is close. */
const char *topology_nearest_device(
	const struct topology *topology, const char *text, char hint[DID_YOU_MEAN_HINT]);
/* Parses "s0:3", "h5:1" or, for the only port of a host, "h5". Returns 0 or -ENOENT. The port may
 * not exist; topology_finish() then reports it. */
int topology_find_port(
	const struct topology *topology, const char *text, struct topology_port *port);

static inline const struct topology_device *topology_device(
	const struct topology *topology, enum device_kind kind, uint32_t number)
{
	return kind == DEVICE_SWITCH ? &topology->switch_at[number] : &topology->host_at[number];
}

/* Returns the name of the device that has the port. */
static inline const char *topology_device_name(
	const struct topology *topology, struct topology_port port)
{
	return topology_device(topology, port.kind, port.device)->name;
}

/* Return the link at a port, or NULL, and the peer port. */
const struct topology_link *topology_link_at(
	const struct topology *topology, struct topology_port port);
bool topology_peer(
	const struct topology *topology, struct topology_port port, struct topology_port *peer);
/* Returns the direction of a link that starts at a port with a link: for link i, 2 i from end a and
 * 2 i + 1 from end b. */
uint32_t topology_way_at(const struct topology *topology, struct topology_port from);
/* Writes the name of a port, such as "s0:3". */
void topology_port_name(
	const struct topology *topology, struct topology_port port, char *out, size_t size);

/* Switches with many ports. Modules that store a set of ports in 64 bits refuse more. */

static inline unsigned topology_max_ports(const struct topology *topology)
{
	unsigned max = 0;

	for (uint32_t i = 0; i < topology->switches; i++)
		max = topology->switch_at[i].ports > max ? topology->switch_at[i].ports : max;
	return max;
}

/* Returns the number of 64-bit words in a set of ports. */
static inline unsigned topology_port_words(const struct topology *topology)
{
	unsigned max = topology_max_ports(topology);

	return max == 0 ? 1 : (max + 63) / 64;
}

/* Returns -EINVAL with 'error' set if a switch has more than 'max' ports, the limit of 'what'. */
static inline int topology_check_ports(
	const struct topology *topology, unsigned max, const char *what, struct error *error)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].ports > max)
			return error_set(error, EINVAL,
				"%s: %s has %u ports; expected at most %u for %s", topology->name,
				topology->switch_at[i].name, topology->switch_at[i].ports, max,
				what);
	return 0;
}

/* A topology after failures of cables or switches. Devices keep their numbers and names, so that
 * routes, tables and figures from before and after are comparable. A failed switch remains as a
 * switch without links. A host whose link or switch failed remains as a host without a link:
 * topology_peer() and topology_link_at() find nothing, 'host_link' is -1, and 'cut_off' is set,
 * which topology_finish() accepts. Ports keep their numbers. The remaining links are renumbered in
 * 'link_at'.
 *
 * Such a topology may be disconnected, which the caller must check (topology_check_connected). It
 * cannot be written to a file, where every host has a link. */

/* Returns a copy of a finished topology without 'count' elements, in the notation of users: "s0:3",
 * "h5:0" or "h5" is a link, named by either end; "s4" is a switch with all its links. Duplicates
 * are counted once, even if they name different ends of a link. Bindings of ports without a link
 * are dropped. Returns NULL with 'error' set and errno EINVAL for an unknown device or a port
 * without a link, or ENOMEM. The caller destroys the copy. */
struct topology *topology_without(const struct topology *topology, const char *const *failed,
	size_t count, struct error *error);

/* Returns a copy of a topology with failures, for writing to a file, without hosts that are cut off
 * and without switches that have no links. Names are unchanged; devices are renumbered. Returns
 * NULL with 'error' set and errno ENOMEM. The caller destroys the copy. */
struct topology *topology_attached(const struct topology *topology, struct error *error);

/* Partitions a topology into parts with about the same number of links and few links between them,
 * using METIS (Karypis, Kumar: "A Fast and High Quality Multilevel Scheme for Partitioning
 * Irregular Graphs", SIAM J. Sci. Comput. 1998). A host belongs to the part of its switch. */

/* Sets part[switches + hosts], hosts after switches, to numbers below 'parts', which is 1 to the
 * number of switches. The result for a topology is always the same; a part may be empty. Returns 0,
 * -ENOMEM, or -EINVAL if METIS cannot partition it. */
int topology_cut(const struct topology *topology, unsigned parts, uint16_t *part);

/* Returns the minimum delay of a link whose ends are in different parts, or WEFT_TIME_NEVER. */
weft_time topology_cut_delay(const struct topology *topology, const uint16_t *part);
