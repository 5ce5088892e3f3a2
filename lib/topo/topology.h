/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The topology model: switches and hosts (devices), their ports, and links. Switches are numbered
 * 0..switches-1; hosts are numbered 0..hosts-1 separately. A finished topology is constant and any
 * thread may read it.
 *
 * A host with several ports has an entry for each of them, named "h0:0", "h0:1", …: routes, credits
 * and measurements are per entry, so "host" in other headers is an entry. topology_hosts.h groups
 * them.
 *
 * It comes from a generator (topology_generate), from a file (topology_load) or from calls
 * (topology_create, topology_add_link, topology_finish). The creator owns it; topology_destroy().
 */

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "base/weft_time.h"

#define TOPOLOGY_PORTS_MAX      255   /* per switch: numbers are bytes, and 255 means none */
#define TOPOLOGY_PORTS_RUN      64    /* per switch where a set of ports is one word */
#define TOPOLOGY_HOSTS_MAX      65536 /* 16 bits in the frame */
#define TOPOLOGY_SWITCHES_MAX   65535
#define TOPOLOGY_NAME_MAX       64
#define TOPOLOGY_NO_STAGE       0
#define TOPOLOGY_HOST_PORTS_MAX 8

enum device_kind { DEVICE_SWITCH, DEVICE_HOST };

struct topology_device {
	char name[TOPOLOGY_NAME_MAX];
	uint8_t ports;  /* hosts: ports of the whole host, up to its last one */
	uint8_t rail;   /* hosts: the number of this port */
	uint8_t stage;  /* switches: 1 next to the hosts; TOPOLOGY_NO_STAGE where stages are
			   undefined */
	bool cut_off;   /* hosts: its link was removed (topology_without()), so it may have none */
	bool absent;    /* removed from a running lab: keeps its number, has no links */
	uint32_t line;  /* in the file that defines it; 0 if generated */
	uint32_t owner; /* hosts: the entry of the host's first port */
	uint32_t next;  /* hosts: the entry of its next port; 0 after the last */
	uint32_t
		plane; /* hosts: topology_planes(), before failures; 0 if all hosts have one port */
	uint32_t home; /* hosts: 1 + the switch that topology_without() removed the link to; 0: none
			*/
};

/* One end of a link: the peer of a port. */
struct topology_port {
	enum device_kind kind;
	uint32_t device;
	uint8_t port;
};

struct topology_link {
	struct topology_port a, b;
	uint64_t rate_bps;
	weft_time delay_ps;
	bool given; /* rate or delay differs from the defaults of Weft */
	uint32_t line;
};

#define TOPOLOGY_VLAN_MAX 4094

/* The local device behind a port (labs only). */
struct topology_binding {
	struct topology_port port;
	char dpdk[128]; /* PCI address or vdev arguments */
	uint16_t vlan;  /* the tag of its frames; 0: none */
};

struct topology {
	char name[TOPOLOGY_NAME_MAX];
	uint64_t default_rate_bps;
	weft_time default_delay_ps;
	bool default_given; /* one of them is not a default of Weft */
	uint32_t switches, hosts, links, bindings;
	uint32_t nodes; /* number of hosts; 'hosts' counts their ports */
	struct topology_device *switch_at, *host_at;
	struct topology_link *link_at;
	struct topology_binding *binding_at;
	/* Filled by topology_finish(): for switch s, port p, the link at [s * TOPOLOGY_PORTS_MAX +
	 * p], or -1; the link of each host, or -1. */
	int32_t *switch_port_link;
	int32_t *host_link;
	/* Device numbers sorted by name, hosts numbered after switches: topology_index_names().
	 * NULL before. */
	uint32_t *by_name;
};

/* Default rate and delay of links. */
#define TOPOLOGY_RATE_BPS ((uint64_t)10 * 1000 * 1000 * 1000)
#define TOPOLOGY_DELAY_PS (30 * PS_PER_NS)

/* Limits of link parameters; the texts are for messages. */
#define TOPOLOGY_RATE_MIN_BPS ((uint64_t)1000)
#define TOPOLOGY_RATE_MAX_BPS ((uint64_t)100 * 1000 * 1000 * 1000 * 1000)
#define TOPOLOGY_RATE_RANGE   "1kbps to 100000Gbps"
#define TOPOLOGY_DELAY_MAX_PS (10 * PS_PER_S)
#define TOPOLOGY_DELAY_RANGE  "0ps to 10s"

