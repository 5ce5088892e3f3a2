/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The measurement window of a run, shared by all three engines (real clock, virtual clock,
 * wormhole). It holds the counters at the start of the measurement, at the last sample and at the
 * end, and derives throughput and samples from them. The engines only read their counters. */

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

/* Link utilisation in each sample (measure.link-series), for all three engines. An engine reads
 * each direction's counts since the run started; the differences are computed here. */

/* Usage of one direction of a link. The first three fields never decrease. */
struct measure_link_use {
	uint64_t busy_ps, blocked_ps, stalls;
	bool root;                      /* the output is a root of congestion now */
	uint32_t stored[FRAME_VCS_MAX]; /* blocks now in the buffer at the far end */
};

/* Fills 'use', which is zeroed, for the direction from 'from' to 'to'. */
typedef void (*measure_link_fn)(const void *ctx, struct topology_port from, struct topology_port to,
	struct measure_link_use *use);

/* Sums the values over all processes. Values of devices in other processes are 0. */
typedef void measure_link_sum_fn(const void *ctx, uint32_t *value, size_t values);

struct measure_link_before {
	uint64_t busy_ps, blocked_ps, stalls;
};

struct measure_links {
	const struct topology *topology;
	measure_link_fn read; /* NULL: links are not measured */
	const void *ctx;
	measure_link_sum_fn *sum;           /* NULL: this process reads all links */
	uint32_t vc_blocks;                 /* size of a VC's buffer */
	struct measure_link_before *before; /* [series.ways]: counts at the last sample */
	struct run_link_series series;
};

/* Opens 'links' if measure.link-series is set. The topology and 'ctx' are borrowed and must outlive
 * 'links'. Returns 0 or -ENOMEM. */
int measure_links_open(struct measure_links *links, const struct topology *topology,
	const struct run_config *run, measure_link_fn read, const void *ctx);
/* Also accepts a zeroed struct that was never opened. */
void measure_links_close(struct measure_links *links);

/* Starts measuring. Discards all samples. */
void measure_links_begin(struct measure_links *links);
/* Takes a sample that covers the last 'time_ps'. Sets *values to its values, or to NULL if links
 * are not measured or the series is full. Returns 0 or -ENOMEM. */
int measure_links_sample(struct measure_links *links, uint64_t time_ps, const uint32_t **values);

/* Fills in the state of the switches at both ends; NULL: that end is a host. */
void measure_links_read_switches(const struct weft_switch *from, unsigned output,
	const struct weft_switch *to, unsigned input, struct measure_link_use *use);

/* Counters of a run at one moment. They never decrease. */
struct measure_totals {
	weft_time at_ps;
	uint64_t messages, bytes; /* delivered payload */
	uint64_t wire_bytes;      /* delivered bytes that count as load on the hosts' links */
	uint64_t generated_messages, generated_wire_bytes;
	uint64_t timed, latency_sum_ps; /* deliveries with a known latency */
	/* The counters above refer to arrivals; these count frames released in order. */
	uint64_t released_wire_bytes, released_timed, released_latency_sum_ps;
	/* Programs' part of wire_bytes and generated_wire_bytes, through TAP edges. */
	uint64_t edge_wire_bytes, edge_generated_wire_bytes;
	uint64_t absorbed;      /* frames absorbed by hosts in transit */
	uint64_t adapted, arns; /* packets that switches sent on a different path; notifications */
	struct source_control_sums control; /* sums over all hosts */
};

/* Counters of a traffic entry. */
struct measure_entry_totals {
	uint64_t generated_messages, generated_wire_bytes;
	uint64_t messages, wire_bytes; /* delivered */
	uint64_t released_wire_bytes;
	uint64_t timed, latency_sum_ns; /* messages with a known total latency, after warm-up */
};

/* Messages of one host for a finite entry, which is one with 'stop' or a schedule. */
struct measure_flow {
	uint64_t generated, delivered; /* messages */
	weft_time last_ps; /* arrival time of the last message, relative to the start of the traffic
			    */
};

struct measure_entry {
	const uint16_t *sender; /* [senders], borrowed */
	uint32_t senders;
	weft_time start_ps;
	weft_time first_ps; /* when the first message is due; set by the engine */
	double capacity;    /* sum of the rates of the senders' links, in the window's unit */
	/* The engine sets 'now' before each call that starts or ends measuring or a batch, and
	 * again before the result if it has changed. */
	struct measure_entry_totals now, from, batched, to;
	struct run_batch batch[STEADINESS_BATCHES];
	struct measure_flow *flow; /* [hosts], written by the engine; NULL: the entry has no end */
	weft_time end_ps;          /* when the last message is due; WEFT_TIME_NEVER: no end */
	struct run_packets_count packets; /* for pattern pcap */
};

