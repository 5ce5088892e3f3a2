/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Structs and functions of a real-clock fabric; private to its files (real_*.c). */

#include <stdatomic.h>

#include "experiment/workload/run_goal.h"
#include "loop_commands.h"
#include "loop_stall.h"
#include "measure/deadlock.h"
#include "measure/measure_window.h"
#include "measure/starvation.h"
#include "nic/nic.h"
#include "os/tap.h"
#include "poll/poll_division.h"
#include "poll/poll_nic.h"
#include "poll/switch_metrics.h"
#include "poll/tx_queue.h"
#include "real_fabric.h"
#include "real_pools.h"
#include "setup/device_config.h"
#include "setup/fabric_routes.h"
#include "setup/link_knobs.h"
#include "switch/contention.h"
#include "switch/fecn.h"

/* Random number streams of a device (lib/base/rng.h). */
enum real_stream { REAL_STREAM_IMPAIRMENT = 100, REAL_STREAM_TRAFFIC, REAL_STREAM_CHOICE };

#define REAL_LOOPS_MAX 64

/* A local device's port, or the far end of its link. */
struct real_end {
	struct topology_port at, far; /* 'far': the other end, if there is a cable */
	struct topology_link wire;    /* the cable's link, if there is one */
	uint32_t slot;                /* selects its random number stream; constant */
	bool external;                /* leads to a different process, through 'device' */
	const char *device;
	bool made;  /* 'port' has been created */
	bool open;  /* 'port' has a cable */
	bool moved; /* REAL_ORDER_PLUG connects a different cable, or disconnects it */
	struct port port;
	struct impairment impairment;
	bool attached; /* its ethdev was found */
	bool timed;    /* Weft enforces rate and delay, as in 'timing' */
	struct tx_timing timing;
	/* The last commands for this end, preserved for the next start of the process. */
	bool cut;
	bool ordered; /* 'knob' was set by a command */
	bool due;     /* 'knob' has not been applied yet */
	uint64_t knob[LINK_KNOB_COUNT];
};

/* A local switch. */
struct real_switch {
	uint32_t number;                /* index in the topology */
	struct poll_division *division; /* shards polled by several loops; NULL: not divided */
	struct weft_switch *sw;         /* if divided, the first shard's, like 'poll' */
	struct poll_switch *poll;
	struct fecn fecn;             /* used if the switch marks */
	struct contention contention; /* used if sources measure latencies */
	struct switch_metrics_shown shown;
	struct congestion_metrics detector; /* used with adaptive routing */
};

/* A loop's unit of polling: a switch or a shard. */
struct real_polled {
	struct real_switch *device;
	struct poll_switch *poll;
};

/* A local host. */
struct real_host {
	uint32_t number;
	struct poll_nic *poll;
	struct nic_routes *routes;
	struct real_end *end;
	int tap;                  /* -1: none */
	struct tap_losses losses; /* valid if there is a TAP */
	struct real_host_metrics *shown;
	struct starvation_transit middle; /* state halfway through the measurement */
	bool made_netns; /* the edge's namespace was created here and must be removed */
	const struct run_config_edge *edge;
};

/* A command to all loops; each executes it for its own hosts. */
enum real_order {
	REAL_ORDER_NONE,
	REAL_ORDER_START,
	REAL_ORDER_MEASURE, /* warm-up ended: lateness and latencies start at measure_from */
	REAL_ORDER_STOP,
	REAL_ORDER_LOOK, /* collect the switch heads that lack credits */
	REAL_ORDER_PLUG, /* move the cables marked 'moved' */
};

enum real_phase {
	REAL_IDLE,
	REAL_WAITING, /* waiting for links and mapped routes */
	REAL_WARMING,
	REAL_SETTLING, /* measuring until the automatic warm-up ends, then restarts */
	REAL_MEASURING,
	REAL_DRAINING, /* no new traffic; packets in flight are delivered */
};

/* The idle state of a loop (real_fabric_idle.h). */
struct real_idle {
	int ready, wake;      /* epoll of its TAPs and 'wake', an eventfd; -1: never sleeps */
	int bell;             /* inotify, readable when a frame from a different process arrives */
	atomic_bool busy;     /* one of its hosts has frames in flight: no loop may sleep */
	atomic_bool resting;  /* asleep or about to be; other threads then signal 'wake' */
	weft_time idle_since; /* since when none of its hosts has been busy */
	weft_time calm_since; /* since when it has carried no frame */
	weft_time data_since; /* since when no data from other processes has arrived */
	uint64_t data;        /* data frames so far, to detect more */
	unsigned futile;      /* consecutive sleeps that failed or ended at once */
};

