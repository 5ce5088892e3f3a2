/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The measurements of a run, which are the same on both clocks, and their JSON form
 * (docs/reference/result-file.md, 'Result'). The pipeline fills in the result. The result owns its
 * arrays until run_result_free(). */

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

/* With fewer messages, the latencies of an entry are reported as unreliable, and the tests of
 * run_judge.c give no answer. */
#define RUN_MESSAGES_MIN 100u

/* Reasons that occur on both clocks. */
#define RUN_REASON_SIGNAL   "a signal ended the run before its time"
#define RUN_REASON_DEADLOCK "a deadlock ended the run"

/* Maximum time for which a loop on the real clock may be stopped or not scheduled. Up to this time,
 * the neighbours' links come up again and late frames are still sent; a longer stall invalidates
 * part of the run. On a busy machine, stalls of some ten milliseconds are normal. */
#define RUN_STALL_MAX_NS 500000000

struct goal;
struct goal_replay;

/* Counts of the whole run: packets are data frames, messages are what hosts send. Every generated
 * packet or message was delivered, is pending, or was given up. */
struct run_traffic {
	uint64_t generated, injected, delivered;
	uint64_t dropped; /* discarded on the path; end-to-end recovery resends it */
	uint64_t retransmitted;
	uint64_t pending; /* not delivered when the run ended */
};

/* Contains no pointers, because it is copied to another process as raw bytes (run_stream.h). */
struct run_sample {
	uint64_t t_ns;     /* end of the sample */
	double accepted;   /* arrivals, as a fraction of the hosts' link rate */
	double latency_ns; /* mean network latency; NAN if nothing arrived */
	/* The same two values for frames released in order. 'edges': share of 'accepted' that
	 * programs sent through TAP edges. */
	double released, released_latency_ns, edges;
	uint64_t adapted, arn, itb;
	/* Source control: mean number of open paths per message, mean waiting time in
	 * notifications, mean congestion control table index per frame. */
	double paths, waiting_ns, ccti;
};

/* A switch, measured from the end of warm-up. */
struct run_switch {
	char name[64];
	double waiting_ns; /* mean over all packets that left the switch */
	uint64_t packets;
};

struct run_link {
	char from[64], to[64];
	uint32_t way;                 /* direction (run_link_series.h) */
	double utilisation;           /* share of the link's rate */
	double blocked;               /* share of the time with data to send but no credits */
	uint64_t stalls;              /* heads of queues without credit */
	struct lateness_summary late; /* arrivals at 'to' (real clock) */
};

/* The work of one partition in a run on several threads. */
struct run_worker {
	unsigned thread; /* index of the thread in its process */
	uint64_t events, rounds;
	uint64_t helped;  /* rounds that other threads ran for this partition */
	uint64_t crossed; /* packets and control frames sent to other partitions */
	double waiting;   /* seconds that the thread waited for other threads */
};

/* A channel, named by its sending port. */
struct run_cycle {
	char from[64];
};

/* A host, or an input port's queue for one output, that went unserved for a long time
 * (starvation.h). */
struct run_starved {
	char host[64];              /* "": a queue */
	char input[64], output[64]; /* ports */
	uint64_t waited_ns;
	bool stuck; /* permanently blocked, because it waits for a cycle */
};

/* A host whose in-transit buffer is filling up: more data arrived than left in the second half of
 * the measurement (starvation.h). */
struct run_pool {
	char host[64];
	uint64_t came, left; /* data frames; wormhole: messages */
};

/* Messages at a host at the end of the run (wormhole). */
struct run_host {
	char name[64];
	uint64_t injected, waiting; /* the host's own messages: sent, and not yet sent */
	uint64_t absorbed, discarded,
		in_transit; /* messages of other hosts; in_transit: not yet forwarded */
	uint64_t pool_peak_bytes;
};

/* Messages of an entry in one part of the measured time, for run_judge.c. */
struct run_batch {
	uint64_t generated, delivered;
	uint64_t timed, latency_sum_ns; /* messages with a known total latency */
};

/* Precision of the value of measure.until; interval NAN: unknown. */
struct run_until {
	bool reached;
	double interval; /* half width of the 95 % confidence interval, as a share */
};

