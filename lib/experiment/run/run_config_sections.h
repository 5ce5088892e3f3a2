/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The sections of run and lab files as plain structs. run_config.h defines the whole configuration
 * and its ownership. */

#include <stdbool.h>
#include <stdint.h>

#include "base/weft_time.h"
#include "nic/congestion/iba_cc.h"
#include "nic/congestion/source_control.h"
#include "run_choices.h"
#include "switch/arbitration.h"
#include "traffic/traffic.h"
#include "wire/frame.h"

struct adaptive_mode;    /* lib/switch/adaptive_routing.h */
struct flow_sizes;       /* lib/traffic/arrivals.h */
struct route_algorithm;  /* lib/route/route_algorithm.h */
struct route_choice_ops; /* lib/nic/selectors/route_choice.h */
struct traffic_pattern;  /* lib/traffic/traffic_pattern.h */

#define RUN_DILATION_AUTO   0 /* the calibration sets it (real_fabric.h) */
#define RUN_DILATION_MAX    100000
#define RUN_TAP_NAME_MAX    16 /* IFNAMSIZ */
#define RUN_NETNS_MAX       64
#define RUN_ADDRESS_MAX     20 /* 255.255.255.255/32 */
#define RUN_OPTION_MAX      72
#define RUN_PATH_MAX        1024 /* maximum length of a path or generator text in a file */
#define RUN_EDGES_MAX       1024
#define RUN_TRAFFIC_MAX     256
#define RUN_MESSAGE_MIN     16         /* bytes; a message contains its generation time */
#define RUN_LOOPS_MAX       1000000000 /* maximum number of capture repetitions */
#define RUN_MESSAGE_MAX     ((uint64_t)64 << 20)
#define RUN_BURST_MIN       (10 * PS_PER_NS) /* limits the number of bursts, each of which is drawn */
#define RUN_BURST_MAX       (1000 * PS_PER_S)
#define RUN_BURSTS_MAX      100000 /* maximum mean time between two messages, in bursts */
#define RUN_NAMES_MAX       65536  /* hosts in one list */
#define RUN_ALGORITHMS_MORE 3      /* additional algorithms in a route set */
#define RUN_ROUTING_NAME    64     /* "ud+ud-itb" */
#define RUN_ROUTING_ORIGIN  (RUN_ROUTING_NAME + 32)

/* The position of a value. */
struct run_config_place {
	uint32_t line, column;       /* in the file; line 0: command line */
	char option[RUN_OPTION_MAX]; /* "--set traffic.1", truncated; "": in the file */
};

/* Thresholds of a VC's buffer for pause frames; 0: derived from the headroom (virtual_pause.h). */
struct run_config_pfc {
	uint64_t xoff_bytes, xon_bytes;
};

/* VC of each service level. If empty: VC 0, or with traffic classes the number of the level. */
struct run_config_sl {
	uint8_t vc[16];
	uint32_t count;
};

/* RED marking based on an output's queue length (fecn.h); kmax 0: off. */
struct run_config_ecn {
	uint64_t kmin_bytes, kmax_bytes;
	uint32_t pmax_ppm;
};

struct run_config_switch {
	enum run_switching switching;
	enum run_flow_control flow_control;
	enum run_credits credits; /* when credit frames are sent (lib/link/credit.h) */
	uint64_t buffer_bytes;    /* per input port, split equally among its VCs */
	uint32_t stop_bytes,
		go_bytes;   /* stop-go: STOP is sent above stop_bytes, GO below go_bytes */
	uint32_t mtu_bytes; /* longest payload that a buffer must accept */
	uint32_t vcs;       /* not counting the adapted-flow channel */
	bool voq;
	uint32_t fecn; /* threshold of every input buffer; 0: no marking (fecn.h) */
	uint32_t marking_rate, mark_bytes; /* see struct fecn_rules */
	bool victim_mask;
	struct arbitration_config arbitration;
	struct run_config_sl sl_to_vc;
	struct run_config_ecn ecn;
	struct run_config_pfc pfc;
	weft_time contention_ps; /* wait after which flows are recorded; WEFT_TIME_NEVER: auto */
	uint32_t flows;          /* maximum number of recorded flows */
	enum run_contending contending;
	enum run_recording recording; /* which switches record flows */
	weft_time routing_delay_ps;
	enum run_routing_start
		routing_start; /* what starts the routing delay in wormhole switches */
};

