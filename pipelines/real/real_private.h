/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The structs and functions of a real-clock fabric, for its files (real_*.c) alone. */

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

/* Streams of random numbers of a device (lib/base/rng.h). */
enum real_stream { REAL_STREAM_IMPAIRMENT = 100, REAL_STREAM_TRAFFIC, REAL_STREAM_CHOICE };

#define REAL_LOOPS_MAX 64

/* A port of a device that lives here, or the far end of its link. */
struct real_end {
	struct topology_port at, far; /* 'far': the other end, if it has a cable */
	struct topology_link wire;    /* likewise */
	uint32_t slot;                /* selects its random numbers; constant */
	bool external;                /* it leads to another process, through 'device' */
	const char *device;
	bool made;  /* 'port' exists */
	bool open;  /* ... and has a cable */
	bool moved; /* REAL_ORDER_PLUG plugs in another cable, or pulls it out */
	struct port port;
	struct impairment impairment;
	bool attached; /* its ethdev was found */
	bool timed;    /* Weft enforces its rate and delay: */
	struct tx_timing timing;
	/* The last commands for it, which the process keeps for its next start. */
	bool cut;
	bool ordered; /* 'knob' */
	bool due;     /* 'knob' is to be set */
	uint64_t knob[LINK_KNOB_COUNT];
};

/* A switch that lives here. */
struct real_switch {
	uint32_t number;                /* in the topology */
	struct poll_division *division; /* among several loops; NULL: one has all of it */
	struct weft_switch *sw;         /* if divided, the first part, like 'poll' */
	struct poll_switch *poll;
	struct fecn fecn;             /* if it marks */
	struct contention contention; /* if sources measure latencies */
	struct switch_metrics_shown shown;
	struct congestion_metrics detector; /* if it has an adaptation */
};

/* A loop's share of the switches: a switch, or a shard of one. */
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
	struct starvation_transit middle; /* state in the middle of the measured time */
	bool made_netns; /* its edge's namespace was created here and must be removed at the end */
	const struct run_config_edge *edge;
};

/* A command to all loops, each for its own hosts. */
enum real_order {
	REAL_ORDER_NONE,
	REAL_ORDER_START,
	REAL_ORDER_MEASURE, /* the warm-up is over: lateness and latencies start at measure_from */
	REAL_ORDER_STOP,
	REAL_ORDER_LOOK, /* collect the heads of switches that lack credits */
	REAL_ORDER_PLUG, /* move the cables that are marked */
};

enum real_phase {
	REAL_IDLE,
	REAL_WAITING, /* for the links, and for mapped routes */
	REAL_WARMING,
	REAL_SETTLING, /* measures until the automatic warm-up ends, then starts again */
	REAL_MEASURING,
	REAL_DRAINING, /* no new traffic; packets in flight are delivered */
};

/* A loop that has nothing to do (real_fabric_idle.h). */
struct real_idle {
	int ready, wake;      /* epoll of its TAPs and of 'wake', an eventfd; -1: it never sleeps */
	int bell;             /* inotify, readable when a frame from another process arrives */
	atomic_bool busy;     /* one of its hosts has frames in flight: no loop may sleep */
	atomic_bool resting;  /* written by any thread that has work for this loop */
	weft_time idle_since; /* none of its hosts has been busy since */
	weft_time calm_since; /* it has carried no frame since */
};

struct real_worker {
	struct real_fabric *fabric;
	unsigned number;
	unsigned first_polled, last_polled, first_host, last_host; /* last: one behind */
	unsigned orders_seen;
	unsigned carried; /* frames in the last iteration, except the neighbours' own link frames */
	bool leader;      /* main thread's: it also supervises */
	/* Readers: the leader, the main thread after the loop. */
	struct loop_stall stall;
	struct deadlock_heads heads; /* at the last REAL_ORDER_LOOK */
	struct histogram late_ns;    /* arrivals, from warm-up to the end of traffic */
	struct real_idle rest;
};

