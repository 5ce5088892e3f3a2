/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * The structs of a real-clock fabric, for its files (real_fabric_*.c) alone. The functions of a
 * file are in the header beside it.
 */

#include <stdatomic.h>

#include "congestion_metrics.h"
#include "contention.h"
#include "deadlock.h"
#include "device_config.h"
#include "fabric_routes.h"
#include "fecn.h"
#include "impairment.h"
#include "loop_orders.h"
#include "loop_presence.h"
#include "measure_window.h"
#include "nic.h"
#include "poll_division.h"
#include "poll_nic.h"
#include "real_fabric.h"
#include "real_pools.h"
#include "run_goal.h"
#include "starvation.h"
#include "switch_metrics.h"
#include "tap.h"

/* Streams of random numbers of a device (lib/base/rng.h). */
enum real_stream { REAL_STREAM_IMPAIRMENT = 100, REAL_STREAM_TRAFFIC, REAL_STREAM_CHOICE };

#define REAL_LOOPS_MAX 64

/* One end of a link; 'open' if it lives here. */
struct real_end {
	struct topology_port at;
	uint32_t link;
	struct port port;
	struct impairment impairment;
	bool attached; /* its ethdev was found */
	bool open;
	bool timed; /* Weft enforces its rate and delay: */
	struct tx_timing timing;
};

/* A switch that lives here. */
struct real_switch {
	uint32_t number;                /* in the topology */
	struct poll_division *division; /* among several loops; NULL: one has all of it */
	struct weft_switch *sw;         /* or that of its first part, as 'poll' */
	struct poll_switch *poll;
	struct fecn fecn;             /* if it marks */
	struct contention contention; /* if sources measure latencies */
	struct switch_metrics_shown shown;
	struct congestion_metrics detector; /* if it has an adaptation */
};

/* A loop's share of the switches: a switch, or a part of one. */
struct real_polled {
	struct real_switch *device;
	struct poll_switch *poll;
};

/* A host that lives here. */
struct real_host {
	uint32_t number;
	struct poll_nic *poll;
	struct nic_routes *routes;
	struct real_end *end;
	int tap;                  /* -1: none */
	struct tap_losses losses; /* if there is one */
	struct real_host_metrics *shown;
	struct starvation_transit middle; /* of the measured time */
	bool made_netns;                  /* of its edge: to be removed again */
	const struct run_config_edge *edge;
};

/* An order to all loops, each for its own hosts. */
enum real_order {
	REAL_ORDER_NONE,
	REAL_ORDER_START,
	REAL_ORDER_MEASURE, /* the warm-up is over */
	REAL_ORDER_STOP
};

enum real_phase {
	REAL_IDLE,
	REAL_WAITING, /* for the links, and for mapped routes */
	REAL_WARMING,
	REAL_MEASURING,
	REAL_DRAINING, /* no new traffic; what is under way is delivered */
};

/* A loop that has nothing to do (real_fabric_rest.h). */
struct real_rest {
	int ready, wake;      /* epoll of its TAPs and of 'wake', an eventfd; -1: it never rests */
	atomic_bool busy;     /* one of its hosts has something under way: no loop may rest */
	atomic_bool resting;  /* whoever has something for it writes to 'wake' */
	weft_time idle_since; /* no host of it was busy since */
	weft_time calm_since; /* it has carried no frame since */
};

struct real_worker {
	struct real_fabric *fabric;
	unsigned number;
	unsigned first_polled, last_polled, first_host, last_host; /* last: one behind */
	unsigned orders_seen;
	unsigned carried; /* frames in the last iteration, but those of neighbours for their link */
	bool leader;      /* main thread's: supervises, too */
	/* Readers: the leader, the main thread after the loop. */
	struct loop_presence presence;
	struct histogram late_ns; /* of arrivals, from warm-up to the end of traffic */
	struct real_rest rest;
};

/* A loop as telemetry shows it. Outlives the workers, which are filled anew for each run. */
struct real_shown_loop {
	const struct real_fabric *fabric;
	unsigned number;
	char name[8];
};

/* Reported failures of allocation; reported again when their number has doubled. */
struct real_shortage {
	weft_time due;
	uint64_t control, device;
};

