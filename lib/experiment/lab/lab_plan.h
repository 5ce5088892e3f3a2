/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The plan of a lab: the devices of each process, the kind of each inter-process link, and the DPDK
 * device at each of its ends. A lab has several processes, or one with all devices. No EAL, no
 * clock, no side effects: 'weft lab' and every process of the lab compute the same plan from the
 * same file.
 *
 * The start order of processes matters only for memif links: the process with the lower index is
 * the server and creates the socket, and the client waits for the socket. Circular waits are
 * therefore impossible. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "topo/topology.h"

#define LAB_NAME_MAX   24 /* limited because names of files, namespaces and prefixes contain it */
#define LAB_NO_PROCESS UINT16_MAX
#define LAB_DEVICE_MAX 256
/* A kernel interface; PORT_PACKET_DRIVER is its driver. */
#define LAB_PACKET_DEVICE "net_af_packet"
#define LAB_PORTS_MAX     32 /* ethdevs per process: RTE_MAX_ETHPORTS of Debian's DPDK */

/* Identifier, name in files and listings. */
#define LAB_LINK_KINDS(X)                                                                \
	X(MEMORY, "memory") /* both ends in one process */                               \
	X(SHARED, "shared") /* memory shared by two processes of this machine */         \
	X(MEMIF, "memif")   /* shared memory through DPDK's net_memif */                 \
	X(VETH, "veth")     /* a pair of kernel interfaces, which tcpdump can capture */ \
	X(BOUND, "ports")   /* a real cable between the devices in the file's 'ports' */

enum lab_link_kind {
#define X(id, text) LAB_LINK_##id,
	LAB_LINK_KINDS(X)
#undef X
		LAB_LINK_KIND_COUNT
};

const char *lab_link_kind_name(enum lab_link_kind kind);

/* A process that the file requests, or that is running. Its devices are topology indices. */
struct lab_plan_group {
	const char *name; /* name in messages */
	const uint32_t *switches, *hosts;
	uint32_t switch_count, host_count;
};

struct lab_plan_request {
	const char *lab;     /* lab name */
	const char *run_dir; /* directory of the sockets */
	const struct topology *topology;
	enum lab_link_kind kind; /* for inter-process links without an entry in 'ports' */
	uint32_t frame_bytes;    /* buffer size for the longest frame (frame_room()) */
	const struct lab_plan_group *group;
	unsigned groups;
	bool whole; /* one process with all devices; with groups: that one, and a process per added
		       group */
};

/* The devices of a process, and the program that runs them. */
#define LAB_ROLES(X)               \
	X(SWITCHES, "weft-switch") \
	X(HOSTS, "weft-nic")       \
	X(WHOLE, "weft-fabric") /* all devices of the lab, or those added by one 'apply' */

enum lab_role {
#define X(id, program) LAB_ROLE_##id,
	LAB_ROLES(X)
#undef X
};

const char *lab_role_program(enum lab_role role);

struct lab_plan_process {
	char name[TOPOLOGY_NAME_MAX]; /* name of its first device */
	char prefix[LAB_NAME_MAX + TOPOLOGY_NAME_MAX +
		    8]; /* EAL file prefix, also used for telemetry */
	enum lab_role role;
	unsigned devices; /* without removed ones */
	unsigned ports;   /* number of ports to other processes */
	unsigned ethdevs; /* number of these ports that are DPDK ethdevs */
};

struct lab_plan_link {
	enum lab_link_kind kind;
	uint16_t process[2]; /* at ends a and b */
	/* "net_memif3,role=server,…", "shared:PATH:0" (port.h); for MEMORY, set only for cables
	 * that are plugged in later */
	char device[2][LAB_DEVICE_MAX];
	uint16_t vlan[2]; /* tag at each end; 0: none */
};

struct lab_plan {
	const struct topology *topology;
	char lab[LAB_NAME_MAX];
	char run_dir[128];
	unsigned processes;
	struct lab_plan_process *process;
	uint16_t *switch_process, *host_process; /* [device]; LAB_NO_PROCESS: removed */
	struct lab_plan_link *link;              /* [index of the topology's link] */
	bool veth; /* at least one link is a veth pair, so the lab has its own network namespace */
};

/* Returns a plan, or NULL with errno and error set. A switch without a group gets its own process.
 * Hosts without a group share one process, or one per leaf switch if LAB_PORTS_MAX requires it.
 * Fails with ENOMEM, or with EINVAL if the request is invalid, such as a group with switches and
 * hosts, a device in two groups, a process with more than LAB_PORTS_MAX ports, or a link with only
 * one bound end, or with both in one process. The topology must outlive the plan. */
struct lab_plan *lab_plan_create(const struct lab_plan_request *request, struct error *error);
void lab_plan_destroy(struct lab_plan *plan);

/* Returns the index of the process that runs the device, or -1. */
int lab_plan_find(const struct lab_plan *plan, const char *device);

/* Returns true if Weft enforces the link's rate and delay: both ends are in one process, or the
 * file sets a rate or a delay. */
static inline bool lab_plan_is_timed(const struct lab_plan *plan, uint32_t link)
{
	return plan->link[link].kind == LAB_LINK_MEMORY || plan->topology->link_at[link].given;
}

/* Writes the name of the network namespace of the lab's veth pairs: "weft-LAB". */
void lab_plan_netns(const struct lab_plan *plan, char out[LAB_NAME_MAX + 8]);
/* Writes the name of an interface of a veth link: "wl3a" and "wl3b" for link 3. */
void lab_plan_interface(uint32_t link, unsigned side, char out[16]);
/* Writes the socket path of a memif link: RUN_DIR/l3.sock. */
void lab_plan_socket(const struct lab_plan *plan, uint32_t link, char *out, size_t size);

/* Writes the listing that 'weft lab up' prints and stores in the run directory. */
void lab_plan_write(const struct lab_plan *plan, FILE *out);

/* The file 'machine' in the run directory lists the processes of the lab on this machine, one per
 * line. They share a clock (lab_process.h); processes on other machines have their own. 'weft lab
 * up' writes the file before it starts any process; each process reads it once at startup. Both
 * functions return 0, or -errno with error set. 'here' has one element per process of the plan. */
/* Replaces the file atomically. */
int lab_machine_write(const struct lab_plan *plan, const bool *here, struct error *error);
/* Without the file, for example if 'weft lab' did not start the processes, all count as local. */
int lab_machine_read(const struct lab_plan *plan, bool *here, struct error *error);

/* Shared by the source files of the plan. */

/* Fills in the links and counts the ports. Call after the processes are assigned. Returns 0, or
 * -EINVAL with error set. */
int lab_plan_links(
	struct lab_plan *plan, const struct lab_plan_request *request, struct error *error);
