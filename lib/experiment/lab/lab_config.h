/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The lab file (docs/reference/lab-file.md): a fabric on the real clock, in one process or in
 * several. It has the sections of a run file, and keys for the processes: their number, the kind of
 * links between them, groups of devices that share a process, and EAL arguments. A plain topology
 * file, or a generator's text, is a lab with defaults. */

#include <stdio.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "lab_plan.h"

#define LAB_GROUPS_MAX    1024
#define LAB_EAL_MAX       64
#define LAB_LCORES_MAX    16
#define LAB_ENDPOINTS_MAX 64 /* ENDPOINTS_MAX of host/endpoint_memory.h */

/* Kind of the inter-process links whose ends are not in 'ports'; the first is the default. */
#define LAB_CONFIG_LINKS(X) X(SHARED, "shared") X(MEMIF, "memif") X(VETH, "veth") X(DPDK, "dpdk")

#define X(id, text) LAB_CONFIG_LINKS_##id,
enum lab_config_links { LAB_CONFIG_LINKS(X) };
#undef X

/* Whether all devices of a lab are in one process or in several; AUTO: lab_open() chooses. */
#define LAB_CONFIG_PROCESSES(X) X(AUTO, "auto") X(ONE, "one") X(EACH, "each")

#define X(id, text) LAB_CONFIG_PROCESSES_##id,
enum lab_config_processes { LAB_CONFIG_PROCESSES(X) };
#undef X

/* Devices that share a process. */
struct lab_config_group {
	char name[TOPOLOGY_NAME_MAX]; /* in a list without names: the first device's name */
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

/* The DPDK device of a port on a machine, like a row of the topology's 'ports'. */
struct lab_config_port {
	char port[TOPOLOGY_NAME_MAX + 8];
	char dpdk[sizeof(((struct topology_binding *)NULL)->dpdk)];
	uint16_t vlan; /* 0: none */
	struct run_config_place place;
};

/* A server that runs some of the lab's devices. */
struct lab_config_machine {
	char name[LAB_NAME_MAX];
	char ssh[LAB_MACHINE_SSH_MAX];  /* as ssh(1) takes it; "": this machine, without ssh */
	char weft[LAB_MACHINE_SSH_MAX]; /* the program there; "": "weft" */
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

/* The route out of the emulated network: from an edge's namespace to an interface of the machine
 * that runs the edge's host, with NAT. */
struct lab_config_uplink {
	char edge[TOPOLOGY_NAME_MAX]; /* a host; "": no uplink */
	char nat[RUN_TAP_NAME_MAX];   /* the interface */
	struct run_config_place place;
};

struct lab_config {
	struct run_config run; /* clock real */
	char name[LAB_NAME_MAX];
	enum lab_config_links links;
	enum lab_config_processes processes;
	struct lab_config_group_list groups;
	struct lab_config_machine_list machines; /* none: the file does not say */
	struct lab_config_uplink uplink;
	struct lab_config_words eal; /* further arguments of every process's EAL */
	uint32_t cores;              /* processes use only the first 'cores' CPUs; 0: all */
	uint32_t endpoints;          /* programs that may attach to a host; 0: none */
	uint32_t lcores; /* loops per process: they share its devices, and divide switches; 0: 1 */
};

/* Reads a lab file, a topology file or a generator's text, and applies the overrides "KEY=VALUE" in
 * 'set'. Returns NULL with fault and errno set on failure. */
struct lab_config *lab_config_load(
	const char *spec, const char *const *set, unsigned sets, struct error *error);
struct lab_config *lab_config_parse(const char *text, size_t length, const char *origin,
	const char *const *set, unsigned sets, struct error *error);
void lab_config_destroy(struct lab_config *config);

/* Returns 0, or -EINVAL with error set: a key or combination is not supported, or a lab must not
 * use it because its routes may deadlock. */
int lab_config_supported(const struct lab_config *config, struct error *error);

/* The edge that has the uplink; NULL: none. Call it after run_config_name_edges(). */
const struct run_config_edge *lab_config_uplink_edge(const struct lab_config *config);
/* Returns 0, or -EINVAL with error set: the uplink's edge is missing, or has no namespace or
 * address. */
int lab_config_check_uplink(const struct lab_config *config, struct error *error);

/* Writes the full configuration as a lab file that yields the same one when read. Returns 0 or
 * -EIO. */
int lab_config_explain(const struct lab_config *config, FILE *out);

/* The groups for the plan, as numbers in the topology. Returns NULL with fault and errno set if the
 * topology lacks a device. The configuration owns the names and must outlive the result. */
struct lab_plan_group *lab_config_groups(
	const struct lab_config *config, const struct topology *topology, struct error *error);
void lab_config_groups_free(struct lab_plan_group *groups, unsigned count);

/* The machines of a lab: checks 'machines' of its file against its topology. Every device is on
 * exactly one machine, the devices in 'ports' are added to the topology, and all devices of a
 * process are on the same machine. A file without 'machines' has none, and nothing here changes
 * it. */

/* Checks that each device is on exactly one machine, and adds the machines' ports to the topology.
 * A device listed twice on one machine is accepted, so that a configuration written by Weft can be
 * read again. Returns 0, or -EINVAL, -ENOMEM and error. */
int lab_machines_apply(
	const struct lab_config *config, struct topology *topology, struct error *error);

/* The number of the machine that runs the device, or -1. */
int lab_machine_of(const struct lab_config *config, const char *device);

/* The number of the machine with that name, or -1. */
int lab_machine_find(const struct lab_config *config, const char *name);

/* As lab_config_groups(), with one more group per machine, for its hosts that are in no group.
 * Refuses a group whose devices are on several machines. Returns NULL with fault and errno set on
 * failure; 'count' is the number for lab_config_groups_free(). */
struct lab_plan_group *lab_machines_groups(const struct lab_config *config,
	const struct topology *topology, uint32_t *count, struct error *error);

/* Refuses a link between machines without devices at both ends. Returns 0, or -EINVAL with error
 * set. */
int lab_machines_check_links(
	const struct lab_config *config, const struct lab_plan *plan, struct error *error);