/* A loop as shown in telemetry. Outlives the workers, which are refilled for each run. */
struct real_shown_loop {
	const struct real_fabric *fabric;
	unsigned number;
	char name[8];
};

/* Failed allocations that were reported; reported again when their number has doubled. */
struct real_pool_warning {
	weft_time due;
	uint64_t control, device;
};

/* The traffic of the hosts, and how it is measured. */
struct real_traffic {
	const struct run_config *run; /* traffic, measure, seed */
	struct run_config *own;       /* 'run', if it was loaded for this */
	struct run_hosts *hosts;      /* its traffic section, resolved */
	struct measure_window window;
	struct measure_sink_flow *flows; /* flows of the entries that end */
	struct real_events *events;      /* NULL: it has none */
};

/* The leader's: cables are being moved. */
struct real_recabling {
	char path[TELEMETRY_CONTROL_MAX]; /* where to write the answer; "": no */
	struct real_cabling next;
	atomic_uint failed; /* ends */
};

struct real_fabric {
	struct real_fabric_options options;
	uint8_t secret[NIC_SECRET_BYTES]; /* shared by all hosts here */
	struct clock clock;
	struct rte_mempool *data_pool, *control_pool;
	struct fabric_routes routes;  /* without any if they are mapped */
	struct real_control *control; /* NULL: the routes are static */
	struct real_report *report;   /* that is being written */
	struct real_traffic given;    /* as its own configuration says */
	struct real_traffic *work;    /* now: &given, or what was loaded for a run */
	struct real_traffic *next, *former;
	struct run_goal *goal; /* a schedule that the hosts replay; NULL: none */
	struct goal_replay *replay;
	struct real_end *end; /* [2 * link + side] of the links at the start; then free ports */
	uint32_t ends;
	struct real_end **switch_end, **host_end; /* [switch * TOPOLOGY_PORTS_MAX + port], [host] */
	struct real_switch *switches;
	unsigned switch_count;
	struct real_polled *polled; /* what loops poll of them */
	unsigned polled_count;
	struct weft_switch **sw; /* by number; NULL: elsewhere */
	struct real_host *hosts;
	unsigned host_count;
	uint32_t *address; /* [host of the topology], if one has an edge; edge.h */
	unsigned loops;    /* the polling loops, each with its share of the devices */
	bool crowded;      /* together with other processes' loops they are more than the CPUs */
	struct real_endpoints *endpoints; /* NULL: programs cannot attach */
	struct capture_manager *captures;
	struct telemetry *telemetry;
	struct real_shown_loop shown_loop[REAL_LOOPS_MAX];
	/* The leader's command to the loops, and the times that it concerns. */
	struct loop_commands orders;
	bool whole;            /* no link leads to another process */
	bool rests;            /* its loops may rest if nothing is going on */
	atomic_bool may_rest;  /* the leader's: nothing is going on */
	weft_time awake_until; /* the leader's */
	enum real_order order;
	atomic_bool halt;
	weft_time traffic_from, measure_from, traffic_until;
	_Atomic weft_time sent_from; /* traffic_from, for other threads; 0: no traffic yet */
	struct real_worker worker[REAL_LOOPS_MAX];
	/* The leader's. */
	enum real_phase phase;
	bool serving; /* part of a lab: phases start on command */
	const atomic_bool *stop;
	weft_time duration, waited_from, look_due, ended_at, stopped_at;
	weft_time hurried_at; /* when a signal arrived after the end of traffic; 0: none */
	uint64_t arrived;     /* messages, at the last check while draining */
	weft_time arrived_at;
	bool incomplete;
	bool stop_seen;                /* the signal was handled */
	atomic_uint sources_failed;    /* hosts that could not start to send, each time */
	bool unrouted;                 /* traffic started without mapped routes to all hosts */
	weft_time deadlock_period;     /* between looks */
	weft_time deadlock_due;        /* the next look */
	weft_time starved_after;       /* minimum wait of starved hosts and queues */
	struct deadlock_heads starved; /* that were seen */
	struct deadlock_circle circle; /* the first one that was found */
	struct deadlock_heads looked;  /* heads of all loops, at the last REAL_ORDER_LOOK */
	char waiting[TELEMETRY_CONTROL_MAX]; /* path for the heads of the next search; "": none */
	struct real_pool_warning shortage;
	struct real_recabling recabling;
};