struct topology_defaults {
	uint64_t rate_bps;  /* 0: TOPOLOGY_RATE_BPS */
	weft_time delay_ps; /* WEFT_TIME_NEVER: TOPOLOGY_DELAY_PS */
	bool unset;         /* both are the defaults of Weft */
};

/* Opens 'KIND:key=value,…' (docs/reference/topology-file.md) or a file name. A known kind, alone or
 * with a ':' after it, or a text of that form, is a generator; a file with the name of a kind is
 * written './ring'. Returns NULL on failure: 'error' has FILE:LINE:COLUMN or the generator's text,
 * and errno is EINVAL for bad contents, ENOENT, EACCES, … for a file that cannot be read,
 * ENOMEM. */
struct topology *topology_open(const char *spec, struct error *error);
struct topology *topology_load(const char *path, struct error *error);
struct topology *topology_generate(const char *spec, struct error *error);
bool topology_is_generated(const char *spec);
/* The same with other defaults (may be NULL) for links without rate or delay. */
struct topology *topology_open_with(
	const char *spec, const struct topology_defaults *defaults, struct error *error);
/* Parses text in memory; 'origin' is the file name for messages. */
struct topology *topology_parse(
	const char *text, size_t length, const char *origin, struct error *error);

/* Creates devices s0…, h0… without switch ports, links or stages; returns NULL if out of memory, or
 * above the limits. The caller sets names, ports and stages, adds links and calls
 * topology_finish(). A switch with 0 ports gets as many as its links need. */
struct topology *topology_create(const char *name, uint32_t switches, uint32_t hosts);
/* A rate of 0 and a delay of WEFT_TIME_NEVER select the topology's defaults. Returns 0 or -ENOMEM;
 * topology_finish() checks the ends. */
int topology_add_link(struct topology *topology, struct topology_port a, struct topology_port b,
	uint64_t rate_bps, weft_time delay_ps, uint32_t line);
/* Checks (nonexistent ports, two links in one port, a link to itself, hosts without a link) and
 * builds the indexes. 'origin' is the file name or generator text for messages. */
int topology_finish(struct topology *topology, const char *origin, struct error *error);
void topology_destroy(struct topology *topology);
/* Returns NULL if out of memory. */
struct topology *topology_copy(const struct topology *topology);

/* Returns 0 if every host can reach every other from one of its ports; otherwise -EINVAL with error
 * set, which names the first host that host 0 cannot reach, its line, and the number of others. May
 * return -ENOMEM. */
int topology_check_connected(
	const struct topology *topology, const char *origin, struct error *error);
/* Counts the switches that no host can reach and returns the first one. Returns 0 or -ENOMEM. */
int topology_unused_switches(const struct topology *topology, uint32_t *first, uint32_t *count);

/* Builds the index of names, which may not change afterwards; topology_finish() calls this. Returns
 * -EINVAL if two devices have the same name, -ENOMEM. */
int topology_index_names(struct topology *topology, const char *origin, struct error *error);

/* Finds the switch's port to which a host is attached. Returns false if the host has no link to a
 * switch. */
bool topology_host_switch(const struct topology *topology, uint32_t host, struct topology_port *at);

/* Writes a topology file (docs/reference/topology-file.md) with all rates and delays, without
 * absent devices. Loading it gives the same topology, but refuses a host that is cut off. -EIO. */
int topology_write(const struct topology *topology, FILE *out);

/* The numbers of host ports and of hosts that are not absent. */
uint32_t topology_present_hosts(const struct topology *topology);
uint32_t topology_present_nodes(const struct topology *topology);

/* Returns -1 if the name is unknown. The name of a host with several ports means its first one. */
int32_t topology_find_switch(const struct topology *topology, const char *name);
int32_t topology_find_host(const struct topology *topology, const char *name);
/* The device name closest to a misspelt one, or to the part of 'text' before a ':'. Returns NULL if
 * none is close. */
const char *topology_nearest_device(const struct topology *topology, const char *text);
/* Parses "s0:3" or "h5:1" or, for its only port, "h5". Returns 0 or -ENOENT. The port may not
 * exist; topology_finish() refuses it then. */