struct real_worker {
	struct real_fabric *fabric;
	unsigned number;
	unsigned first_polled, last_polled, first_host, last_host; /* last_*: exclusive */
	unsigned orders_seen;
	unsigned carried; /* frames in the last iteration, except link frames of neighbours */
	bool leader;      /* runs in the main thread and supervises */
	/* Read by the leader, and by the main thread after the loop. */
	struct loop_stall stall;
	struct deadlock_heads heads; /* from the last REAL_ORDER_LOOK */
	struct histogram
		late_ns; /* lateness of arrivals, from the end of warm-up to the end of traffic */
	struct real_idle rest;
};

/* A loop's entry in telemetry. Outlives the workers, which are reinitialized for each run. */
struct real_shown_loop {
	const struct real_fabric *fabric;
	unsigned number;
	char name[8];
};

/* Failed allocations reported so far; reported again when their number has doubled. */
struct real_pool_warning {
	weft_time due;
	uint64_t control, device;
};

/* Traffic of the hosts, and its measurement. */
struct real_traffic {
	const struct run_config *run; /* source of traffic, measure and seed */
	struct run_config *own;       /* 'run', if it was loaded for this traffic */
	struct run_hosts *hosts;      /* resolved traffic section */
	struct measure_window window;
	struct measure_sink_flow *flows; /* flows of finite entries */
	struct real_events *events;      /* NULL: no events */
};

/* Cables being moved; for the leader. */
struct real_recabling {
	char path[TELEMETRY_CONTROL_MAX]; /* where to write the answer; "": none is due */
	struct real_cabling next;
	atomic_uint failed; /* number of ends that could not be connected */
};

struct real_fabric {
	struct real_fabric_options options;
	uint8_t secret[NIC_SECRET_BYTES]; /* shared by all local hosts */
	struct clock clock;
	struct rte_mempool *data_pool, *control_pool;
	struct fabric_routes routes;  /* empty if mapped */
	struct real_control *control; /* NULL: routes are static */
	struct real_report *report;   /* report being written */
	struct real_traffic given;    /* traffic of the fabric's own configuration */
	struct real_traffic *work;    /* current traffic: &given, or loaded for a run */
	struct real_traffic *next, *former;
	struct run_goal *goal; /* schedule that hosts replay; NULL: none */
	struct goal_replay *replay;
	struct real_end *end; /* [2 * link + side] of the initial links, then free ports */
	uint32_t ends;
	struct real_end **switch_end, **host_end; /* [switch * TOPOLOGY_PORTS_MAX + port], [host] */
	struct real_switch *switches;
	unsigned switch_count;
	struct real_polled *polled; /* polling units of the loops */
	unsigned polled_count;
	struct weft_switch **sw; /* by number; NULL: in a different process */
	struct real_host *hosts;
	unsigned host_count;
	uint32_t *address; /* [host of the topology], if a host has an edge (edge.h) */
	unsigned loops;    /* number of poll loops */
	bool crowded;      /* loops of all processes outnumber the CPUs */
	struct real_endpoints *endpoints; /* NULL: programs cannot attach */
	struct capture_manager *captures;
	struct telemetry *telemetry;
	struct real_shown_loop shown_loop[REAL_LOOPS_MAX];
	/* Command of the leader to the loops, and its times. */
	struct loop_commands orders;
	bool whole;            /* no link leads to a different process */
	bool rests;            /* loops may sleep when idle */
	atomic_bool may_rest;  /* written by the leader: the fabric is idle */
	weft_time awake_until; /* no sleep before this time; for the leader */
	enum real_order order;
	atomic_bool halt;
	weft_time traffic_from, measure_from, traffic_until;
	_Atomic weft_time sent_from; /* traffic_from for other threads; 0: no traffic yet */
	struct real_worker worker[REAL_LOOPS_MAX];
	/* For the leader: */
	enum real_phase phase;
	bool serving; /* part of a lab: phases start on command */
	const atomic_bool *stop;
	weft_time duration, waited_from, look_due, ended_at, stopped_at;
	weft_time hurried_at; /* when a signal arrived after the end of traffic; 0: none */
	uint64_t arrived;     /* messages at the last check while draining */
	weft_time arrived_at;
	bool incomplete;
	bool stop_seen;                /* the signal has been handled */
	atomic_uint sources_failed;    /* hosts that could not start all sources, over all starts */
	bool unrouted;                 /* traffic started without mapped routes to all hosts */
	weft_time deadlock_period;     /* time between searches */
	weft_time deadlock_due;        /* time of the next search */
	weft_time starved_after;       /* minimum wait of starved hosts and queues */
	struct deadlock_heads starved; /* heads found starved */
	struct deadlock_circle circle; /* the first cycle found */
	struct deadlock_heads looked;  /* heads of all loops from the last REAL_ORDER_LOOK */
	char waiting[TELEMETRY_CONTROL_MAX]; /* where the next search writes its heads, or "" */
	struct real_pool_warning shortage;
	struct real_recabling recabling;
};