/* Maximum numbers of hosts and of switches, with those that are plugged in later. */
static inline uint32_t real_hosts_max(const struct real_fabric *fabric)
{
	return RTE_MAX(fabric->options.hosts_max, fabric->options.topology->hosts);
}

static inline uint32_t real_switches_max(const struct real_fabric *fabric)
{
	return RTE_MAX(fabric->options.switches_max, fabric->options.topology->switches);
}

/* How far a transmitter catches up after its loop was not scheduled (pacer.h). On a busy machine
 * loops do not run for some ten milliseconds at a time. */
#define REAL_CATCH_UP_PS (20 * PS_PER_MS)

/* Device i of n is in loop i * loops / n: neighbours in number, which are neighbours in the
 * network, stay together. The range of a loop starts with its first device and ends before the
 * first of the next loop. */
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
		.hosts_max = fabric->options.hosts_max,
	};
}

/* The events of a run (real_fabric_events.c). The leader carries them out. */

/* Returns 0, or -EINVAL, -ENOMEM and error. */
int real_events_create(struct real_fabric *fabric, struct real_traffic *work, struct error *error);
void real_events_destroy(struct real_events *events);
/* Their times count from now on: in a run from the start of traffic, in a lab from its own start,
 * and again from the start of each run. Undoes those that have occurred. */
void real_events_restart(struct real_fabric *fabric, weft_time now);
/* While the traffic's last frames are delivered, it only rejoins cables. */
void real_events_poll(struct real_fabric *fabric, weft_time now);
/* True if no event is due for as long as idle loops sleep. */
bool real_events_rest(const struct real_fabric *fabric, weft_time now);
/* Returns 0 or -ENOMEM. */
int real_events_result(const struct real_fabric *fabric, struct run_result *result);

/* Losses on links, and discards because a link was down. */
struct real_losses {
	uint64_t on_links, discarded, corrupted, credits;
};
struct real_losses real_losses_read(const struct real_fabric *fabric);

/* Mapped routes of a real-clock fabric: its control plane and the thread that runs it. */

/* Does nothing if routes are static; before there are devices. */
int real_control_create(struct real_fabric *fabric, struct error *error);
void real_control_destroy(struct real_fabric *fabric);
/* The control thread. */
void real_control_start(struct real_fabric *fabric);
void real_control_stop(struct real_fabric *fabric);
/* The control of a device that lives here; NULL if routes are static. */
struct device_control *real_control_of(
	const struct real_fabric *fabric, enum device_kind kind, uint32_t number);
/* True if routes are static, or mapped ones lead from each host here to all others. */
bool real_is_routed(const struct real_fabric *fabric);
/* True if routes may arrive, because there is a control thread and a host here may be the
 * mapper. */
bool real_may_be_routed(const struct real_fabric *fabric);
/* The reason why there are no routes; call it once the control thread has stopped. */
void real_control_why(const struct real_fabric *fabric, struct error *error);
/* Other cables will follow. The leader's. */
void real_control_renew(struct real_fabric *fabric);
/* control_plane_ask(); also returns false if routes are static. */
bool real_control_ask(struct real_fabric *fabric, const char *request);

/* Deadlocks and starvation in a real-clock fabric (deadlock.h, starvation.h). */

/* Called when the switches exist. Returns 0, or -ENOMEM with error set. */
int real_deadlock_open(struct real_fabric *fabric, struct error *error);
void real_deadlock_close(struct real_fabric *fabric);
/* Before traffic with this measured time. */
void real_deadlock_begin(struct real_fabric *fabric, weft_time measured_ps);