struct measure_window {
	double unit, capacity, second; /* see measure_window_open() */
	struct measure_totals from, to, sampled;
	struct run_result samples;
	struct measure_links links;   /* opened by the engine if it measures links */
	struct run_stream *stream;    /* borrowed; receives each sample immediately; NULL: none */
	const struct run_config *run; /* source of the entries */
	const struct topology *topology;
	struct measure_entry *entry; /* same indices as run->traffic */
	unsigned entries;
	unsigned batches;
	weft_time length_ps; /* duration of the measurement, set by the engine; 0: unknown */
	weft_time batch_ps;  /* duration of a batch */
};

/* Shares are relative to the combined capacity of all hosts' links. A link's capacity is its rate
 * or, if 'cycle_ps' is not 0, one byte per cycle. */
void measure_window_open(
	struct measure_window *window, const struct topology *topology, weft_time cycle_ps);
/* Opens the traffic entries. 'goal' is NULL if there is no schedule. All arguments must outlive the
 * window. Returns 0 or -ENOMEM. */
int measure_window_add_entries(struct measure_window *window, const struct topology *topology,
	const struct run_config *run, const struct run_hosts *traffic, const struct run_goal *goal);
/* Also accepts a zeroed window that was never opened. */
void measure_window_close(struct measure_window *window);

/* Starts measuring. Discards all samples. */
void measure_window_begin(struct measure_window *window, const struct measure_totals *now);
/* Takes a sample that covers the time since the last sample, or since the start of measuring. Does
 * nothing after RUN_SAMPLES_MAX samples, which bounds the memory of endless runs. Link values are
 * recorded only while the link series has room. Returns 0 or -ENOMEM. */
int measure_window_sample(struct measure_window *window, const struct measure_totals *now);
/* Registers a traffic source of an entry before it provides a message. 'from_ps': traffic start. */
void measure_window_source(
	struct measure_window *window, const struct traffic *source, weft_time from_ps);
/* Returns the end of the current batch. If the duration of the measurement is unknown, batches
 * start short, and pairs of batches are merged whenever there are too many. */
weft_time measure_window_batch_end(const struct measure_window *window);
/* Ends a batch at 'at_ps', which is not in the future. Returns true if the duration of the
 * measurement is known and its second half starts now. */
bool measure_window_batch(struct measure_window *window, weft_time at_ps);
/* Ends measuring. */
void measure_window_end(struct measure_window *window, const struct measure_totals *now);

/* Fills in throughput and samples, and adds a result entry without histograms for each traffic
 * entry. Throughput in flits per ns is divided by 'switches'; 0: omitted. Returns 0 or -ENOMEM. */
int measure_window_result(
	const struct measure_window *window, uint32_t switches, struct run_result *result);
/* Like measure_window_result(), but without the samples, which may number a million. */
int measure_window_counts(
	const struct measure_window *window, uint32_t switches, struct run_result *result);

/* Adds a switch's congestion counters: marks, adaptive routing, detector, notifications. */
void measure_congestion(const struct weft_switch *sw, struct run_result *result);

/* Returns seconds of wall-clock time from an arbitrary origin, for the cost of a run only. */
double measure_wall_seconds(void);

/* Ends a run that measures until a value is sufficiently precise (measure.until), based on the
 * batches of its window. Call both functions after each batch. They test only at a few batch
 * counts, at growing intervals, because a value that is tested often enough passes by chance. */

/* Returns true if the batches since the start of the traffic show where the warm-up ended (MSER-5),
 * so that measuring can restart now. */
bool measure_is_warm(const struct measure_window *window);
/* Returns true if the value's 95 % confidence interval is narrow enough and latency is steady. */
bool measure_until_reached(const struct measure_window *window);

/* Adds to the result the flows of a run with their times (pattern flows), or the end times of the
 * ranks of its schedule. Returns 0 or -ENOMEM. */
int schedule_times_result(const struct run_goal *goal, struct goal_replay *replay,
	const struct run_config *run, const struct topology *topology, struct run_result *result);