/* Maximum numbers of hosts and switches, including those added later. */
static inline uint32_t real_hosts_max(const struct real_fabric *fabric)
{
	return RTE_MAX(fabric->options.hosts_max, fabric->options.topology->hosts);
}

static inline uint32_t real_switches_max(const struct real_fabric *fabric)
{
	return RTE_MAX(fabric->options.switches_max, fabric->options.topology->switches);
}

/* How far a transmitter catches up after its loop was not scheduled (pacer.h). On a busy machine,
 * loops are suspended for some ten milliseconds at a time. */
#define REAL_CATCH_UP_PS (20 * PS_PER_MS)

/* Device i of n belongs to loop i * loops / n, so that consecutive devices, which are neighbours in
 * the network, stay together. Returns the first device of a loop, which ends the previous range. */
static inline unsigned real_share(const struct real_fabric *fabric, unsigned loop, unsigned devices)
{
	return (unsigned)((uint64_t)loop * devices / fabric->loops);
}

/* Returns the loop's poll_switch that polls a port of a switch. */
static inline struct poll_switch *real_switch_loop(const struct real_switch *device, unsigned port)
{
	return device->division == NULL ? device->poll
					: poll_division_owner(device->division, port);
}

/* Returns the source of the devices' configurations. */
static inline struct device_config real_device_config(const struct real_fabric *fabric)
{
	return (struct device_config){
		.run = fabric->options.run,
		.topology = fabric->options.topology,
		.routes = &fabric->routes,
		.session = fabric->options.session,
		.data_key = fabric->options.data_key,
		.secret = fabric->secret,
		.hosts_max = fabric->options.hosts_max,
	};
}

/* The events of a run (real_fabric_events.c). The leader executes them. */

/* Returns 0, or -EINVAL or -ENOMEM with error set. */
int real_events_create(struct real_fabric *fabric, struct real_traffic *work, struct error *error);
void real_events_destroy(struct real_events *events);
/* Restarts event times from now and undoes the events that occurred. Times count from the start of
 * traffic in a run; in a lab, from the start of the lab and again from each run. */
void real_events_restart(struct real_fabric *fabric, weft_time now);
/* Executes the events that are due; while the last frames drain, only rejoins cables. */
void real_events_poll(struct real_fabric *fabric, weft_time now);
/* Returns true if no event is due for as long as idle loops sleep. */
bool real_events_rest(const struct real_fabric *fabric, weft_time now);
/* Returns 0 or -ENOMEM. */
int real_events_result(const struct real_fabric *fabric, struct run_result *result);

/* Losses on links, and discards because links were down. */
struct real_losses {
	uint64_t on_links, discarded, corrupted, credits;
};
struct real_losses real_losses_read(const struct real_fabric *fabric);

/* Mapped routes of a real-clock fabric: the control plane and its thread. */

/* Call before the devices are created. Does nothing if routes are static. */
int real_control_create(struct real_fabric *fabric, struct error *error);
void real_control_destroy(struct real_fabric *fabric);
/* Start and stop the control thread. */
void real_control_start(struct real_fabric *fabric);
void real_control_stop(struct real_fabric *fabric);
/* Returns the channel of a local device, or NULL if routes are static. */
struct device_control *real_control_of(
	const struct real_fabric *fabric, enum device_kind kind, uint32_t number);
