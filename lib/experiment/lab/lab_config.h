/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The lab file (docs/reference/lab-file.md), which describes a fabric on the real clock. It has the
 * sections of a run file, and keys for the processes: their number, the kind of links between them,
 * groups of devices that share a process, and EAL arguments. A plain topology file or generator
 * text is also accepted, and uses default settings. */

#include <stdio.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "lab_plan.h"

#define LAB_GROUPS_MAX    1024
#define LAB_EAL_MAX       64
#define LAB_LCORES_MAX    16
#define LAB_ENDPOINTS_MAX 64 /* ENDPOINTS_MAX in host/endpoint_memory.h */

/* Kinds of the inter-process links whose ends are not in 'ports'; the first is the default. */
#define LAB_CONFIG_LINKS(X) X(SHARED, "shared") X(MEMIF, "memif") X(VETH, "veth") X(DPDK, "dpdk")

#define X(id, text) LAB_CONFIG_LINKS_##id,
enum lab_config_links { LAB_CONFIG_LINKS(X) };
#undef X

/* Whether all devices run in one process, or in several; AUTO: lab_open() chooses. */
#define LAB_CONFIG_PROCESSES(X) X(AUTO, "auto") X(ONE, "one") X(EACH, "each")

#define X(id, text) LAB_CONFIG_PROCESSES_##id,
enum lab_config_processes { LAB_CONFIG_PROCESSES(X) };
#undef X

/* Devices that share a process. */
struct lab_config_group {
	char name[TOPOLOGY_NAME_MAX]; /* in an unnamed list of groups: the first device's name */
	char (*device)[TOPOLOGY_NAME_MAX];
	uint32_t count;
	struct run_config_place place;
};

struct lab_config_group_list {
	struct lab_config_group *at;
	uint32_t count;
};

/* In the run directory: the configuration of one run, which 'weft lab run --set' passes to the
 * processes. */
#define LAB_RUN_FILE "run.yaml"

struct lab_config_words {
	char **at;
	uint32_t count;
	struct run_config_place place;
};

#define LAB_MACHINES_MAX    256
#define LAB_MACHINE_SSH_MAX 128

/* The DPDK device bound to a port on a machine, as in the topology's 'ports'. */
struct lab_config_port {
	char port[TOPOLOGY_NAME_MAX + 8];
	char dpdk[sizeof(((struct topology_binding *)NULL)->dpdk)];
	uint16_t vlan; /* 0: none */
	struct run_config_place place;
};

/* A server that runs some of the lab's devices. */
struct lab_config_machine {
	char name[LAB_NAME_MAX];
	char ssh[LAB_MACHINE_SSH_MAX];  /* destination for ssh(1); "": this machine, without ssh */
	char weft[LAB_MACHINE_SSH_MAX]; /* the weft program on that machine; "": "weft" */
	char (*device)[TOPOLOGY_NAME_MAX];
	uint32_t devices;
	struct lab_config_port *port;
	uint32_t ports;
	struct run_config_place place;
};

struct lab_config_machine_list {
	struct lab_config_machine *at;
	uint32_t count;
};

/* An uplink from the emulated network: NAT between an edge's namespace and an interface of the
 * machine that runs the edge's host. */
struct lab_config_uplink {
	char edge[TOPOLOGY_NAME_MAX]; /* a host; "": no uplink */
	char nat[RUN_TAP_NAME_MAX];   /* interface for NAT */
	struct run_config_place place;
};

struct lab_config {
	struct run_config run; /* its clock is always 'real' */
	char name[LAB_NAME_MAX];
	enum lab_config_links links;
	enum lab_config_processes processes;
	struct lab_config_group_list groups;
	struct lab_config_machine_list machines; /* empty: not in the file */
	struct lab_config_uplink uplink;
	struct lab_config_words eal; /* additional EAL arguments of every process */
	uint32_t cores;              /* processes use only the first 'cores' CPUs; 0: all */
	uint32_t endpoints;          /* number of programs that may attach to a host; 0: none */
	uint32_t lcores; /* loops per process, which share its devices and divide switches; 0: 1 */
};

/* Reads a lab file, a topology file or generator text, and applies the overrides "KEY=VALUE" in
 * 'set'. Returns NULL with error and errno set on failure. */
struct lab_config *lab_config_load(
	const char *spec, const char *const *set, unsigned sets, struct error *error);
struct lab_config *lab_config_parse(const char *text, size_t length, const char *origin,
	const char *const *set, unsigned sets, struct error *error);
void lab_config_destroy(struct lab_config *config);

/* Returns 0, or -EINVAL with error set if a key or combination is not supported, or routes may
 * deadlock. */
int lab_config_supported(const struct lab_config *config, struct error *error);

/* Returns the edge with the uplink, or NULL. Call after run_config_name_edges(). */
const struct run_config_edge *lab_config_uplink_edge(const struct lab_config *config);
/* Returns 0, or -EINVAL with error set if the uplink's edge is missing or lacks a namespace or
 * address. */
int lab_config_check_uplink(const struct lab_config *config, struct error *error);

/* Writes the full configuration as a lab file; reading that file yields the same configuration.
 * Returns 0 or -EIO. */
int lab_config_explain(const struct lab_config *config, FILE *out);

/* Returns the groups for the plan, as device numbers of the topology; NULL with error and errno set
 * if the topology lacks a device. The configuration owns the names and must outlive the result. */
struct lab_plan_group *lab_config_groups(
	const struct lab_config *config, const struct topology *topology, struct error *error);
void lab_config_groups_free(struct lab_plan_group *groups, unsigned count);

/* The machines of a lab: checks 'machines' in its file against its topology. Every device is on
 * exactly one machine, the devices in 'ports' are added to the topology, and all devices of a
 * process are on one machine. Without 'machines', these functions change nothing. */

/* Checks that each device is on exactly one machine, and adds the machines' ports to the topology.
 * Accepts a device that is listed twice on one machine, because configurations written by Weft
 * contain such duplicates. Returns 0, or -EINVAL or -ENOMEM with error set. */
int lab_machines_apply(
	const struct lab_config *config, struct topology *topology, struct error *error);

/* Returns the index of the machine that runs the device, or -1. */
int lab_machine_of(const struct lab_config *config, const char *device);

/* Returns the index of the machine with this name, or -1. */
int lab_machine_find(const struct lab_config *config, const char *name);

/* Like lab_config_groups(), plus one group per machine for its hosts that are in no group. Fails if
 * the devices of a group are on several machines. Sets '*count' for lab_config_groups_free().
 * Returns NULL with error and errno set on failure. */
struct lab_plan_group *lab_machines_groups(const struct lab_config *config,
	const struct topology *topology, uint32_t *count, struct error *error);

/* Returns 0, or -EINVAL with error set if a link between machines lacks a device at either end. */
int lab_machines_check_links(
	const struct lab_config *config, const struct lab_plan *plan, struct error *error);
