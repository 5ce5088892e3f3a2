/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The parts of a real-clock fabric, shared by its files (real_fabric_*.c) and nobody else.
 */

#include <stdatomic.h>

#include "damage.h"
#include "nic.h"
#include "poll_nic.h"
#include "poll_switch.h"
#include "real_fabric.h"
#include "switch_metrics.h"

/* Streams of random numbers of a device (lib/base/rng.h). */
enum fabric_stream { FABRIC_STREAM_DAMAGE = 100, FABRIC_STREAM_TRAFFIC, FABRIC_STREAM_CHOICE };

/* One end of a link; 'open' if it lives here. */
struct fabric_end {
	struct topology_port at;
	uint32_t link;
	struct port port;
	struct damage damage;
	bool open;
	bool timed; /* its rate and delay are ours to enforce */
};

/* A switch that lives here. */
struct fabric_switch {
	uint32_t number; /* in the topology */
	struct weft_switch *sw;
	struct poll_switch *poll;
	struct switch_metrics_shown shown;
};

struct fabric_host; /* real_fabric_hosts.c */

struct real_fabric {
	struct real_fabric_options options;
	struct clock clock;
	struct rte_mempool *data_pool, *control_pool;
	struct route_set *routes;  /* source routing */
	struct route_table *table; /* destination tables */
	struct fabric_end *end;	   /* [2 * link + side] */
	struct fabric_switch *switches;
	unsigned switch_count;
	struct fabric_host *hosts;
	unsigned host_count;
	struct capture_manager *captures;
	struct telemetry *telemetry;
};

/* The time that a transmitter may make up for, because its loop was elsewhere. */
#define FABRIC_SLACK_PS (200 * PS_PER_US)

int fabric_links_open(struct real_fabric *fabric, struct fault *fault);
void fabric_links_close(struct real_fabric *fabric);
/* The open end at a port of a device that lives here; NULL if there is no cable. */
struct fabric_end *fabric_end_at(struct real_fabric *fabric, struct topology_port at);
/* NULL if none is wanted. */
struct damage *fabric_end_damage(struct fabric_end *end);

int fabric_switches_create(struct real_fabric *fabric, struct fault *fault);
void fabric_switches_destroy(struct real_fabric *fabric);

int fabric_hosts_create(struct real_fabric *fabric, struct fault *fault);
void fabric_hosts_destroy(struct real_fabric *fabric);