/* The answer to a question about the whole run or an entry. */
struct run_verdict {
	enum verdict verdict;
	uint64_t needed_ns; /* VERDICT_UNKNOWN: measured time that may suffice; 0: unknown */
	const char *why;    /* VERDICT_UNKNOWN: the reason, a constant string */
};

/* Messages of one sender of an entry that ends. */
struct run_flow {
	char from[64];
	uint64_t generated, delivered; /* messages */
	uint64_t last_ns; /* arrival time of the last message, relative to the entry's start */
};

/* An entry of the run file's traffic. */
struct run_entry {
	char pattern[32];
	uint32_t senders;                   /* hosts that send */
	uint64_t generated, delivered;      /* messages in the whole run */
	double offered, accepted, released; /* fractions of the senders' link rate */
	struct histogram network_ns, total_ns;
	bool continuous; /* sends during the whole measured time: may be steady or saturated */
	struct run_batch batch[STEADINESS_BATCHES]; /* [the result's batches] */
	bool finite;           /* has a 'stop', or is a schedule or a capture */
	bool ended;            /* the run reached 'stop' or the end of the schedule */
	struct run_flow *flow; /* one per sender */
	unsigned flows;
	weft_time first_ps;               /* due time of its first message; WEFT_TIME_NEVER: none */
	struct run_packets_count packets; /* pattern pcap; else all 0 */
	char nothing[RUN_REASON_MAX];     /* why none of its traffic was measured; "": some was */
};

struct run_counter {
	char name[64];
	uint64_t value;
};

/* Frames from hosts with another machine's clock, since the end of warm-up. */
struct run_clocks {
	uint64_t timed;     /* frames with a known latency */
	uint64_t bound_ns;  /* maximum error of a latency */
	uint64_t bounds_ns; /* sum of the error bounds */
	uint64_t untimed;   /* frames without a latency */
};

/* Real clock, from the end of warm-up to the end of traffic (run_fidelity.h). */
struct run_fidelity {
	struct histogram late_ns; /* arrivals on links that Weft times */
	/* Data frames with a known latency, and how many of them were late by at most a tenth of
	 * the latency that the fabric alone would cause. */
	uint64_t frames, within_tenth;
	struct run_config_fidelity demand; /* late_ps 0: not judged */
};

/* Traffic that programs sent through TAP edges. */
struct run_edges {
	uint64_t count;           /* number of hosts with an edge; 0: all other values are 0 */
	double offered, accepted; /* fractions of the hosts' link rate, part of the totals */
	struct histogram network_ns;
};

/* Why a result is incomplete. */
struct run_reason {
	char text[RUN_REASON_MAX];
	bool asked_for; /* a signal or the run file ended the run: not an error */
};

/* A flow (pattern flows). */
struct run_result_flow {
	uint16_t from, to; /* hosts */
	uint64_t bytes;
	weft_time start_ps;      /* since the start of the schedule; WEFT_TIME_NEVER: not started */
	weft_time completion_ps; /* from then to its last byte; WEFT_TIME_NEVER: not arrived */
	double alone_ns;         /* minimum duration on an empty network; 0: there is no path */
};

struct run_result_event;

