/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The measurements of a run (docs/reference/result-file.md, 'Result'), which are the same on both
 * clocks, and their JSON form. The pipeline that ran fills the result, which owns its arrays;
 * run_result_free(). */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <stdio.h>

#include <jansson.h>
#include <time.h>

#include "base/weft_error.h"
#include "experiment/run/run_config.h"
#include "run_link_series.h"
#include "stats/histogram.h"
#include "stats/lateness.h"
#include "stats/steadiness.h"
#include "topo/topology.h"

#define RUN_ADVICE_MAX 256
#define RUN_REASON_MAX 200

/* With fewer messages, the latencies of an entry are called unreliable, and tests give no
 * answer. */
#define RUN_MESSAGES_MIN 100u

/* Reasons of both clocks. */
#define RUN_REASON_SIGNAL   "a signal ended the run before its time"
#define RUN_REASON_DEADLOCK "a deadlock ended the run"

/* The longest time that a loop on the real clock may be stopped or off the CPU. Up to that time,
 * the neighbours' links come back and late frames are sent; a longer stall leaves a hole in the
 * run. On a busy machine, stalls of some ten milliseconds are normal. */
#define RUN_STALL_MAX_NS 500000000

struct goal;
struct goal_replay;

/* Packets are data frames, messages what hosts send, both over the whole run. Every generated
 * packet or message is delivered, pending, or was given up. */
struct run_traffic {
	uint64_t generated, injected, delivered;
	uint64_t dropped; /* discarded on its path, by any device; end-to-end recovery resends it */
	uint64_t retransmitted;
	uint64_t pending; /* not delivered when the run ended */
};

/* No pointers: it is copied to another process as raw bytes (run_stream.h). */
struct run_sample {
	uint64_t t_ns;     /* end of the sample */
	double accepted;   /* fraction of the hosts' link rate, by arrival */
	double latency_ns; /* mean network latency; NAN if nothing arrived */
	/* The same on release, in order. 'edges': the share of 'accepted' that programs sent
	 * through TAP edges. */
	double released, released_latency_ns, edges;
	uint64_t adapted, arn, itb;
	/* Source control: mean number of open paths per message, mean waiting time in
	 * notifications, mean index in the congestion control table per frame. */
	double paths, waiting_ns, ccti;
};

/* A switch: waiting times from warm-up on. */
struct run_switch {
	char name[64];
	double waiting_ns; /* mean, of all packets that left */
	uint64_t packets;
};

struct run_link {
	char from[64], to[64];
	uint32_t way;                 /* run_link_series.h */
	double utilisation;           /* share of the link's rate */
	double blocked;               /* stalls for credit a second */
	uint64_t stalls;              /* heads of queues that found no credit */
	struct lateness_summary late; /* arrivals at 'to' (real clock) */
};

/* The work of one partition in a run on several threads. */
struct run_worker {
	unsigned thread; /* the thread of its process that runs the partition */
	uint64_t events, rounds;
	uint64_t helped;  /* rounds that other threads ran */
	uint64_t crossed; /* packets and control frames sent to other partitions */
	double waiting;   /* seconds, of the thread, for others */
};

/* A channel, named by its sending port. */
struct run_cycle {
	char from[64];
};

/* A host, or the queue of an input port for an output, that was not served for long
 * (starvation.h). */
struct run_starved {
	char host[64];              /* "": a queue */
	char input[64], output[64]; /* ports */
	uint64_t waited_ns;
	bool stuck; /* it will never advance, because it waits for a cycle */
};

/* A host whose in-transit buffer fills up: more arrived than left in the second half of the
 * measured time (starvation.h). */
struct run_pool {
	char host[64];
	uint64_t came, left; /* data frames; wormhole: messages */
};

/* Messages at a host, at the end of the run (wormhole). */
struct run_host {
	char name[64];
	uint64_t injected, waiting; /* its own: sent, and not yet */
	uint64_t absorbed, discarded,
		in_transit; /* other hosts' frames, including those that wait to be forwarded */
	uint64_t pool_peak_bytes;
};

/* Messages of an entry in one part of the measured time, for the tests of run_judge.c. */
struct run_batch {
	uint64_t generated, delivered;
	uint64_t timed, latency_sum_ns; /* with a known total latency */
};