struct run_config_routing {
	/* Absolute path of the route file; NULL: the routes are computed. With a route file,
	 * 'algorithm' is unused, 'alternatives' is 0 and 'granularity' is UNSET. */
	char *file;
	struct run_config_place file_place;
	const struct route_algorithm
		*file_algorithm; /* algorithm named in the file; NULL: unknown */
	const struct route_algorithm *algorithm;
	/* Further route sets on the same tree, from which interfaces choose (route_algorithm.h). */
	const struct route_algorithm *other[RUN_ALGORITHMS_MORE];
	uint32_t others;
	enum run_routing_mode mode;
	uint32_t alternatives;            /* routes per pair and algorithm, for source routing */
	enum run_granularity granularity; /* whether each host or each switch chooses its routes */
	/* For algorithms with a tree: a switch, or a word for route_root_find(); "": default. */
	char root[TOPOLOGY_NAME_MAX];
	enum run_itb_hosts itb_hosts; /* which hosts of a switch absorb packets (itb_routes.h) */
	enum run_itb_absorb
		itb_absorb;   /* whether hosts absorb packets that could continue without waiting */
	uint32_t radius;      /* msp only; 0: unset, or a route file is used */
	enum run_steps steps; /* msp only */
	enum run_ties ties;   /* dor and msp only */
	enum run_ugal_queues ugal_queues; /* df-ugal-l and df-par only (lib/switch/detour.h) */
	uint32_t ugal_bias_bytes;
	const struct adaptive_mode *adaptive;
	bool afi;
	bool may_deadlock; /* accept routes that may deadlock */
	weft_time flowlet_gap_ps;
	uint32_t threshold_ppm; /* occupancy above which adaptive-th leaves the primary port */
};

/* Choices that the ARN+AFI paper leaves open (congestion_detector.h, arn_table.h, arn_marks.h). */
struct run_config_variants {
	enum run_retest retest;         /* when FCTh is tested, in addition to HCDTh and CRT */
	enum run_occupancy occupancy;   /* capacity that a VOQ's occupancy refers to */
	enum run_notifiers notifiers;   /* VOQs that announce a root */
	enum run_down_roots down_roots; /* devices that react to a root on the path down */
	bool watch_afc;                 /* VOQs of the AFC count */
	bool adapted_notify;            /* adapted packets also trigger notifications */
	bool adapted_roots;             /* a root found by adapted packets is also announced */
	bool waiting_first;             /* a waiting entry takes precedence over a consumed one */
	bool hosts_act;                 /* a notified host uses the adapted-flow channel */
};

struct run_config_detector {
	uint32_t hcdth_ppm, lcdth_ppm, fcth_ppm;
	weft_time crt_ps, arn_ttl_ps, arn_refresh_ps;
	uint32_t arn_rate; /* notifications accepted per port and ms; 0: no limit (arn_policer.h) */
	struct run_config_variants variants;
};

/* Parameters of selectors (lib/nic/selectors/route_choice.h). */
struct run_config_selection {
	uint32_t forget, k, k2; /* thousandths */
	uint32_t short_bytes;
	uint32_t first_set_ppm;
};

/* In-transit buffers (itb.h). */
struct run_config_itb {
	uint64_t pool_bytes;                    /* per host */
	weft_time detection_ps, programming_ps; /* virtual clock only */
	weft_time pause_ps;
};

/* InfiniBand congestion control (iba_cc.h). */
struct run_config_iba_cc {
	weft_time timer_ps;
	uint32_t increase, min, limit;
	enum run_cc_per per;
	enum cc_table_kind table_kind;
	struct cc_table table; /* for CC_TABLE_LIST */
	char *opensm;          /* file from which settings were copied; NULL: none */
};

/* DCQCN (dcqcn.h). */
struct run_config_dcqcn {
	weft_time cnp_gap_ps, alpha_timer_ps, rate_timer_ps;
	uint64_t rate_bytes;
	uint32_t gain; /* alpha moves by 1/gain */
	uint32_t fast; /* number of fast-recovery steps */
	uint64_t additive_bps, hyper_bps, min_bps;
};

/* DRB (metapath.h). */
struct run_config_drb {
	uint32_t high, low; /* thousandths of the latency without load */
	weft_time open_gap_ps, close_gap_ps, idle_ps;
	enum run_drb_ack ack;
	weft_time ack_threshold_ps;
	uint32_t smoothing;
	enum run_drb_measure measure;
	enum run_drb_new_path new_path;
};