struct run_result {
	uint64_t seed;
	char topology[64];
	uint32_t hosts, host_ports,
		switches; /* host_ports: above 'hosts' if some have several ports */
	uint32_t vcs,
		vc_frames; /* in an input port's buffer; vc_frames: frames of nic.mtu per VC */
	struct run_traffic packets, messages;
	uint64_t from_ns, to_ns; /* measured time, since the start of traffic */
	unsigned parts;          /* number of parts added with run_result_add_part() */
	/* Fractions of the hosts' link rate: generated, arrived, and released in order. */
	double offered, accepted, released;
	double flits_per_ns_per_switch;
	struct histogram network_ns, total_ns; /* until arrival; without traffic of edges */
	/* The same latencies as if every arrival had been on time, which is the latency of the
	 * fabric alone. Empty on the virtual clock, where nothing is late. */
	struct histogram network_due_ns, total_due_ns;
	struct order_wait waited;
	struct run_edges edges;
	double network_mean_ns, total_mean_ns; /* exact; 0: use the histograms' means */
	/* Some sending hosts use another machine's clock. */
	bool clocks_differ;
	/* Parts of other machines are missing, and local hosts exchange messages with them. */
	bool partial;
	struct run_clocks clocks;
	struct run_fidelity fidelity;
	struct run_sample *sample;
	unsigned samples;
	struct run_link *link; /* if requested */
	unsigned links;
	struct run_link_series link_series; /* if requested */
	struct run_result_flow *flow;       /* in the order of the file */
	uint32_t flows;
	struct run_result_event *event; /* run_result_jobs.h, sorted by time */
	uint32_t events;
	struct run_result_ranks *ranks; /* schedules only (run_result_jobs.h); else NULL */
	struct run_result_jobs *jobs;   /* run_result_jobs.h; NULL: none */
	struct run_switch *sw;          /* if requested */
	unsigned switch_count;
	bool controlled;       /* samples include values of source control */
	struct run_host *host; /* if requested */
	unsigned host_count;
	struct run_entry *entry; /* one per traffic entry, in the same order */
	unsigned entries;
	struct run_config_until until;
	unsigned batches; /* equal parts of the measured time */
	struct run_counter *counter;
	unsigned counters;
	uint64_t lost, duplicated, out_of_order;
	bool deadlock;
	struct run_cycle *cycle; /* channels of a deadlock, if known */
	unsigned cycles;
	unsigned channels; /* length of the cycle; 'cycle' may hold only the first channels */
	/* True if the run was long enough; otherwise 'starved' has only stuck hosts and queues. */
	bool starvation_known;
	struct run_starved *starved;
	unsigned starved_count;
	struct run_pool *pool;
	unsigned pools;
	/* Messages that reached their host but were not accepted by its TAP. They count in
	 * messages.dropped, not in messages.delivered. */
	uint64_t behind;
	/* Number of lab processes that were still sending, or waiting for messages to arrive. */
	uint64_t sending;
	/* When set, building and writing documents stops; NULL: never. */
	const atomic_bool *stop;
	bool incomplete; /* there is at least one reason */
	struct run_reason *reason;
	unsigned reasons;
	char nothing[RUN_REASON_MAX]; /* why nothing was measured; "" if something was */
	struct run_reason *warning;   /* do not affect the exit code */
	unsigned warnings;
	uint64_t fingerprint;
	bool fingerprinted; /* virtual clock only: the order on a real clock varies */
	struct {
		struct run_worker *worker; /* [workers] of a run on several threads; else NULL */
		unsigned workers;
		unsigned threads;         /* sum over all processes */
		uint64_t critical_events; /* sum over all rounds of the busiest worker's events */
		double seconds, packet_hops_per_second;
		time_t written; /* end of the run; 0: unknown */
		uint64_t packet_hops, peak_rss_bytes;
		uint64_t stall_ns; /* real clock: the longest stall of a loop */
		/* In a part: sum of all stalls above RUN_STALL_MAX_NS since the process started.
		 * Comparing it with its value before a run shows whether the process was stalled
		 * when the run started. */
		uint64_t absent_ns;
		/* Real clock: time of all loops in ns, by the length of the iteration that it was
		 * spent in (loop_stall.h). */
		struct histogram spent_ns;
		/* Process with the longest stall; "": there is only one process. */
		char stall_who[64];
		uint64_t cut_ends;  /* lab: cable ends cut by command, now and at the start */
		bool process_ended; /* lab: a process ended, which takes its links down */
	} wall;
};

/* Returns the document of docs/reference/result-file.md; NULL if out of memory, or if
 * '*result->stop' is set. Includes 'config' (takes over the reference; may be NULL) and, if its
 * measure.latencies is true, the histograms. */
json_t *run_result_json(const struct run_result *result, json_t *config);
/* Returns an element of "series", with values of source control if 'controlled', and without
 * latency if 'untimed'. */
json_t *run_sample_json(const struct run_sample *sample, bool controlled, bool untimed);
/* Writes the document and a newline. Returns 0, -EIO, or -EINTR if '*result->stop' is set. */
int run_result_dump(const struct run_result *result, const json_t *document, FILE *out);

/* Makes a later signal stop the writing of documents. If a signal already ended the run, the
 * documents are still written, and 'stop' is ignored. */
void run_result_heed(struct run_result *result, const atomic_bool *stop);
bool run_result_is_stopped(const struct run_result *result);

/* Returns a process's part of a lab's result: every value that can be added, with histograms as
 * sparse buckets. The second function adds a part to 'result'; -EINVAL: 'part' is invalid. */