/* The precision of the value of measure.until; interval NAN: unknown. */
struct run_until {
	bool reached;
	double interval; /* half width of the 95 % confidence interval, as a share */
};

/* An answer about the whole run or an entry. */
struct run_verdict {
	enum verdict verdict;
	uint64_t needed_ns; /* VERDICT_UNKNOWN: a measured time that may suffice; 0: unknown */
	const char *why;    /* VERDICT_UNKNOWN: a constant text */
};

/* The messages of one host for an entry that ends. */
struct run_flow {
	char from[64];
	uint64_t generated, delivered; /* messages */
	uint64_t last_ns;              /* when the last one arrived, since the entry's start */
};

/* An entry of the run file's traffic. */
struct run_entry {
	char pattern[32];
	uint32_t senders;
	uint64_t generated, delivered;      /* messages of the whole run */
	double offered, accepted, released; /* fractions of the senders' link rate */
	struct histogram network_ns, total_ns;
	bool continuous; /* it sends during the whole measured time, so it can be steady or
			    saturated */
	struct run_batch batch[STEADINESS_BATCHES]; /* [the result's batches] */
	bool finite;           /* it has 'stop', or is a schedule or a capture: */
	bool ended;            /* the run reached its 'stop', or the schedule its end */
	struct run_flow *flow; /* a flow for each sender */
	unsigned flows;
	weft_time first_ps; /* when its first message is due; WEFT_TIME_NEVER: there is none */
	struct run_packets_count packets; /* pcap; else all 0 */
	char nothing[RUN_REASON_MAX];     /* why none of its traffic was measured; "": some was */
};

struct run_counter {
	char name[64];
	uint64_t value;
};

/* Frames from hosts that use another machine's clock, from warm-up on. */
struct run_clocks {
	uint64_t timed;     /* their latencies are in the histograms, */
	uint64_t bound_ns;  /* off by this at most, */
	uint64_t bounds_ns; /* the largest of the bounds, whose sum is this */
	uint64_t untimed;   /* their latencies are unknown */
};

/* On the real clock, from warm-up to the end of traffic (run_fidelity.h). */
struct run_fidelity {
	struct histogram late_ns; /* arrivals on links that Weft times */
	/* Data frames with a known latency at their destination, and how many of them were late by
	 * at most a tenth of the latency of the fabric alone. */
	uint64_t frames, within_tenth;
	struct run_config_fidelity demand; /* late_ps 0: not judged */
};

/* Traffic of programs, through TAP edges. */
struct run_edges {
	uint64_t count;           /* hosts with an edge; 0: all other values are 0 */
	double offered, accepted; /* fractions of the hosts' link rate, part of the totals */
	struct histogram network_ns;
};

/* Why a result is incomplete. */
struct run_reason {
	char text[RUN_REASON_MAX];
	bool asked_for; /* requested by a signal or by the run file: not an error */
};

/* A flow (pattern flows). */
struct run_result_flow {
	uint16_t from, to; /* hosts */
	uint64_t bytes;
	weft_time start_ps;      /* since the start of the schedule; WEFT_TIME_NEVER: not started */
	weft_time completion_ps; /* from there to its last byte; WEFT_TIME_NEVER: not arrived */
	double alone_ns;         /* minimum time on the empty network; 0: there is no path */
};

struct run_result_event;

