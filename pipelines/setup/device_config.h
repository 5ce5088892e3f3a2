/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Configurations of switches and interfaces, derived from a run file in one place for both clocks
 * and every process of a lab. The caller adds what only it knows: rings of ports, routes of a host,
 * memory. */

#include <stdbool.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "fabric_routes.h"
#include "mapper/mapper.h"
#include "mapping/device_control.h"
#include "nic/datagram/datagram.h"
#include "nic/nic.h"
#include "switch/switch.h"
#include "topo/topology.h"

/* A frame in transit takes at least this much of its host's pool, because it keeps a buffer. */
#define DEVICE_TRANSIT_BYTES 512

struct device_config {
	const struct run_config *run;
	const struct topology *topology;    /* NULL: a single switch, in a benchmark */
	const struct fabric_routes *routes; /* NULL then as well */
	uint32_t session;
	const struct data_tag_key *data_key; /* nic_config.data_key */
	const uint8_t *secret;               /* [NIC_SECRET_BYTES] of the interfaces; NULL: zeros */
	uint32_t hosts_max; /* that interfaces know, if hosts may be added to the topology's; else 0
			     */
	/* Virtual clock: links are up from the start and lose nothing. There are no hellos, and a
	 * credit frame is sent only when it has new limits. */
	bool links_are_up;
};

/* The maximum time between two credit frames of a port. Each carries totals, so the next one
 * compensates for a lost one, and a transmitter without credits waits this long at most. It is a
 * quarter of the hello interval: a link goes down after three missed hellos, so twelve credit
 * frames in a row must be lost before a transmitter stands still for longer than it takes to detect
 * a dead link; a tenth would only use more of the link. It is at most 1 ms, however infrequent
 * hellos are: a 50th of the watchdog's default, so that a loss is never mistaken for a deadlock. */
weft_time device_credit_refresh(weft_time hello_ps);

/* The device at a port: identity in its hellos, and its addresses. */
uint64_t device_config_identity(const struct topology_port *at);

/* Switch 'number' of the topology with its ports, cables and table. A single switch has no
 * identity, ports or table, and its service level i uses VC i modulo the queues. */
void device_config_switch(
	const struct device_config *from, uint32_t number, struct switch_config *config);
/* A fault for a configuration that switch_create() refused with EINVAL. Returns -EINVAL. */
int device_config_refuse(const char *name, const struct switch_config *config, struct error *error);

/* Tables that a mapper distributed; the switch uses them until it gets others. 0, or -EINVAL: it
 * cannot use them. */
int device_use_tables(struct weft_switch *sw, const struct switch_tables *tables);

/* The interface of a host. 'routes' may be NULL: a mapper provides them. 'slots': frames that its
 * receive ring holds; 0: no limit. */
void device_config_nic(const struct device_config *from, uint32_t host,
	const struct nic_routes *routes, uint32_t slots, struct nic_config *config);

/* The same for the interface without acknowledgements, and its link. config->itb is set to 'itb' if
 * hosts re-inject, config->control to 'control' if they manage congestion. */
void device_config_datagram(const struct device_config *from, uint32_t host,
	struct datagram_config *config, struct itb_config *itb,
	struct source_control_config *control, struct link_end_config *link);

/* Options of the route selector of a host. 'rate_bps': the rate of its link. 'set': the routes in
 * use, or NULL; it must outlive the choice. */
struct route_choice_options device_config_selection(const struct run_config *run,
	const struct route_set *set, uint32_t host, uint64_t rate_bps);

/* When a frame that crosses a link counts as arrived, the same on both clocks. */

/* True if device 'to' of a link with this rate forwards a frame as soon as its header has arrived.
 * It waits for the whole frame if it is a host, with store-and-forward, and if it has an output
 * that is faster than the link: cut-through could underrun there. */
bool link_cuts_through(const struct topology *topology, enum run_switching switching,
	uint64_t rate_bps, struct topology_port to);

/* The mapper of a run file, the same on both clocks. */

/* Longest payload of a frame from or to the mapper. */
uint32_t mapper_setup_payload(const struct run_config *run);
/* -EINVAL: the MTU is too small, or the algorithm finds no root. -ENOMEM. */
int mapper_setup(const struct run_config *run, const struct topology *topology,
	struct mapper_config *config, struct error *error);
/* Priority of the mapper in this host; 0: the host may not be the mapper. */
uint16_t mapper_setup_priority(
	const struct run_config *run, const struct topology *topology, uint32_t host);