json_t *run_result_part_json(const struct run_result *result);
int run_result_add_part(struct run_result *result, const json_t *part);

/* Returns a - b, or 0 if b is larger: counters of several devices are not read simultaneously. */
static inline uint64_t run_result_minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Tests whether the entry's hosts generate more than the fabric delivers (saturation as defined in
 * docs/reference). For a whole result: whether any of its entries is saturated. */
struct run_verdict run_entry_is_saturated(
	const struct run_result *result, const struct run_entry *entry);
struct run_verdict run_result_is_saturated(const struct run_result *result);
/* Tests whether mean total latency and accepted traffic stay constant over the measured time. */
struct run_verdict run_result_is_steady(const struct run_result *result);
/* Returns the precision of the value, computed from sums and weights per batch
 * (batch_confidence()). run_until_add() adds an entry's batches to them. */
struct run_until run_until_of(const struct run_config_until *until, const double *sum,
	const double *weight, unsigned batches);
void run_until_add(const struct run_config_until *until, const struct run_batch *batch, double *sum,
	double *weight);
struct run_until run_result_until(const struct run_result *result);
/* Returns true, false or null. */
json_t *run_verdict_json(struct run_verdict verdict);
/* Returns {reason, measured_ns} if the answer is unknown, else null. */
json_t *run_verdict_needs_json(struct run_verdict verdict);

/* Sets 'ns' to the time from the entry's start until the last message of one flow, or of the whole
 * entry, arrives. Returns false if some of the generated messages have not arrived. */
bool run_flow_completion(const struct run_flow *flow, uint64_t *ns);
bool run_entry_completion(const struct run_entry *entry, uint64_t *ns);

/* Adds a reason unless the same text is present, and marks the result as incomplete, even if the
 * text cannot be stored. */