/* The traffic of the hosts, and how it is measured (real_work.h). */
struct real_work {
	const struct run_config *run; /* traffic, measure, seed */
	struct run_config *own;       /* 'run', if it was loaded for this */
	struct run_hosts *hosts;      /* its traffic section, resolved */
	struct measure_window window;
	struct measure_sink_flow *flows; /* of the entries that end (real_fabric_entries.h) */
};

struct real_fabric {
	struct real_fabric_options options;
	uint8_t secret[NIC_SECRET_BYTES]; /* of all hosts here */
	struct clock clock;
	struct rte_mempool *data_pool, *control_pool;
	struct fabric_routes routes;  /* without any if they are mapped */
	struct real_control *control; /* NULL: the routes are static */
	struct real_report *report;   /* that is being written (real_report.h) */
	struct real_work given;       /* of its own configuration */
	struct real_work *work;       /* now: &given, or what was loaded for a run */
	struct real_work *next, *former;
	struct run_goal *goal; /* a schedule that its hosts replay; NULL: none */
	struct goal_replay *replay;
	struct real_end *end; /* [2 * link + side] */
	struct real_switch *switches;
	unsigned switch_count;
	struct real_polled *polled; /* what loops poll of them */
	unsigned polled_count;
	struct weft_switch **sw; /* by number; NULL: elsewhere */
	struct real_host *hosts;
	unsigned host_count;
	unsigned loops; /* that poll, each its share of the devices */
	bool crowded;   /* with those of other processes they are more than the CPUs */
	struct capture_manager *captures;
	struct telemetry *telemetry;
	struct real_shown_loop shown_loop[REAL_LOOPS_MAX];
	/* The leader's order to the loops, and the times that it is about. */
	struct loop_orders orders;
	bool whole;            /* no link leads to another process */
	bool rests;            /* its loops may rest at all */
	atomic_bool may_rest;  /* the leader's: nothing is going on */
	weft_time awake_until; /* the leader's */
	enum real_order order;
	atomic_bool halt;
	weft_time traffic_from, measure_from, traffic_until;
	_Atomic weft_time sent_from; /* traffic_from, for others to read; 0: no traffic yet */
	struct real_worker worker[REAL_LOOPS_MAX];
	/* The leader's. */
	enum real_phase phase;
	bool serving; /* part of a lab: phases begin by command */
	const atomic_bool *stop;
	weft_time duration, waited_from, look_due, ended_at, stopped_at;
	weft_time hurried_at; /* when a signal came after the end of traffic; 0: none */
	uint64_t arrived;     /* messages, at the last look while draining */
	weft_time arrived_at;
	bool incomplete;
	bool stop_seen;                /* the signal has been acted on */
	atomic_uint sources_failed;    /* hosts that could not begin to send, each time */
	bool unrouted;                 /* traffic began without mapped routes to all hosts */
	weft_time deadlock_period;     /* between looks (real_fabric_deadlock.h) */
	weft_time deadlock_due;        /* the next look */
	weft_time starved_after;       /* minimum wait of starved hosts and queues */
	struct deadlock_heads starved; /* that were seen */
	struct deadlock_circle circle; /* the first one that was found */
	struct real_shortage shortage;
};

/* How far a transmitter catches up after its loop was not scheduled (pacer.h). On a busy machine
 * loops do not run for some ten milliseconds at a time. */
#define REAL_CATCH_UP_PS (20 * PS_PER_MS)

/* Device i of n is in loop i * loops / n: neighbours in number, which are neighbours in the
 * network, stay together. The first one of a loop's; that of the next loop is one behind its last.
 */
static inline unsigned real_share(const struct real_fabric *fabric, unsigned loop, unsigned devices)
{
	return (unsigned)((uint64_t)loop * devices / fabric->loops);
}

/* The loop that has the port of a switch. */
static inline struct poll_switch *real_switch_loop(const struct real_switch *device, unsigned port)
{
	return device->division == NULL ? device->poll
					: poll_division_owner(device->division, port);
}

/* The source of its devices' configurations. */
static inline struct device_config real_device_config(const struct real_fabric *fabric)
{
	return (struct device_config){
		.run = fabric->options.run,
		.topology = fabric->options.topology,
		.routes = &fabric->routes,
		.session = fabric->options.session,
		.data_key = fabric->options.data_key,
		.secret = fabric->secret,
	};
}
