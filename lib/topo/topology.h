/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The topology model: switches and hosts (devices), their ports, and links. Device numbers:
 * switches are 0..switches-1, hosts are 0..hosts-1 in their own space. A finished topology is
 * constant and may be read by any thread.
 *
 * It is made by a generator (topology_generate), from a file (topology_load) or by hand
 * (topology_create, topology_add_link, topology_finish). Owner: who created it; topology_destroy().
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "fault.h"
#include "weft_time.h"

#define TOPOLOGY_PORTS_MAX    64    /* per switch: a route element has 6 bits for the port */
#define TOPOLOGY_HOSTS_MAX    65534 /* 16 bits in the frame; 0xFFFF is 'none' */
#define TOPOLOGY_SWITCHES_MAX 65535
#define TOPOLOGY_NAME_MAX     64
#define TOPOLOGY_NO_STAGE     0

enum device_kind { DEVICE_SWITCH, DEVICE_HOST };

struct topology_device {
	char name[TOPOLOGY_NAME_MAX];
	uint8_t ports; /* hosts: 1 */
	uint8_t stage; /* switches: 1 next to the hosts; TOPOLOGY_NO_STAGE where it has no meaning
			*/
	bool cut_off;  /* hosts: its link was taken out (topology_without.h), it may have none */
	uint32_t line; /* of the file that named it; 0 if generated */
};

/* One end of a link, and what a port is connected to. */
struct topology_port {
	enum device_kind kind;
	uint32_t device;
	uint8_t port;
};

struct topology_link {
	struct topology_port a, b;
	uint64_t rate_bps;
	weft_time delay_ps;
	uint32_t line;
};

/* What a device's port is made of on this machine (labs only). */
struct topology_binding {
	struct topology_port port;
	char dpdk[128]; /* PCI address or vdev arguments */
};

struct topology {
	char name[TOPOLOGY_NAME_MAX];
	uint64_t default_rate_bps;
	weft_time default_delay_ps;
	uint32_t switches, hosts, links, bindings;
	struct topology_device *switch_at, *host_at;
	struct topology_link *link_at;
	struct topology_binding *binding_at;
	/* Filled by topology_finish(): for switch s, port p, the link at [s * TOPOLOGY_PORTS_MAX +
	 * p], or -1; the link of each host, or -1. */
	int32_t *switch_port_link;
	int32_t *host_link;
	/* Devices by name, hosts after switches in number: topology_index_names(). NULL before. */
	uint32_t *by_name;
};

/* Rate and delay of links for which nothing else says any. */
#define TOPOLOGY_RATE_BPS ((uint64_t)10 * 1000 * 1000 * 1000)
#define TOPOLOGY_DELAY_PS (30 * PS_PER_NS)

/* What a link may have; the texts are for messages. */
#define TOPOLOGY_RATE_MIN_BPS ((uint64_t)1000)
#define TOPOLOGY_RATE_MAX_BPS ((uint64_t)1000 * 1000 * 1000 * 1000)
#define TOPOLOGY_RATE_RANGE   "1kbps to 1000Gbps"
#define TOPOLOGY_DELAY_MAX_PS (10 * PS_PER_S)
#define TOPOLOGY_DELAY_RANGE  "0ps to 10s"

struct topology_defaults {
	uint64_t rate_bps;  /* 0: TOPOLOGY_RATE_BPS */
	weft_time delay_ps; /* WEFT_TIME_NEVER: TOPOLOGY_DELAY_PS */
};

/* From 'KIND:key=value,…' (files.md) or a file name: a known kind, alone or with a ':' after it,
 * or what looks like it, is a generator; a file that is called like a kind is written './ring'. On
 * failure NULL, and 'fault' says FILE:LINE:COLUMN or the generator's text; errno is EINVAL for bad
 * contents, ENOENT, EACCES, … for a file that cannot be read, ENOMEM.
 */
struct topology *topology_open(const char *spec, struct fault *fault);
struct topology *topology_load(const char *path, struct fault *fault);
struct topology *topology_generate(const char *spec, struct fault *fault);
bool topology_is_generated(const char *spec);
/* The same with other defaults (may be NULL) for links of which file or text say nothing. */
struct topology *topology_open_with(
	const char *spec, const struct topology_defaults *defaults, struct fault *fault);
/* From text in memory; 'origin' stands for the file's name in messages. */
struct topology *topology_parse(
	const char *text, size_t length, const char *origin, struct fault *fault);

/* Devices s0…, h0…, without ports of switches, links and stages; NULL without memory or above the
 * limits. The caller sets names, ports and stages, adds links and calls topology_finish(). Switches
 * that are left with 0 ports get as many as their links need. */
struct topology *topology_create(const char *name, uint32_t switches, uint32_t hosts);
/* A rate of 0 and a delay of WEFT_TIME_NEVER take the topology's defaults. Returns 0 or -ENOMEM;
 * what it connects is judged by topology_finish(). */
int topology_add_link(struct topology *topology, struct topology_port a, struct topology_port b,
	uint64_t rate_bps, weft_time delay_ps, uint32_t line);
/* Checks (ports that do not exist, two links in one port, a link to itself, hosts without a link)
 * and builds the indexes. 'origin' is the file name or generator text for messages. */
int topology_finish(struct topology *topology, const char *origin, struct fault *fault);
void topology_destroy(struct topology *topology);
/* NULL without memory. */
struct topology *topology_copy(const struct topology *topology);

/* 0 if every host can reach every other over the links; else -EINVAL and the first one that host 0
 * cannot reach, with its line, and how many others. -ENOMEM. */
int topology_check_connected(
	const struct topology *topology, const char *origin, struct fault *fault);
/* Counts the switches that no host can reach, and tells the first one. 0 or -ENOMEM. */
int topology_unused_switches(const struct topology *topology, uint32_t *first, uint32_t *count);

/* Names may no longer change from here on; topology_finish() does this too. -EINVAL if two devices
 * have the same name, -ENOMEM. */
int topology_index_names(struct topology *topology, const char *origin, struct fault *fault);

/* Writes the topology file of files.md; loading it gives the same topology, unless a host is cut
 * off, which loading refuses. -EIO. */
int topology_write(const struct topology *topology, FILE *out);

/* -1 if there is no such name. */
int32_t topology_find_switch(const struct topology *topology, const char *name);
int32_t topology_find_host(const struct topology *topology, const char *name);
/* The device whose name is nearest to a misspelt one, or to the part of 'text' before a ':'. NULL
 * if none is near. */
const char *topology_nearest_device(const struct topology *topology, const char *text);
/* Parses "s0:3" or "h5:0" or "h5"; 0 or -ENOENT. */
int topology_find_port(
	const struct topology *topology, const char *text, struct topology_port *port);

/* The link at a port (NULL if none), and the far end seen from it. */
const struct topology_link *topology_link_at(
	const struct topology *topology, struct topology_port port);
bool topology_peer(
	const struct topology *topology, struct topology_port port, struct topology_port *peer);
/* "s0:3" */
void topology_port_name(
	const struct topology *topology, struct topology_port port, char *out, size_t size);