struct run_result {
	uint64_t seed;
	char topology[64];
	uint32_t hosts, host_ports, switches; /* ports: more than hosts if some have several */
	uint32_t vcs, vc_frames; /* an input port's buffer; frames of nic.mtu that one VC's buffer
				    holds */
	struct run_traffic packets, messages;
	uint64_t from_ns, to_ns; /* measured time, since the start of traffic */
	unsigned parts;          /* that were added (run_result_add_part()) */
	/* Shares of the hosts' link rate: generated, arrived, and released in order. */
	double offered, accepted, released;
	double flits_per_ns_per_switch;
	struct histogram network_ns, total_ns; /* to the arrival; without edges' */
	/* The same if every arrival were on time: the latency of the fabric alone. Empty for runs
	 * on the virtual clock, where nothing is late. */
	struct histogram network_due_ns, total_due_ns;
	struct order_wait waited;
	struct run_edges edges;
	double network_mean_ns, total_mean_ns; /* exact; 0: use the histograms' means */
	/* Some of the sending hosts use another machine's clock. */
	bool clocks_differ;
	/* The parts of other machines are missing, and hosts here exchange messages with hosts
	 * there. */
	bool partial;
	struct run_clocks clocks;
	struct run_fidelity fidelity;
	struct run_sample *sample;
	unsigned samples;
	struct run_link *link; /* when asked for */
	unsigned links;
	struct run_link_series link_series; /* when asked for */
	struct run_result_flow *flow;       /* in the order of the file */
	uint32_t flows;
	struct run_result_event *event; /* run_result_jobs.h, sorted by time */
	uint32_t events;
	struct run_result_ranks *ranks; /* schedules only (run_result_jobs.h); else NULL */
	struct run_result_jobs *jobs;   /* run_result_jobs.h; NULL: none */
	struct run_switch *sw;          /* when asked for */
	unsigned switch_count;
	bool controlled;       /* samples have figures of source control */
	struct run_host *host; /* when asked for */
	unsigned host_count;
	struct run_entry *entry; /* one per traffic entry, in the same order */
	unsigned entries;
	struct run_config_until until;
	unsigned batches; /* equal parts of the measured time */
	struct run_counter *counter;
	unsigned counters;
	uint64_t lost, duplicated, out_of_order;
	bool deadlock;
	struct run_cycle *cycle; /* channels that wait for each other, where that is known */
	unsigned cycles;
	unsigned channels; /* length of the cycle; the list may hold only the first ones */
	/* The run was long enough; otherwise the list has only stuck hosts. */
	bool starvation_known;
	struct run_starved *starved;
	unsigned starved_count;
	struct run_pool *pool;
	unsigned pools;
	/* Messages that reached their host but no further, because its TAP did not accept them.
	 * They are counted in messages.dropped, not in messages.delivered. */
	uint64_t behind;
	/* Processes of a lab that were still sending, or waiting for their messages to arrive. */
	uint64_t sending;
	/* Once this is set, building and writing the documents stops; NULL: nothing stops them. */
	const atomic_bool *stop;
	bool incomplete; /* it has reasons */
	struct run_reason *reason;
	unsigned reasons;
	char nothing[RUN_REASON_MAX]; /* why nothing was measured; "" if something was */
	struct run_reason *warning;   /* only for the user; they do not affect the exit code */
	unsigned warnings;
	uint64_t fingerprint;
	bool fingerprinted; /* virtual clock only: on a real clock the order cannot be reproduced */
	struct {
		struct run_worker *worker; /* [workers], of a run on several threads; NULL: one */
		unsigned workers;
		unsigned threads;         /* threads of all processes */
		uint64_t critical_events; /* sum over all rounds of the busiest worker's events */
		double seconds, packet_hops_per_second;
		time_t written; /* when the run ended; 0: not known */
		uint64_t packet_hops, peak_rss_bytes;
		uint64_t stall_ns; /* real clock: the longest stall of a loop */
		/* In a part: the sum of all stalls above RUN_STALL_MAX_NS since the process
		 * started. Its value before a run shows whether the process was stalled when the
		 * run started. */
		uint64_t absent_ns;
		/* Real clock: the time of all loops, in ns, by the length of the iterations in
		 * which it passed (loop_stall.h). */
		struct histogram spent_ns;
		/* The process with the longest stall; "": there is only one process. */
		char stall_who[64];
		uint64_t cut_ends; /* in a lab: ends of cables cut by command, now and when the run
				      started */
	} wall;
};

/* The document of docs/reference/result-file.md. It includes 'config' (takes its reference; may be
 * NULL) and, if its measure.latencies is true, the histograms. Returns NULL if out of memory, or if
 * '*result->stop'. */
json_t *run_result_json(const struct run_result *result, json_t *config);
/* An object of "series"; 'controlled': with the values of source control; 'untimed': without a
 * latency. */
json_t *run_sample_json(const struct run_sample *sample, bool controlled, bool untimed);
/* Writes the document and a line feed. Returns 0, -EINTR if '*result->stop', or -EIO. */
int run_result_dump(const struct run_result *result, const json_t *document, FILE *out);

/* A signal from now on stops the writing of documents, unless a signal already ended the run: then
 * the documents are what remains to be done. */