int topology_find_port(
	const struct topology *topology, const char *text, struct topology_port *port);

static inline const struct topology_device *topology_device(
	const struct topology *topology, enum device_kind kind, uint32_t number)
{
	return kind == DEVICE_SWITCH ? &topology->switch_at[number] : &topology->host_at[number];
}

/* Name of the device that has a port. */
static inline const char *topology_device_name(
	const struct topology *topology, struct topology_port port)
{
	return topology_device(topology, port.kind, port.device)->name;
}

/* The link at a port (NULL if none), and the peer port. */
const struct topology_link *topology_link_at(
	const struct topology *topology, struct topology_port port);
bool topology_peer(
	const struct topology *topology, struct topology_port port, struct topology_port *peer);
/* The direction of a link that starts at a port with a link: 2 i of link i from its end a, 2 i + 1
 * from b. */
uint32_t topology_way_at(const struct topology *topology, struct topology_port from);
/* "s0:3" */
void topology_port_name(
	const struct topology *topology, struct topology_port port, char *out, size_t size);

/* Switches with many ports: modules that keep a set of ports in 64 bits refuse more. */

static inline unsigned topology_max_ports(const struct topology *topology)
{
	unsigned max = 0;

	for (uint32_t i = 0; i < topology->switches; i++)
		max = topology->switch_at[i].ports > max ? topology->switch_at[i].ports : max;
	return max;
}

/* Number of 64-bit words for a set of ports. */
static inline unsigned topology_port_words(const struct topology *topology)
{
	unsigned max = topology_max_ports(topology);

	return max == 0 ? 1 : (max + 63) / 64;
}

/* Returns -EINVAL with error set if a switch has more than 'max' ports, too many for 'what'. */
static inline int topology_check_ports(
	const struct topology *topology, unsigned max, const char *what, struct error *error)
{
	for (uint32_t i = 0; i < topology->switches; i++)
		if (topology->switch_at[i].ports > max)
			return error_set(error, EINVAL,
				"%s: %s has %u ports, expected at most %u for %s", topology->name,
				topology->switch_at[i].name, topology->switch_at[i].ports, max,
				what);
	return 0;
}

/* A topology after failures of cables or switches. Devices keep their numbers and names, so that
 * routes, tables and figures before and after compare device by device. A failed switch stays as a
 * switch without links. A host whose link or switch failed stays as a host without a link:
 * topology_peer() and topology_link_at() find nothing there, its 'host_link' is -1 and its
 * 'cut_off' is set, which topology_finish() accepts. Ports keep their numbers and are free; links
 * move up in 'link_at'.
 *
 * Such a topology may be disconnected; the caller checks that (topology_check_connected). It cannot
 * be written to a file, where every host has a link. */

/* A copy of a finished topology without 'count' elements, each named as by users: "s0:3", "h5:0" or
 * "h5" is a link, by either end; "s4" is a switch with all its links. Duplicates, also by another
 * name of the same link, count once. The binding of a port without a link is dropped. Returns NULL
 * with 'error' and errno EINVAL for an unknown device or a port that had no link, ENOMEM. The
 * caller destroys the copy. */
struct topology *topology_without(const struct topology *topology, const char *const *failed,
	size_t count, struct error *error);

/* The attached part of a topology with failures, for writing to a file: without hosts that are cut
 * off and switches without links. Names stay, numbers move up. Returns NULL with 'error' and errno
 * ENOMEM. The caller destroys it. */
struct topology *topology_attached(const struct topology *topology, struct error *error);

/* Cuts a topology into parts of about the same number of links, with few links between them, using
 * METIS (Karypis, Kumar: "A Fast and High Quality Multilevel Scheme for Partitioning Irregular
 * Graphs", SIAM J. Sci. Comput. 1998). A host belongs to the part of its switch. */

/* Fills part[switches + hosts], hosts after switches, with numbers below 'parts', which is 1 to the
 * number of switches. The same topology is always cut in the same way; a part may be empty. 0,
 * -ENOMEM, or -EINVAL if METIS cannot cut it. */
int topology_cut(const struct topology *topology, unsigned parts, uint16_t *part);

/* The minimum delay of a link whose ends are in different parts, or WEFT_TIME_NEVER. */
weft_time topology_cut_delay(const struct topology *topology, const uint16_t *part);