/* Keeps the first cycle found, and the starved heads, among heads that have waited for 'age_ps' (0:
 * all). While other loops run it sees only the hosts. If memory runs out, it keeps less. */
void real_deadlock_look(struct real_fabric *fabric, weft_time now, weft_time age_ps);
/* The first is called in the middle of the measured time; the second afterwards, and puts the
 * findings into a result. Returns 0 or -ENOMEM. */
void real_deadlock_middle(struct real_fabric *fabric);
int real_deadlock_result(const struct real_fabric *fabric, struct run_result *result);
/* Runs a search during traffic, if one is due. Returns true if all loops must collect their
 * heads. */
bool real_deadlock_check(struct real_fabric *fabric, weft_time now);
/* The loop's part of REAL_ORDER_LOOK. */
void real_deadlock_collect(struct real_worker *worker, weft_time now);
/* After it: searches the heads of all loops that have waited since the time before, and writes them
 * all to the requested path. */
void real_deadlock_looked(struct real_fabric *fabric);

/* Counters of the entries of the traffic of a real-clock fabric: hosts count what they generate by
 * source, and what arrives in their sinks. For an entry that has an end, arrivals are also counted
 * per sender: in a row [hosts] for each loop, shared by the hosts of the loop. */

/* Makes the hosts' sinks distinguish the entries; called when the hosts exist and the number of
 * loops is known. May return -ENOMEM. */
int real_entries_create(struct real_fabric *fabric);
/* The rows of this work, in work->flows. May return -ENOMEM. */
int real_flows_create(const struct real_fabric *fabric, struct real_traffic *work);
/* Clears the loop's rows by sender and makes its hosts count there; in that loop. */
void real_flows_begin(struct real_fabric *fabric, unsigned loop);
/* Writes the totals of the window's entries. 'fresh': they are about to restart. */
void real_entries_read(struct real_fabric *fabric, bool fresh);
/* Writes the flows of the window's entries, from scratch: for a result, since it takes loops x
 * entries x hosts steps. */
void real_flows_read(struct real_fabric *fabric);
/* Adds the latencies of each entry in the result. */
void real_entries_add_latencies(const struct real_fabric *fabric, struct run_result *result);

/* The hosts of a real-clock fabric: interfaces, their routes, traffic and TAP edges. */

int real_hosts_create(struct real_fabric *fabric, struct error *error);
void real_hosts_destroy(struct real_fabric *fabric);
/* Updates the addresses after a new cabling. For the leader. */
void real_hosts_renew(struct real_fabric *fabric);
/* In the host's own loop. */
int real_host_start_traffic(
	struct real_fabric *fabric, struct real_host *host, struct error *error);
/* Discards latencies of earlier measuring. */
void real_host_measure(const struct real_fabric *fabric, struct real_host *host);
/* Stops the host's sources. A TAP is read until the fabric ends. */
void real_host_stop_traffic(
	const struct real_fabric *fabric, struct real_host *host, weft_time now);

/* Rate, delay and faults of links, at the start and while the fabric runs. */

/* Gives links to other processes the rate and the delay of the file, if it has any. Returns 0, or
 * -ENOMEM with fault set. */
int real_links_pace(struct real_fabric *fabric, struct error *error);

/* Carries out a command (link_knobs.h) for all directions that leave a port here. Rate and delay 0:
 * as fast as the device. Only the leader calls it. */
void real_links_set(struct real_fabric *fabric, const char *text);
/* Sets the values of frames that leave an end, which is open: LINK_KNOB_KEEP leaves a value
 * unchanged, NULL restores all of them from the file. Only for the leader. */
void real_end_set(
	struct real_fabric *fabric, struct real_end *end, const uint64_t asked[LINK_KNOB_COUNT]);