void run_result_add_reason(struct run_result *result, bool asked_for, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a warning; 'result' is a struct run_result. Callback for credit_cover_report(). */
void run_result_add_warning(void *result, const char *text);
/* Adds a reason if a loop of 'who' ("" for the only process) stalled for longer than
 * RUN_STALL_MAX_NS. */
void run_result_judge_stall(struct run_result *result, const char *who, uint64_t stall_ns);
/* Adds a reason if more than 'max' messages are undelivered (run_result_under_way()). */
void run_result_judge_under_way(struct run_result *result, uint64_t max);
/* Fills in 'nothing' of the result and its entries from the run's configuration; does nothing if
 * the result is partial. */
void run_result_judge_nothing(
	struct run_result *result, const struct run_config *run, const struct topology *topology);
/* Returns true if the entry is not a schedule and fewer than RUN_MESSAGES_MIN messages were
 * measured. */
bool run_entry_is_few(const struct run_entry *entry);
/* Returns EXIT_BAD_ANSWER if frames were lost, duplicated or out of order, after a deadlock, if
 * there is a reason that was not requested, or if nothing was measured and no signal ended the run;
 * else EXIT_INTERRUPTED if a signal did, or EXIT_DONE. */
enum weft_exit run_result_exit(const struct run_result *result);
/* Returns the number of messages that left their hosts but did not arrive. */
uint64_t run_result_under_way(const struct run_result *result);
/* After a deadlock, prints a line with the first ports of the cycle. */
void run_result_print_deadlock(const struct run_result *result, const char *prefix, FILE *out);
/* Prints one line per reason, each starting with 'prefix'. */
void run_result_print_reasons(const struct run_result *result, const char *prefix, FILE *out);

/* Writes the samples as CSV with a header line; stops early if '*result->stop' is set. */
void run_result_write_csv(const struct run_result *result, FILE *out);

/* Returns how many more messages arrived than left during a run, summed over all hosts. Messages in
 * flight 'before' the run (NULL: none) may arrive during it. Unlike the sinks' frame counts, which
 * detect repetitions within a flow, this also detects messages that a restarted flow delivers
 * twice. */
uint64_t run_result_surplus(const struct run_result *result, const struct run_result *before);

/* Subtracts what the processes of a lab counted 'before' the run. Their sources restart with each
 * run, but programs keep sending through TAP edges. Cables that were cut at the start of the run
 * still count as cut. */
void run_result_subtract(struct run_result *result, const struct run_result *before);

/* Prints a table for the terminal. 'run' is the configuration of the run. */
void run_result_print(const struct run_result *result, const struct run_config *run, FILE *out);

/* Returns true and writes a line of advice, without a newline, in two cases. First, the hosts
 * offered more than the default algorithm ud could carry, and better algorithms exist for the
 * network. This advice is omitted if another limit is closer: the hosts' own links, an incast, late
 * frames, or a network with one path per pair. Second, adaptive switches without flow isolation
 * (routing.afi) spread an incast. */
bool run_result_advise(const struct run_result *result, const struct run_config *run,
	const struct topology *topology, char out[RUN_ADVICE_MAX]);

/* Appends a zeroed element. Returns NULL if out of memory. */
struct run_sample *run_result_add_sample(struct run_result *result);
/* Appends the samples of 'from'. Returns 0 or -ENOMEM. */
int run_result_copy_samples(struct run_result *result, const struct run_result *from);
/* Appends the link direction from a port to the port at its other end. */
struct run_link *run_result_add_link(struct run_result *result, const struct topology *topology,
	struct topology_port from, struct topology_port to);
/* Appends a switch. Returns NULL if out of memory. */
struct run_switch *run_result_add_switch(struct run_result *result, const char *name);

typedef void (*run_link_fn)(const void *ctx, struct topology_port from, struct run_link *link);
/* Appends both directions of all links, and calls 'measure' for each, with the names of its ends
 * filled in. Returns 0 or -ENOMEM. */
int run_result_add_links(struct run_result *result, const struct topology *topology,
	run_link_fn measure, const void *ctx);
/* Records channels that wait for each other, named by their sending ports. Returns 0 or -ENOMEM. */
int run_result_add_cycle(struct run_result *result, const struct topology *topology,
	const struct topology_port *port, unsigned count);
struct run_host *run_result_add_host(struct run_result *result);
struct run_starved *run_result_add_starved(struct run_result *result);
struct run_pool *run_result_add_pool(struct run_result *result);
struct run_entry *run_result_add_entry(struct run_result *result);
struct run_flow *run_entry_add_flow(struct run_entry *entry);
/* Adds 'value' to the counter with this name, which is created if needed. Returns 0 or -ENOMEM. */
int run_result_count(struct run_result *result, const char *name, uint64_t value);
/* Returns the value of the counter; 0 if it does not exist. */
uint64_t run_result_counter(const struct run_result *result, const char *name);
/* Returns the number of messages that the fabric refused. Other dropped messages were not accepted
 * by the TAP or socket at their destination, or did not fit into a TAP's queue at their source. */
uint64_t run_result_refused(const struct run_result *result);
/* Returns all counters as {name: value}. */
json_t *run_result_counters_json(const struct run_result *result);
/* Computes 'pending' of packets and messages. */
void run_result_count_pending(struct run_result *result);

/* Sets 'vcs' and 'vc_frames', which describe an input port's buffer. */
void run_result_set_buffer(struct run_result *result, const struct run_config *run);
/* Like run_result_set_buffer(), and sets the seed, topology name and sizes. */
void run_result_identify(
	struct run_result *result, const struct run_config *run, const struct topology *topology);
/* Sets the cost of the run: 'seconds' for its packet-hops, and this process's peak memory. */
void run_result_set_wall(struct run_result *result, double seconds, time_t written);

/* --- flows --- */

/* Writes one line per flow: flow,src,dst,bytes,start_ns,completion_ns,alone_ns,slowdown; missing
 * values are empty. The caller checks 'out' for errors. */
void run_result_write_flows(
	const struct run_result *result, const struct topology *topology, FILE *out);
/* Returns the number of flows, and slowdowns overall and by size; NULL: no flows, or out of memory.
 */
json_t *run_result_flows_json(const struct run_result *result);
void run_result_print_flows(const struct run_result *result, FILE *out);

/* Adds a replayed schedule's counters goal_operations, goal_unfinished and goal_completion_ns. */
void run_goal_result(
	const struct goal *goal, const struct goal_replay *replay, struct run_result *result);

void run_result_free(struct run_result *result);

/* Returns the full configuration as JSON, with the keys of 'weft run --explain': integers and
 * booleans as such, quantities as text with a unit. The caller owns it; NULL if out of memory. */
json_t *run_config_json(const struct run_config *config);