void run_result_heed(struct run_result *result, const atomic_bool *stop);
bool run_result_is_stopped(const struct run_result *result);

/* A process's part of a lab's result: everything that can be added up, histograms as sparse
 * buckets. The second function adds such a part to 'result'; -EINVAL if 'part' is not a valid
 * one. */
json_t *run_result_part_json(const struct run_result *result);
int run_result_add_part(struct run_result *result, const json_t *part);

/* a - b, or 0 if b is larger: counters of several devices are not read at the same instant. */
static inline uint64_t run_result_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Whether the entry's hosts generate more than the fabric delivers: saturation as defined in
 * docs/reference. For a whole result: whether any of its entries is saturated. */
struct run_verdict run_entry_is_saturated(
	const struct run_result *result, const struct run_entry *entry);
struct run_verdict run_result_is_saturated(const struct run_result *result);
/* Whether mean total latency and accepted traffic stay constant over the measured time. */
struct run_verdict run_result_is_steady(const struct run_result *result);
/* The precision of the value, from sums and weights of batches (batch_confidence()), which are
 * added up over the entries. */
struct run_until run_until_of(const struct run_config_until *until, const double *sum,
	const double *weight, unsigned batches);
void run_until_add(const struct run_config_until *until, const struct run_batch *batch, double *sum,
	double *weight);
struct run_until run_result_until(const struct run_result *result);
/* true, false or null. */
json_t *run_verdict_json(struct run_verdict verdict);
/* {reason, measured_ns} of an unknown answer; null if the answer is known. */
json_t *run_verdict_needs_json(struct run_verdict verdict);

/* The time from the entry's start to the arrival of the last message of the flow, or of the whole
 * entry. Returns false if some of the generated messages have not arrived. */
bool run_flow_completion(const struct run_flow *flow, uint64_t *ns);
bool run_entry_completion(const struct run_entry *entry, uint64_t *ns);

/* Adds a reason and marks the result as incomplete, even if there is no memory for the text. The
 * same text is added only once. */