/* Lets frames cut through where the present rates allow it. */
void real_links_cut_through(struct real_fabric *fabric);
/* Writes the commands for all ends here to options.orders, before they take effect. */
void real_links_keep(const struct real_fabric *fabric);
/* Carries out the commands that an earlier run of the process kept. Before the loops run. */
void real_links_recall(struct real_fabric *fabric);
/* Resets an end whose link is down to the rate, delay and faults in the file, and forgets commands.
 * Runs in the loop that polls the end. */
void real_end_reset(struct real_fabric *fabric, struct real_end *end);
/* Pads the next hello of each end here to the length of the longest frame. Only the leader. */
void real_links_pad(struct real_fabric *fabric);

/* Current setting for frames that leave here. Rate and delay 0: the device's own apply. */
uint64_t real_end_knob(
	const struct real_fabric *fabric, const struct real_end *end, enum link_knob knob);

/* The links of a real-clock fabric: in-memory ones between devices of this process, ethdevs where
 * the other end is elsewhere. */

/* Finds the devices of external links, on which the pools depend. */
int real_links_attach(struct real_fabric *fabric, struct error *error);
void real_links_needs(const struct real_fabric *fabric, struct real_pool_request *request);
/* For a device that is not attached; the maximum for a NIC. */
void real_device_needs(const char *device, const struct port_ethdev_config *config,
	struct port_ethdev_needs *needs);
/* Opens all links, once there are pools. */
int real_links_open(struct real_fabric *fabric, struct error *error);
void real_links_close(struct real_fabric *fabric);
/* The end at a port of a device that lives here; NULL if no cable can be there. */
struct real_end *real_end_at(struct real_fabric *fabric, struct topology_port at);
bool real_is_here(const struct real_fabric *fabric, const struct topology_port *at);
/* True if the transmitter times the wire from this end, which belongs to a link in memory. */
void real_end_time(const struct real_fabric *fabric, struct real_end *end);
/* Whether the other end of its cable is also here. */
bool real_end_is_inside(const struct real_end *end);
/* The port at the other end of its cable according to the topology; without a mapper no other is
 * possible. */
struct port_auth_plan real_end_plan(const struct real_fabric *fabric, const struct real_end *end);
/* "s0:2 down" cuts the cable at this port, if that is here, "s0:2 up" joins it again. */
void real_links_cut(struct real_fabric *fabric, const char *text);
/* Key for its control frames; NULL: a link inside this process, or no key. */
const struct link_key *real_end_key(const struct real_fabric *fabric, const struct real_end *end);
/* How many frames its ends may hold back, if it leads to another process. */
unsigned real_held_frames(const struct topology_link *link);
/* Returns NULL if none is wanted. */
struct impairment *real_end_impairment(struct real_end *end);

/* Cables that are moved while the fabric runs (real_fabric_cables.c). For the leader: */

/* Starts to move cables: loads the new cabling and disables the ends of cables to be removed. The
 * answer is written to 'path': {} or {"error": text}. */
void real_cables_load(struct real_fabric *fabric, const char *path, weft_time now);
/* True if the links of these ends are down: REAL_ORDER_PLUG is next, after real_cables_begin(). */
bool real_cables_are_due(const struct real_fabric *fabric);
void real_cables_begin(struct real_fabric *fabric);
/* All loops have obeyed. */
void real_cables_done(struct real_fabric *fabric);
/* The loop's part of REAL_ORDER_PLUG. */
void real_cables_move(struct real_worker *worker);

/* Counters of a real-clock fabric. */

/* Bytes of a frame on the wire besides its payload: header, a typical route, preamble and gap. */
uint64_t real_frame_overhead(const struct real_fabric *fabric);
/* Reads the counters of a link (measure_window.h), in a process that has the whole fabric. */
void real_link_read(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);
/* At 'now', in time since the traffic started. */
void real_totals_read(
	const struct real_fabric *fabric, weft_time now, struct measure_totals *totals);
/* real_fabric_result(); without 'whole', without the samples. */
int real_fabric_count(
	struct real_fabric *fabric, bool whole, struct run_result *result, struct error *error);

