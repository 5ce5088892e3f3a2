/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The measuring window of a run, the same for all three engines (real clock, virtual clock,
 * wormhole): its counters when measuring started, at the last sample and when it ended, and the
 * throughput and samples that follow from them. An engine reads its counters; the arithmetic is
 * here. */

#include "experiment/result/run_link_series.h"
#include "experiment/result/run_result.h"
#include "experiment/result/run_result_jobs.h"
#include "experiment/result/run_stream.h"
#include "experiment/run/run_config.h"
#include "experiment/workload/run_goal.h"
#include "experiment/workload/run_hosts.h"
#include "nic/congestion/source_control.h"
#include "switch/switch.h"
#include "topo/topology.h"
#include "traffic/traffic.h"
#include "wire/frame.h"

/* The load of links in each sample (measure.link-series), for all three engines. An engine reads
 * the counts of each direction since the run started; the differences are computed here. */

/* Use of one direction of a link. The first three only grow. */
struct measure_link_use {
	uint64_t busy_ps, blocked_ps, stalls;
	bool root;                      /* the output is a root of congestion now */
	uint32_t stored[FRAME_VCS_MAX]; /* blocks in the buffer at the far end now */
};

/* Fills 'use', which is zeroed, for the direction from one port to the other. */
typedef void (*measure_link_fn)(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);

/* Adds the measurements of other processes; each measures at its own devices and has 0
 * elsewhere. */
typedef void measure_link_sum_fn(const void *ctx, uint32_t *value, size_t values);

struct measure_link_before {
	uint64_t busy_ps, blocked_ps, stalls;
};

struct measure_links {
	const struct topology *topology;
	measure_link_fn read; /* NULL: nothing is measured */
	const void *ctx;
	measure_link_sum_fn *sum;           /* NULL: this process reads all links */
	uint32_t vc_blocks;                 /* size of one VC in a buffer */
	struct measure_link_before *before; /* [ways], at the last sample */
	struct run_link_series series;
};

/* Opens it if the run asks for it. The caller owns topology and 'ctx', which must outlive it. May
 * return -ENOMEM. */
int measure_links_open(struct measure_links *links, const struct topology *topology,
	const struct run_config *run, measure_link_fn read, const void *ctx);
/* Also allowed on a zeroed struct that was never opened. */
void measure_links_close(struct measure_links *links);

/* Measuring starts. Forgets all samples. */
void measure_links_begin(struct measure_links *links);
/* Takes a sample of the last 'time_ps'. Returns 0 and its values (NULL if nothing is measured or
 * the series is full), or -ENOMEM. */
int measure_links_sample(struct measure_links *links, uint64_t time_ps, const uint32_t **values);

/* Fills in the state of the switches at both ends; NULL: a host is there. */
void measure_links_read_switches(const struct weft_switch *from, unsigned output,
	const struct weft_switch *to, unsigned input, struct measure_link_use *use);

/* Counters of a run at one moment. They only grow. */
struct measure_totals {
	weft_time at_ps;
	uint64_t messages, bytes; /* delivered: payload */
	uint64_t wire_bytes; /* delivered: everything that counts as load on the hosts' links */
	uint64_t generated_messages, generated_wire_bytes;
	uint64_t timed, latency_sum_ps; /* deliveries with a known latency */
	/* Delivery means arrival; these count frames that were released in order. */
	uint64_t released_wire_bytes, released_timed, released_latency_sum_ps;
	/* The part of wire_bytes and generated_wire_bytes from programs, through TAP edges. */
	uint64_t edge_wire_bytes, edge_generated_wire_bytes;
	uint64_t absorbed;      /* frames, by hosts on the way */
	uint64_t adapted, arns; /* by switches: packets sent on another path, notifications */
	struct source_control_sums control; /* sums over all hosts */
};

/* Counters of an entry of the traffic. */
struct measure_entry_totals {
	uint64_t generated_messages, generated_wire_bytes;
	uint64_t messages, wire_bytes; /* delivered */
	uint64_t released_wire_bytes;
	uint64_t timed, latency_sum_ns; /* messages with a known total latency, from warm-up on */
};

/* The messages of one host for an entry that ends: one with 'stop', or a schedule. */
struct measure_flow {
	uint64_t generated, delivered; /* messages */
	weft_time last_ps;             /* when the last one arrived, since the traffic started */
};