/* Returns true if routes are static, or mapped routes lead from each local host to all others. */
bool real_is_routed(const struct real_fabric *fabric);
/* Returns true if routes may arrive: a control thread runs and a local host may run the mapper. */
bool real_may_be_routed(const struct real_fabric *fabric);
/* Sets the reason why there are no routes. Call once the control thread has stopped. */
void real_control_why(const struct real_fabric *fabric, struct error *error);
/* Announces a new cabling. For the leader. */
void real_control_renew(struct real_fabric *fabric);
/* Like control_plane_ask(); also returns false if routes are static. */
bool real_control_ask(struct real_fabric *fabric, const char *request);

/* Deadlocks and starvation in a real-clock fabric (deadlock.h, starvation.h). */

/* Call once the switches exist. Returns 0, or -ENOMEM with error set. */
int real_deadlock_open(struct real_fabric *fabric, struct error *error);
void real_deadlock_close(struct real_fabric *fabric);
/* Call before traffic with this measured time. */
void real_deadlock_begin(struct real_fabric *fabric, weft_time measured_ps);

/* Searches heads that have waited for 'age_ps' (0: all), and keeps the first cycle and the starved
 * heads. Sees only hosts while other loops run. If memory runs out, it keeps less. */
void real_deadlock_look(struct real_fabric *fabric, weft_time now, weft_time age_ps);
/* Call real_deadlock_middle() halfway through the measurement. real_deadlock_result() adds the
 * findings to a result; it returns 0 or -ENOMEM. */
void real_deadlock_middle(struct real_fabric *fabric);
int real_deadlock_result(const struct real_fabric *fabric, struct run_result *result);
/* Runs a search during traffic, if due. Returns true if all loops must collect their heads. */
bool real_deadlock_check(struct real_fabric *fabric, weft_time now);
/* Executes REAL_ORDER_LOOK in a loop. */
void real_deadlock_collect(struct real_worker *worker, weft_time now);
/* Call after REAL_ORDER_LOOK: searches the heads that have been waiting since the previous
 * collection, and writes all heads to the requested path. */
void real_deadlock_looked(struct real_fabric *fabric);

/* Counters of traffic entries in a real-clock fabric. Hosts count generated messages per source,
 * and arrivals in their sinks. For finite entries, arrivals are also counted per sender, in a row
 * [hosts] for each loop, shared by the loop's hosts. */

/* Makes the hosts' sinks distinguish entries. Call when the hosts exist and the number of loops is
 * known. Returns 0 or -ENOMEM. */
int real_entries_create(struct real_fabric *fabric);
/* Allocates the rows in work->flows. Returns 0 or -ENOMEM. */
int real_flows_create(const struct real_fabric *fabric, struct real_traffic *work);
/* Clears the loop's rows and makes its hosts count there. Call in that loop. */
void real_flows_begin(struct real_fabric *fabric, unsigned loop);
/* Updates the totals of the window's entries. 'fresh': they are about to restart. */
void real_entries_read(struct real_fabric *fabric, bool fresh);
/* Recomputes the flows of the window's entries, in loops x entries x hosts steps; for a result. */
void real_flows_read(struct real_fabric *fabric);
/* Adds the latencies of each entry to the result. */
void real_entries_add_latencies(const struct real_fabric *fabric, struct run_result *result);

/* The hosts of a real-clock fabric: interfaces, routes, traffic and TAP edges. */

int real_hosts_create(struct real_fabric *fabric, struct error *error);
void real_hosts_destroy(struct real_fabric *fabric);
/* Updates the addresses for a new cabling. For the leader. */
void real_hosts_renew(struct real_fabric *fabric);
/* Starts the host's sources. Call in the host's loop. */
int real_host_start_traffic(
	struct real_fabric *fabric, struct real_host *host, struct error *error);
/* Discards latencies from before measure_from. */
void real_host_measure(const struct real_fabric *fabric, struct real_host *host);
/* Stops the host's sources. A TAP is read until the fabric ends. */
void real_host_stop_traffic(
	const struct real_fabric *fabric, struct real_host *host, weft_time now);

/* Rate, delay and faults of links, initially and while the fabric runs. */

/* Applies the file's rate and delay, if any, to links to other processes. Returns 0 or -ENOMEM. */
int real_links_pace(struct real_fabric *fabric, struct error *error);