/* The loops of a real-clock fabric: polling every device, distributed over the lcores. The first
 * loop, the leader, also watches the clock, takes samples and gives the commands. real_fabric.h has
 * the functions that start them. */

/* The leader, between two rounds of polling, advances the phases and carries out commands. It does
 * nothing while a loop has not completed the last command. Returns true when the run is over. */
bool real_lead(struct real_fabric *fabric);
/* Enclose work in a loop's own thread that may take long, such as a report: the CPU time spent does
 * not count as a stall. real_task_begin() returns the argument for real_task_end(). */
weft_time real_task_begin(struct real_worker *worker);
void real_task_end(struct real_worker *worker, weft_time began);

/* Pools that run dry. A switch without buffers for control frames falls silent and its neighbours
 * consider it dead, so the process reports the shortage with its visible cause: when it first
 * happens, and again each time the count has doubled. The counters are in telemetry (no_mbuf,
 * device_rx_no_buffer). */

/* Warns on standard error of pools that ran dry. */
void real_pool_warning_check(struct real_fabric *fabric, weft_time now);

/* A real-clock fabric on DPDK's telemetry. */

/* Switches, interfaces, links, loops. */
int real_telemetry(struct real_fabric *fabric, struct error *error);
void real_telemetry_end(struct real_fabric *fabric);

/* The link protocol of an open end whose device lives here, or NULL. */
const struct link_end *real_end_link(const struct real_fabric *fabric, const struct real_end *end);
/* True if all links of devices that live here are up. */
bool real_links_are_up(const struct real_fabric *fabric);

/* The switches of a real-clock fabric. */

int real_switches_create(struct real_fabric *fabric, struct error *error);
void real_switches_destroy(struct real_fabric *fabric);

/* Lateness of the arrivals at links that Weft times, from warm-up to the end of traffic: per end of
 * a link, and for all ends that a loop polls. */

/* For frames that arrive at this port; all 0 if nothing was measured. */
struct lateness_summary real_lateness_at(struct real_fabric *fabric, struct topology_port at);

/* The counts of a process of a lab, in a file for the command that asks. Only the leader calls
 * these. */

/* Writes the present counts to 'path', which appears complete or not at all; PATH.part exists from
 * the first moment on. 'whole': with the samples, of which a long run has a million. A thread
 * writes them, because otherwise the loop's neighbours would consider it dead meanwhile. The call
 * waits for the thread of the previous call. */
void real_report_write(struct real_fabric *fabric, const char *path, bool whole);
/* Waits for the thread, if it is running. */
void real_report_end(struct real_fabric *fabric);

/* The traffic of a real-clock fabric, and how it is measured: from its own configuration, or, for
 * one run of a lab, from a file that 'weft lab run --set' wrote. Only the leader changes it, while
 * no loop has a command to carry out; the loops read it when they carry out the command to
 * start. */

/* Resolves and checks the traffic of 'run', and opens its window. Returns 0, or -errno with error
 * set; the caller closes it in any case. */
int real_traffic_open(struct real_fabric *fabric, struct real_traffic *work,
	const struct run_config *run, struct error *error);
/* Also one that is zeroed. */
void real_traffic_close(struct real_traffic *work);

/* Writes the file of an answer, {} or {"error": text}; it appears complete or not at all. 'error'
 * may be NULL. */
void real_answer(const char *path, const char *error);

/* Loads the file LAB_RUN_FILE in the folder of 'path', for a start command that asks for it; writes
 * {} or {"error": text} to 'path'. The file has as many traffic entries as the fabric's own
 * configuration. */
void real_traffic_load(struct real_fabric *fabric, const char *path);
/* Traffic starts: the traffic loaded since the last start, or the fabric's own; loaded traffic that
 * the command does not ask for is forgotten. Returns false if nothing was loaded, and nothing
 * changes. */
bool real_traffic_begin(struct real_fabric *fabric, bool loaded);
/* For everything that was loaded. */
void real_traffic_drop(struct real_fabric *fabric);