struct measure_entry {
	const uint16_t *sender; /* [senders], the caller's */
	uint32_t senders;
	weft_time start_ps;
	weft_time first_ps; /* when its first message falls due, from the engine */
	double capacity;    /* sum of the senders' links, in the unit of the window's rate */
	/* The engine writes 'now' before each call that starts or ends measuring or a batch, and
	 * again before the result if it has changed. */
	struct measure_entry_totals now, from, batched, to;
	struct run_batch batch[STEADINESS_BATCHES];
	struct measure_flow *flow; /* [hosts], the engine writes it; NULL: the entry has no end */
	weft_time end_ps;          /* when its last message falls due; WEFT_TIME_NEVER: no end */
	struct run_packets_count packets; /* pcap */
};

struct measure_window {
	double unit, capacity, second; /* see measure_window_open() */
	struct measure_totals from, to, sampled;
	struct run_result samples;
	struct measure_links links;   /* opened by the engine, if at all */
	struct run_stream *stream;    /* the caller's; receives each sample at once; NULL: none */
	const struct run_config *run; /* where the entries come from */
	const struct topology *topology;
	struct measure_entry *entry; /* as run->traffic */
	unsigned entries;
	unsigned batches;
	weft_time length_ps; /* measured time, from the engine; 0: unknown */
	weft_time batch_ps;  /* length of a batch */
};

/* Shares are relative to the combined capacity of all hosts' links: their rates, or, if 'cycle_ps'
 * is not 0, one byte per cycle each. */
void measure_window_open(
	struct measure_window *window, const struct topology *topology, weft_time cycle_ps);
/* Also opens the entries of the traffic. 'goal' NULL: no schedule. All of them must outlive the
 * window. Returns 0 or -ENOMEM. */
int measure_window_add_entries(struct measure_window *window, const struct topology *topology,
	const struct run_config *run, const struct run_hosts *traffic, const struct run_goal *goal);
/* Also closes a window that was never opened, if it is zeroed. */
void measure_window_close(struct measure_window *window);

/* Measuring starts. Forgets all samples. */
void measure_window_begin(struct measure_window *window, const struct measure_totals *now);
/* Takes a sample of the time since the last one, or since the start; takes none beyond
 * RUN_SAMPLES_MAX, for runs without an end. Links have values in the samples for which there is
 * room. May return -ENOMEM. */
int measure_window_sample(struct measure_window *window, const struct measure_totals *now);
/* Registers a traffic source of an entry, before the source provides a message; 'from_ps': when the
 * traffic started. */
void measure_window_source(
	struct measure_window *window, const struct traffic *source, weft_time from_ps);
/* When the current batch ends. If the measured time is not known, batches are short at first; pairs
 * of batches are merged when there are too many. */
weft_time measure_window_batch_end(const struct measure_window *window);
/* A batch ended, now or earlier. Returns true if the length of the measured time is known and its
 * second half starts here. */
bool measure_window_batch(struct measure_window *window, weft_time at_ps);
/* Measuring ends. */
void measure_window_end(struct measure_window *window, const struct measure_totals *now);

/* Fills in throughput and samples, and a result entry without histograms for each entry of the
 * traffic. 'switches': flits per ns are divided by this number; 0: none. May return -ENOMEM. */
int measure_window_result(
	const struct measure_window *window, uint32_t switches, struct run_result *result);
/* The same without the samples, of which there may be a million. */
int measure_window_counts(
	const struct measure_window *window, uint32_t switches, struct run_result *result);

/* Adds a switch's counters of congestion: marks, adaptive routing, detector, notifications. */
void measure_congestion(const struct weft_switch *sw, struct run_result *result);

/* Seconds of wall-clock time from an arbitrary origin: used for a run's cost only, never for its
 * result. */
double measure_wall_seconds(void);

/* Ends a run that measures until a value is known precisely enough (measure.until), based on the
 * batches of its window. Call both after each batch. They evaluate only at a few counts of batches,
 * at growing intervals, because a value that is tested often enough passes by chance. */

/* True if the batches since the start of the traffic show where the warm-up ends (MSER-5), so that
 * measuring can restart now. */
bool measure_is_warm(const struct measure_window *window);
/* True if the 95 % confidence interval of the value is narrow enough and latency is steady. */
bool measure_until_reached(const struct measure_window *window);

/* Stores the flows of a run (pattern flows) with their times, or the end times of the ranks of its
 * schedule, in its result. */

/* Adds them. Returns 0 or -ENOMEM. */
int schedule_times_result(const struct run_goal *goal, struct goal_replay *replay,
	const struct run_config *run, const struct topology *topology, struct run_result *result);