/* PR-DRB (pr_drb.h). */
struct run_config_pr_drb {
	uint32_t similarity_ppm;
	enum run_similarity_of similarity_of;
	uint32_t entries;
	enum run_pr_drb_save save;
	bool improve;
};

struct run_config_nic {
	const struct route_choice_ops
		*selector; /* never NULL: from the file, or the algorithm's default */
	struct run_config_selection selection;
	uint32_t mtu_bytes;     /* payload of a frame */
	uint32_t tap_mtu_bytes; /* 0: mtu_bytes */
	uint32_t window_frames; /* frames in flight per peer, a power of two */
	weft_time retry_ps, give_up_ps;
	bool hardware_stamps; /* use hardware time stamps if the NIC has them (arrival_stamps.h) */
	struct run_config_itb itb;
	enum source_control_kind control; /* congestion control at the source */
	enum run_recovery recovery;       /* for frames that switches dropped */
	struct run_config_iba_cc iba_cc;
	struct run_config_dcqcn dcqcn;
	struct run_config_drb drb;
	struct run_config_pr_drb pr_drb;
};

/* The hosts that 'mapper.mode' applies to. */
struct run_config_mapper_hosts {
	char (*name)[TOPOLOGY_NAME_MAX];
	uint32_t count; /* 0: all hosts */
	struct run_config_place place;
};

/* The source of routes and the mapper's parameters (docs/explanation/the-mapper.md,
 * lib/mapper/mapper.h). */
#define RUN_AFTER_MAPPER (WEFT_TIME_NEVER - 1)

struct run_config_mapper {
	enum run_mapper_routes routes;
	enum run_mapper_mode mode; /* run_config_mapper_mode() returns the mode of a host */
	struct run_config_mapper_hosts hosts;
	char *key;    /* absolute path of the fabric key; NULL: none */
	char *expect; /* generator text or absolute path; NULL: the file's own topology */
	weft_time listen_ps, heartbeat_ps, takeover_ps, lease_ps, gather_ps, linger_ps, sweep_ps;
	weft_time retry_ps; /* interval at which unanswered requests are repeated */
	weft_time drain_ps; /* time for a paused fabric to drain before stored packets are purged */
	weft_time after_ps; /* delay of recomputing static routes after an event; NEVER: not
			       recomputed; RUN_AFTER_MAPPER: a mapper changes them */
};

/* Labs only: key that authenticates control frames between the lab's processes
 * (lib/link/link_seal.h). */
struct run_config_link_key {
	char *path; /* absolute; NULL: none */
	struct run_config_place place;
};

/* Lab security. */
struct run_config_security {
	struct run_config_link_key link_key;
	bool data;    /* data frames have tags (lib/link/link_seal.h); requires the key */
	bool sandbox; /* a running process is confined by a sandbox (sandbox.h) */
};

/* Returns the number of bytes that follow the payload of a data frame. */
static inline uint32_t run_config_tag_bytes(const struct run_config_security *security)
{
	return security->data ? FRAME_DATA_TAG_BYTES : 0;
}

/* How new routes replace the old ones after an event (virtual_reroute.h). */
struct run_config_reconfigure {
	enum run_reconfigure mode;
};

struct run_event;

/* The list 'events' (run_events.h). */
struct run_event_list {
	struct run_event *at;
	uint32_t count;
};

/* Impairment of frames that a device sends. */
struct run_config_faults {
	uint32_t credit_loss_ppm; /* share of credit frames that is dropped */
	uint32_t corrupt_ppm;     /* share of data frames in which a bit is flipped */
};

/* Maximum per run: a million samples take about 50 MB of memory and 150 MB of JSON. */
#define RUN_SAMPLES_MAX 1000000

/* Maximum per run: each link value in a sample takes about 70 bytes of memory while the result is
 * written, and 20 bytes of JSON. */
#define RUN_LINK_VALUES_MAX 4000000
#define RUN_LINK_VALUES     4 /* per direction, in addition to one per VC */

/* A run ends when the half width of a 95 % confidence interval, relative to the mean, falls to this
 * value; 0: after its duration. */
struct run_config_until {
	uint32_t interval_ppm;
	enum run_until_value of;
};