/* Executes a command (link_knobs.h) for all directions from local ports. Rate and delay 0: as fast
 * as the device. For the leader. */
void real_links_set(struct real_fabric *fabric, const char *text);
/* Sets values for frames sent from an open end. LINK_KNOB_KEEP leaves a value unchanged; NULL
 * restores all values from the file. For the leader. */
void real_end_set(
	struct real_fabric *fabric, struct real_end *end, const uint64_t asked[LINK_KNOB_COUNT]);
/* Enables cut-through where current rates permit it. */
void real_links_cut_through(struct real_fabric *fabric);
/* Writes the commands for all local ends to options.orders, before they take effect. */
void real_links_keep(const struct real_fabric *fabric);
/* Executes the commands preserved from an earlier run of the process. Call before the loops run. */
void real_links_recall(struct real_fabric *fabric);
/* Resets an end whose link is down to the file's rate, delay and faults, and discards commands.
 * Call in the loop that polls the end. */
void real_end_reset(struct real_fabric *fabric, struct real_end *end);
/* Pads the next hello of each local end to the maximum frame length. For the leader. */
void real_links_pad(struct real_fabric *fabric);

/* Returns the current setting for frames sent from this end. Rate and delay 0: the device's own. */
uint64_t real_end_knob(
	const struct real_fabric *fabric, const struct real_end *end, enum link_knob knob);

/* The links of a real-clock fabric: in memory between local devices, ethdevs to other processes. */

/* Finds the devices of external links, which determine the pools' needs. */
int real_links_attach(struct real_fabric *fabric, struct error *error);
void real_links_needs(const struct real_fabric *fabric, struct real_pool_request *request);
/* Returns true for kernel sockets, which copy frames. */
bool real_device_is_socket(const char *device);
/* Returns the needs of a device that is not attached; the maximum for a NIC. */
void real_device_needs(const char *device, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs);
/* Opens all links. Call once the pools exist. */
int real_links_open(struct real_fabric *fabric, struct error *error);
void real_links_close(struct real_fabric *fabric);
/* Returns the end at a local device's port, or NULL if it cannot have a cable. */
struct real_end *real_end_at(struct real_fabric *fabric, struct topology_port at);
bool real_is_here(const struct real_fabric *fabric, const struct topology_port *at);
/* Makes the transmitter enforce the rate and delay of an in-memory link from this end. */
void real_end_time(const struct real_fabric *fabric, struct real_end *end);
/* Returns true if the other end of the cable is in this process. */
bool real_end_is_inside(const struct real_end *end);
/* Returns the port expected at the other end of the cable; binding if there is no mapper. */
struct port_auth_plan real_end_plan(const struct real_fabric *fabric, const struct real_end *end);
/* Cuts ("s0:2 down") or rejoins ("s0:2 up") the cable at this port, if it is local. */
void real_links_cut(struct real_fabric *fabric, const char *text);
/* Returns the key for the end's control frames; NULL: a link inside this process, or no key. */
const struct link_key *real_end_key(const struct real_fabric *fabric, const struct real_end *end);
/* Returns how many frames the ends of a link to a different process may delay. */
unsigned real_held_frames(const struct topology_link *link);
/* Returns the end's impairment, or NULL if it has no faults. */
struct impairment *real_end_impairment(struct real_end *end);

/* Cables moved while the fabric runs (real_fabric_cables.c). For the leader: */

/* Loads the new cabling and disables the ends of cables to be removed. The answer is written to
 * 'path': {} or {"error": text}. */
void real_cables_load(struct real_fabric *fabric, const char *path, weft_time now);
/* Returns true once the links of these ends are down; real_cables_begin() and REAL_ORDER_PLUG
 * follow. */
bool real_cables_are_due(const struct real_fabric *fabric);
void real_cables_begin(struct real_fabric *fabric);
/* Call when all loops have executed REAL_ORDER_PLUG. */
void real_cables_done(struct real_fabric *fabric);
/* Executes REAL_ORDER_PLUG in a loop. */
void real_cables_move(struct real_worker *worker);

/* Counters of a real-clock fabric. */

