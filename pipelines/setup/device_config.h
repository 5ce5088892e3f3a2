/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Derives the configurations of switches and interfaces from a run file, for both clocks and every
 * process of a lab. The caller adds what depends on the process: rings, host routes, memory. */

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

/* A frame in transit takes at least this much of its host's pool, because it occupies a buffer. */
#define DEVICE_TRANSIT_BYTES 512

struct device_config {
	const struct run_config *run;
	const struct topology *topology;    /* NULL: a single switch, in a benchmark */
	const struct fabric_routes *routes; /* NULL if 'topology' is NULL */
	uint32_t session;
	const struct data_tag_key *data_key; /* nic_config.data_key */
	const uint8_t *secret; /* [NIC_SECRET_BYTES], for the interfaces; NULL: zeros */
	uint32_t hosts_max;    /* interfaces' host limit if hosts may be added; else 0 */
	/* Virtual clock: links are up from the start and lossless. There are no hellos, and a
	 * credit frame is sent only for new limits. */
	bool links_are_up;
};

/* Returns the maximum interval between two credit frames of a port. Credit frames carry totals, so
 * each one compensates for earlier losses, and a transmitter without credits waits at most this
 * long. The interval is a quarter of the hello interval. A link goes down after three missed
 * hellos, so twelve consecutive credit frames must be lost before a transmitter stalls for longer
 * than it takes to detect a dead link. A tenth would only use more bandwidth. The interval is at
 * most 1 ms even if hellos are less frequent. That is a fiftieth of the watchdog's default, so that
 * a lost credit frame is never mistaken for a deadlock. */
weft_time device_credit_refresh(weft_time hello_ps);

/* Returns the identity of the device at a port, used in hellos and addresses. */
uint64_t device_config_identity(const struct topology_port *at);

/* Configures switch 'number' of the topology with its ports, cables and table. A single switch has
 * no identity, ports or table, and its service level i uses VC i modulo the number of VCs. */
void device_config_switch(
	const struct device_config *from, uint32_t number, struct switch_config *config);
/* Sets the error for a configuration that switch_create() refused with EINVAL. Returns -EINVAL. */
int device_config_refuse(const char *name, const struct switch_config *config, struct error *error);

/* Installs tables that a mapper distributed. They must remain valid until they are replaced.
 * Returns 0, or -EINVAL if the switch cannot use them. */
int device_use_tables(struct weft_switch *sw, const struct switch_tables *tables);

/* Configures the interface of a host. 'routes' NULL: a mapper provides them. 'slots': frames that
 * the host's receive ring holds; 0: no limit. */
void device_config_nic(const struct device_config *from, uint32_t host,
	const struct nic_routes *routes, uint32_t slots, struct nic_config *config);

/* Configures a host's interface without acknowledgements, and its link. Sets config->itb to 'itb'
 * if hosts re-inject, and config->control to 'control' if they manage congestion. */
void device_config_datagram(const struct device_config *from, uint32_t host,
	struct datagram_config *config, struct itb_config *itb,
	struct source_control_config *control, struct link_end_config *link);

/* Returns the options of a host's route selector. 'rate_bps': rate of the host's link. 'set':
 * routes in use, or NULL; it must outlive the selector. */
struct route_choice_options device_config_selection(const struct run_config *run,
	const struct route_set *set, uint32_t host, uint64_t rate_bps);

/* When a frame that crosses a link counts as arrived, on both clocks. */

/* Returns true if device 'to' of a link with this rate forwards a frame as soon as its header has
 * arrived. A host and a store-and-forward switch wait for the whole frame, and so does a switch
 * with an output faster than the link, where cut-through could underrun. */
bool link_cuts_through(const struct topology *topology, enum run_switching switching,
	uint64_t rate_bps, struct topology_port to);

/* The mapper of a run file, on both clocks. */

/* Returns the maximum payload of a frame from or to the mapper. */
uint32_t mapper_setup_payload(const struct run_config *run);
/* Sets the mapper's configuration. Returns 0, -ENOMEM, or -EINVAL (MTU too small, or no root). */
int mapper_setup(const struct run_config *run, const struct topology *topology,
	struct mapper_config *config, struct error *error);
/* Returns the priority of the mapper in this host; 0: the host must not run a mapper. */
uint16_t mapper_setup_priority(
	const struct run_config *run, const struct topology *topology, uint32_t host);