void run_result_add_reason(struct run_result *result, bool asked_for, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a warning; 'result' is a struct run_result. A callback for credit_cover_report(). */
void run_result_add_warning(void *result, const char *text);
/* Adds a reason if a loop of 'who' ("" for the only process) stalled for longer than
 * RUN_STALL_MAX_NS. */
void run_result_judge_stall(struct run_result *result, const char *who, uint64_t stall_ns);
/* Adds a reason if more than 'max' messages left their hosts but did not arrive. */
void run_result_judge_under_way(struct run_result *result, uint64_t max);
/* Fills in 'nothing' of the result and of its entries, based on the run's configuration; does
 * nothing if the result is partial. */
void run_result_judge_nothing(
	struct run_result *result, const struct run_config *run, const struct topology *topology);
/* The entry is not a schedule, and fewer than RUN_MESSAGES_MIN of its messages were measured. */
bool run_entry_is_few(const struct run_entry *entry);
/* True (exit code 1) if there is a reason that was not requested, or if nothing was measured and no
 * signal ended the run. */
bool run_result_is_broken(const struct run_result *result);
/* Messages that left their hosts but did not arrive. */
uint64_t run_result_under_way(const struct run_result *result);
/* Prints a line that names the first ports of the cycle, if there is a deadlock. */
void run_result_print_deadlock(const struct run_result *result, const char *prefix, FILE *out);
/* Prints one line per reason: "PREFIX" and the reason. */
void run_result_print_reasons(const struct run_result *result, const char *prefix, FILE *out);

/* Writes samples as CSV with a heading; stops early if '*result->stop'. */
void run_result_write_csv(const struct run_result *result, FILE *out);

/* How many more messages arrived than left during a run, from sums over all hosts. Messages that
 * were in flight 'before' the run (NULL: none) may arrive during it. The sinks' own frame counts
 * detect repetitions only within a flow; this count also detects messages that a restarted flow
 * delivers twice. */
uint64_t run_result_surplus(const struct run_result *result, const struct run_result *before);

/* Subtracts what the processes of a lab counted 'before' the run. Their sources restart with each
 * run; messages of programs, through TAP edges, do not. A cable that was cut when the run started
 * affects it, however soon it was rejoined. */
void run_result_subtract(struct run_result *result, const struct run_result *before);

/* A table for the terminal. 'run': the configuration that was run. */
void run_result_print(const struct run_result *result, const struct run_config *run, FILE *out);

/* Returns true with a line of advice, without a newline, if the hosts offered more than the default
 * algorithm ud could carry, in a network for which there are better algorithms. No advice if
 * another limit is closer: the hosts' own links, an incast, the CPUs (frames are late), or a
 * network with one path per pair. There is also advice if adaptive switches without isolation of
 * flows (routing.afi) spread an incast. */
bool run_result_advise(const struct run_result *result, const struct run_config *run,
	const struct topology *topology, char out[RUN_ADVICE_MAX]);

/* Extend the arrays by one zeroed element; NULL if out of memory. */
struct run_sample *run_result_add_sample(struct run_result *result);
/* Appends the other's samples. May return -ENOMEM. */
int run_result_copy_samples(struct run_result *result, const struct run_result *from);
/* Describes the link from a port to the port at its other end. */
struct run_link *run_result_add_link(struct run_result *result, const struct topology *topology,
	struct topology_port from, struct topology_port to);
/* Measures one direction of a link; the names of its ends are filled in. */
/* Returns NULL if out of memory. */
struct run_switch *run_result_add_switch(struct run_result *result, const char *name);

typedef void (*run_link_fn)(const void *ctx, struct topology_port from, struct run_link *link);
/* Both directions of all links. May return -ENOMEM. */
int run_result_add_links(struct run_result *result, const struct topology *topology,
	run_link_fn measure, const void *ctx);
/* Records channels that wait for each other, named by their sending ports. May return -ENOMEM. */
int run_result_add_cycle(struct run_result *result, const struct topology *topology,
	const struct topology_port *port, unsigned count);
struct run_host *run_result_add_host(struct run_result *result);
struct run_starved *run_result_add_starved(struct run_result *result);
struct run_pool *run_result_add_pool(struct run_result *result);
struct run_entry *run_result_add_entry(struct run_result *result);
struct run_flow *run_entry_add_flow(struct run_entry *entry);
/* Adds 'value' to the counter with this name, and creates it if necessary. Returns 0 or -ENOMEM. */
int run_result_count(struct run_result *result, const char *name, uint64_t value);
/* The value of the counter; 0 if there is none. */
uint64_t run_result_counter(const struct run_result *result, const char *name);
/* Messages that the fabric refused. All other dropped messages were not accepted by TAPs and
 * sockets at their destination. The fabric never sees messages that do not fit into a TAP's
 * queue. */
uint64_t run_result_refused(const struct run_result *result);
/* All counters, {name: value}. */
json_t *run_result_counters_json(const struct run_result *result);
/* Pending messages: sent, but neither arrived nor given up. */
void run_result_count_pending(struct run_result *result);

/* Sets the capacity of an input port's buffer. */
void run_result_set_buffer(struct run_result *result, const struct run_config *run);
/* Sets the same capacity, and the seed, topology name and sizes. */
void run_result_identify(
	struct run_result *result, const struct run_config *run, const struct topology *topology);
/* The cost of the run: it took 'seconds' for its packet-hops, and this process's peak memory. */
void run_result_set_wall(struct run_result *result, double seconds, time_t written);

/* --- flows --- */

/* A line per flow: flow,src,dst,bytes,start_ns,completion_ns,alone_ns,slowdown; a missing value is
 * left empty. The caller checks 'out' for errors. */
void run_result_write_flows(
	const struct run_result *result, const struct topology *topology, FILE *out);
/* Number of flows, and slowdowns overall and by length. Returns NULL without flows or memory. */
json_t *run_result_flows_json(const struct run_result *result);
void run_result_print_flows(const struct run_result *result, FILE *out);

/* The counters of a replayed schedule: goal_operations, goal_unfinished and
 * goal_completion_ns. */
void run_goal_result(
	const struct goal *goal, const struct goal_replay *replay, struct run_result *result);

void run_result_free(struct run_result *result);

/* The full configuration as JSON, with the same keys as in the output of 'weft run --explain':
 * integers and booleans as such, quantities as text with their unit. The caller's reference; NULL
 * if out of memory. */
json_t *run_config_json(const struct run_config *config);