struct run_config_measure {
	weft_time warmup_ps, duration_ps, sample_ps;
	struct run_config_until until; /* warm-up ends automatically, but not before warmup_ps */
	weft_time
		max_ps; /* maximum of the measured time; with 'until' also stored as the duration */
	/* Wormhole: messages delivered before the measurement, and during it; 0: determined by
	 * time. The duration remains the upper limit. */
	uint64_t warmup_messages, messages;
	bool hosts; /* wormhole: list the hosts */
	bool links;
	bool link_series; /* values of each link in each sample */
	bool switches;    /* waiting times in each switch */
	bool latencies;   /* include the latency histograms in the result */
};

/* A requirement that the machine must meet; otherwise the run is incomplete (run_fidelity.h). */
struct run_config_fidelity {
	weft_time late_ps;  /* maximum lateness; WEFT_TIME_NEVER: no requirement */
	uint32_t share_ppm; /* minimum share of arrivals that meet it */
};

/* The host without its interface. */
struct run_config_host {
	uint64_t copy_rate_bps;    /* between ranks of a schedule on the same host */
	weft_time overhead_ps;     /* CPU time of each send and recv in a schedule */
	weft_time gap_ps;          /* minimum time between two messages of a schedule */
	uint64_t rendezvous_bytes; /* larger messages of a schedule use rendezvous; 0: none do */
};

struct run_config_topology {
	char *spec;                /* generator text or absolute path; NULL: in_place */
	struct topology *in_place; /* topology in the run file itself */
	struct run_config_place place;
};

/* A host bound to a Linux TAP interface. */
struct run_config_edge {
	char host[TOPOLOGY_NAME_MAX];
	char tap[RUN_TAP_NAME_MAX];
	char netns[RUN_NETNS_MAX];     /* "": the process's own namespace */
	char address[RUN_ADDRESS_MAX]; /* "10.87.0.1/24"; "": none */
	struct run_config_place place;
};

struct run_config_hosts {
	enum run_hosts_kind kind;
	uint32_t share_ppm;              /* for RUN_HOSTS_SHARE */
	char (*name)[TOPOLOGY_NAME_MAX]; /* for RUN_HOSTS_LIST */
	uint32_t count;
	struct run_config_place place;
};

/* Sizes of drawn flows: a published distribution or a file. Both NULL: not set. */
struct run_config_sizes {
	const struct flow_sizes *known;
	char *file; /* absolute path */
};

/* pcap: assignment of packets to hosts, and their speed. */
struct run_config_packets {
	char host[TOPOLOGY_NAME_MAX]; /* sender of all packets; "": determined by address */
	char *by; /* absolute path of a file that maps addresses to hosts; NULL: round robin */
	uint32_t speed; /* in thousandths; 0: 'load' is given */
	uint32_t loops;
};

/* Packets of a capture, and how many of them are not sent. */
struct run_packets_count {
	uint64_t read;
	uint64_t no_source, no_destination; /* address without a host */
	uint64_t same_host;                 /* both addresses belong to one host */
};

/* Fields that a pattern does not use are 0, NULL, or …_UNSET. */
struct run_config_traffic {
	const struct traffic_pattern *pattern;
	struct run_config_hosts from, to;
	struct traffic_values value;
	uint32_t class;              /* service level of the messages */
	enum rail_rule rail;         /* RAIL_UNSET: same-rail */
	weft_time start_ps, stop_ps; /* stop WEFT_TIME_NEVER: end of the run */
	char *file;              /* permutation (NULL: drawn from the seed), schedule or capture */
	char *ranks;             /* goal: file that maps ranks to hosts; NULL: in order */
	uint32_t ranks_per_host; /* goal without a rank file; 0 means 1 */
	struct run_config_sizes sizes; /* flows */
	char *matrix; /* flows: file of weights per pair; NULL: 'from' and 'to' apply */
	struct run_config_packets packets; /* pcap */
	uint32_t job; /* index of its job (run_config.h) plus 1; 0: an entry of 'traffic' */
	struct run_config_place place;
};

struct run_config_edge_list {
	struct run_config_edge *at;
	uint32_t count;
	/* "10.99.0.0/24": the edges only name hosts, and run_config_name_edges() completes them.
	 * "": the edges are complete. */
	char network[RUN_ADDRESS_MAX];
	bool all; /* all hosts of the topology; 'at' is still empty */
	struct run_config_place place;
};

struct run_config_traffic_list {
	struct run_config_traffic *at;
	uint32_t count;
};

/* Each job has an entry at the end of the run's traffic. */
struct run_config_job_list {
	struct run_config_job *at; /* run_config.h */
	uint32_t count;
	uint32_t absent; /* bit set of jobs that have hosts but do not run */
};