/* Returns the wire bytes of a frame besides its payload: header, usual route, preamble and gap. */
uint64_t real_frame_overhead(const struct real_fabric *fabric);
/* Reads a link's counters (measure_window.h) in a process with the whole fabric. */
void real_link_read(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);
/* Reads the counters at 'now'; their time is relative to the start of traffic. */
void real_totals_read(
	const struct real_fabric *fabric, weft_time now, struct measure_totals *totals);
/* Like real_fabric_result(); without 'whole', omits the samples. */
int real_fabric_count(
	struct real_fabric *fabric, bool whole, struct run_result *result, struct error *error);

/* The loops of a real-clock fabric poll all devices, distributed over the lcores. The first loop,
 * the leader, also watches the clock, takes samples and gives commands. real_fabric.h declares the
 * functions that start them. */

/* Advances the phases and executes commands, between two rounds of polling. Does nothing while a
 * loop has not completed the last command. Returns true when the run is over. */
bool real_lead(struct real_fabric *fabric);
/* Enclose a long task of a loop, such as a report, so that its CPU time does not count as a stall.
 * real_task_begin() returns the argument for real_task_end(). */
weft_time real_task_begin(struct real_worker *worker);
void real_task_end(struct real_worker *worker, weft_time began);

/* Pools that run dry. Neighbours consider a switch without buffers for control frames dead, so the
 * process reports the shortage when it first occurs, and again each time the count has doubled.
 * Telemetry has the counters (no_mbuf, device_rx_no_buffer). */

/* Prints a warning to standard error if pools ran dry. */
void real_pool_warning_check(struct real_fabric *fabric, weft_time now);

/* A real-clock fabric in DPDK's telemetry. */

/* Adds switches, interfaces, links and loops. */
int real_telemetry(struct real_fabric *fabric, struct error *error);
void real_telemetry_end(struct real_fabric *fabric);

/* Returns the link protocol of an open end of a local device, or NULL. */
const struct link_end *real_end_link(const struct real_fabric *fabric, const struct real_end *end);
/* Returns true if all links of local devices are up. */
bool real_links_are_up(const struct real_fabric *fabric);

/* The switches of a real-clock fabric. */

int real_switches_create(struct real_fabric *fabric, struct error *error);
void real_switches_destroy(struct real_fabric *fabric);

/* Lateness of arrivals on links that Weft times, from the end of warm-up to the end of traffic: per
 * link end, and for all ends that a loop polls. */

/* Returns the lateness of frames that arrive at this port; zeros if nothing was measured. */
struct lateness_summary real_lateness_at(struct real_fabric *fabric, struct topology_port at);

/* Counts of a lab process, written to a file for the requesting command. For the leader. */

/* Writes the current counts to 'path' atomically; PATH.part exists immediately. 'whole' includes
 * the samples, of which a long run has a million. A thread writes the file, because the loop's
 * neighbours would otherwise consider it dead. Waits for the thread of the previous call. */
void real_report_write(struct real_fabric *fabric, const char *path, bool whole);
/* Waits for that thread, if it is running. */
void real_report_end(struct real_fabric *fabric);

/* The traffic of a real-clock fabric and its measurement, from the fabric's own configuration or,
 * for one run of a lab, from a file written by 'weft lab run --set'. Only the leader changes it,
 * while no loop is executing a command. The loops read it when they execute the start command. */

/* Resolves and checks the traffic of 'run', and opens its window. Returns 0, or -errno with error
 * set; call real_traffic_close() in either case. */
int real_traffic_open(struct real_fabric *fabric, struct real_traffic *work,
	const struct run_config *run, struct error *error);
/* Also accepts zeroed traffic. */
void real_traffic_close(struct real_traffic *work);

/* Writes an answer file, {} or {"error": text}, atomically. 'error' may be NULL. */
void real_answer(const char *path, const char *error);

/* Loads LAB_RUN_FILE from the directory of 'path', for a start command that selects it, and writes
 * {} or {"error": text} to 'path'. The file must have as many traffic entries as the fabric's own
 * run. */
void real_traffic_load(struct real_fabric *fabric, const char *path);
/* Selects the traffic to start: 'loaded': the traffic loaded since the last start (returns false,
 * and changes nothing, if there is none); otherwise the fabric's own, discarding loaded traffic. */
bool real_traffic_begin(struct real_fabric *fabric, bool loaded);
/* Frees all loaded traffic. */
void real_traffic_drop(struct real_fabric *fabric);
