/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The run file (docs/reference/run-file.md) as a plain struct. Every key is read, checked and
 * written here, and has a default. Keys without an implementation are accepted;
 * run_config_supported() then refuses the run. Lab files have the same sections (lab_config.h).
 *
 * A configuration is constant once loaded; any thread may read it. The caller of the loader owns
 * it. */

#include <stdio.h>

#include "base/weft_error.h"
#include "run_config_sections.h"
#include "topo/topology.h"

struct vc_ladder;      /* lib/queuing/vc_ladder.h */
struct queuing_scheme; /* lib/queuing/queuing.h */
struct name_table;     /* lib/base/name_table.h */
struct route_file;     /* lib/route/formats/route_file.h */

struct run_config {
	char *origin; /* file name, for messages */
	struct run_config_topology topology;
	enum run_clock clock;
	uint32_t dilation; /* real seconds per second of the fabric, or RUN_DILATION_AUTO */
	uint64_t seed;
	struct topology_defaults link; /* defaults for links without values in the topology */
	struct run_config_switch sw;
	const struct queuing_scheme *queuing;
	struct run_config_routing routing;
	struct run_config_detector detector;
	struct run_config_nic nic;
	weft_time hello_ps, watchdog_ps; /* watchdog WEFT_TIME_NEVER: off */
	struct run_config_mapper mapper;
	struct run_config_security security;
	struct run_config_faults faults;
	struct run_event_list events;
	struct run_config_reconfigure reconfigure;
	struct run_config_measure measure;
	struct run_config_fidelity fidelity;
	struct run_config_host host;
	struct run_config_edge_list edges;
	struct run_config_traffic_list traffic;
	struct run_config_job_list jobs;
};

/* Returns the number of bytes in a data frame in addition to header, route and payload: a latency
 * extension if sources measure latencies, and a tag if hosts authenticate data. */
static inline uint32_t run_config_extra_bytes(const struct run_config *config)
{
	bool measures = config->nic.control >= SOURCE_CONTROL_DRB;

	return (measures ? FRAME_LATENCY_BYTES : 0) + run_config_tag_bytes(&config->security);
}

/* Returns the maximum of payload and additional bytes, for frame_room() and frame_longest(). */
static inline uint32_t run_config_frame_payload(const struct run_config *config)
{
	return config->nic.mtu_bytes + run_config_extra_bytes(config);
}

/* Returns the number of VCs per buffer: the queuing scheme's VCs, plus the adapted-flow channel. */
static inline uint32_t run_config_vcs(const struct run_config *config)
{
	return config->sw.vcs + (config->routing.afi ? 1 : 0);
}

/* Returns true if switches mark packets. */
static inline bool run_config_marks(const struct run_config *config)
{
	return config->sw.fecn != 0 || config->sw.ecn.kmax_bytes != 0;
}

/* Returns true if links have no credits: they use Ethernet pause frames, or no flow control. */
static inline bool run_config_is_ethernet(const struct run_config *config)
{
	return config->sw.flow_control == RUN_FLOW_CONTROL_PFC ||
	       config->sw.flow_control == RUN_FLOW_CONTROL_LOSSY;
}

/* Returns true if the result lists the links. */
static inline bool run_config_measures_links(const struct run_config *config)
{
	return config->measure.links || config->measure.link_series;
}

/* Returns the size in blocks of one VC in a switch's input buffer. */
static inline uint32_t run_config_vc_blocks(const struct run_config *config)
{
	return (uint32_t)(config->sw.buffer_bytes / FRAME_BLOCK_BYTES / run_config_vcs(config));
}

/* Returns the size in blocks of the longest frame that a switch accepts. */
static inline uint32_t run_config_frame_blocks(const struct run_config *config)
{
	return frame_blocks(FRAME_HEADER_BYTES + FRAME_ROUTE_MAX + config->sw.mtu_bytes +
			    run_config_extra_bytes(config));
}

/* Keys whose words are the names of a list in lib. Terminated by a NULL key. */
struct run_words {
	const char *key;
	const struct name_table *list;
};
extern const struct run_words run_words[];

/* Returns the default of switch.credits. Modes that compare ports need exact credit counts. */
enum run_credits run_credits_of_mode(const struct adaptive_mode *mode);

/* Returns true if switches choose among several ports. */
bool run_config_is_adaptive(const struct run_config *config);

/* Returns the VC ladder if switches choose paths in a Dragonfly, else NULL. */
const struct vc_ladder *run_config_ladder(const struct run_config *config);
/* Returns true if switches read the queues of other switches, which requires the virtual clock
 * and a single thread. */
bool run_config_needs_oracle(const struct run_config *config);

/* Returns true if messages have different service levels. */
bool run_config_has_classes(const struct run_config *config);

/* Returns the key that prevents a switch from being divided among loops, because its decisions
 * depend on all outputs (docs/how-to/divide-a-switch.md); NULL: switches may be divided. */
const char *run_config_needs_one_lcore(const struct run_config *config);

/* Returns true if at least one traffic entry is a schedule. */
bool run_config_has_schedule(const struct run_config *config);

/* Returns the mean message length of a traffic entry. */
double run_config_mean_bytes(const struct run_config_traffic *traffic);

/* Return the text of a choice: run_clock_name(RUN_CLOCK_REAL) is "real". */
const char *run_clock_name(enum run_clock clock);
const char *run_switching_name(enum run_switching switching);
const char *run_until_value_name(enum run_until_value value);
/* Returns true if an algorithm has multi-step paths, which 'radius' and 'steps' require. */
bool run_routing_has_steps(const struct run_config_routing *routing);
/* Returns true if interfaces choose among the routes of a pair: nic.control requests it, or
 * nic.selector differs from the algorithm's default. The second function returns that word. */
bool run_config_chooses_routes(const struct run_config *config);
const char *run_config_chooser(const struct run_config *config);
/* Returns true if an algorithm chooses among equally good paths, which 'ties' requires. */
bool run_routing_has_ties(const struct run_config_routing *routing);
/* Writes the names of all algorithms, joined by '+'. */
void run_routing_name(const struct run_config_routing *routing, char out[RUN_ROUTING_NAME]);
/* Returns the source of the routes for messages: "routing.algorithm ud" or "routing.file". */
const char *run_routing_origin(
	const struct run_config_routing *routing, char out[RUN_ROUTING_ORIGIN]);
/* Returns 0, or -EINVAL if no mode has this name. */
int run_mapper_mode_find(const char *name, enum run_mapper_mode *mode);

/* Returns the mode of this host. AUTO: the host may be the mapper; ALWAYS: it also has priority.
 * 'mode: auto' allows only the hosts in 'hosts'; 'always' gives them priority over the others;
 * 'never' allows only the others. */
enum run_mapper_mode run_config_mapper_mode(const struct run_config *config, const char *host);

/* Reads a file and applies the overrides "KEY=VALUE" in 'set'; run_config_parse() reads text in
 * memory, named 'origin' in messages. Returns NULL with error and errno set on failure. */
struct run_config *run_config_load(
	const char *path, const char *const *set, unsigned sets, struct error *error);
/* Overrides from one command line option, which messages name. */
struct run_config_overrides {
	const char *option; /* "--set" */
	const char *const *set;
	unsigned sets;
};
/* Like run_config_load(), with the overrides of 'count' options, applied in this order. */
struct run_config *run_config_load_with(const char *path,
	const struct run_config_overrides *overrides, unsigned count, struct error *error);
struct run_config *run_config_parse(const char *text, size_t length, const char *origin,
	const char *const *set, unsigned sets, struct error *error);
void run_config_destroy(struct run_config *config);

/* Sets all keys to their defaults, which are the values of the papers. */
void run_config_default(struct run_config *config);

/* Returns 0, or -EINVAL with error set if a key or combination is not supported. */
int run_config_supported(const struct run_config *config, struct error *error);

/* Opens the topology, applies the configuration's link defaults, and checks that it is connected
 * and has the hosts of 'mapper.hosts'. The caller owns the topology. Returns NULL with error and
 * errno set on failure. */
struct topology *run_config_open_topology(const struct run_config *config, struct error *error);

/* Names the interfaces of 'edges: {hosts, network}': host h gets interface eth0 in namespace
 * weft-LAB-h (weft-h if 'lab' is NULL). Its address is the network address plus 1 plus h's
 * number in the topology. Other edges are not changed. Returns 0, -ENOMEM, or -EINVAL with error
 * set: an unknown host, a name that is too long, no free address, or edges in a run ('lab' NULL)
 * that share a network and a namespace. */
int run_config_name_edges(struct run_config *config, const struct topology *topology,
	const char *lab, struct error *error);

/* Returns -EINVAL with error set if two edges on this machine have overlapping networks in one
 * namespace, because the kernel would not send packets between them through the fabric. */
int run_config_check_edges(const struct run_config *config, const struct run_config_edge *edge,
	const struct run_config_edge *before, struct error *error);

/* Returns true if either network contains the other. Both are in CIDR notation ("10.0.0.1/24"). */
bool run_config_networks_overlap(const char *one, const char *other);

/* Sets an error that starts with "FILE:LINE:COLUMN: " or "--set KEY: ". Returns -EINVAL. */
int run_config_refuse(const struct run_config *config, const struct run_config_place *place,
	struct error *error, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Sets the clock (--clock). Returns -EINVAL if no clock has this name. */
int run_config_set_clock(struct run_config *config, const char *name, struct error *error);

/* Sets the dilation (--dilation N|auto). Returns -EINVAL for any other text. */
int run_config_set_dilation(struct run_config *config, const char *text, struct error *error);

/* Writes the full configuration as a run file; reading that file yields the same configuration.
 * Returns 0 or -EIO. */
int run_config_explain(const struct run_config *config, FILE *out);

/* Returns 0, or -EINVAL with error set if 'duration_ps' exceeds RUN_SAMPLES_MAX samples. */
int run_config_check_samples(
	const struct run_config_measure *measure, weft_time duration_ps, struct error *error);
/* Returns 0, or -EINVAL with error set if link-series would exceed RUN_LINK_VALUES_MAX values in a
 * run of the configured duration. Each direction of a link has four values, plus one per VC. */
int run_config_check_link_series(
	const struct run_config *config, const struct topology *topology, struct error *error);

/* The jobs of a run file: schedules or traffic that run concurrently, each on its own hosts
 * (run_hosts.h). Each job also has an entry in the run's traffic, which the run owns. */

#define RUN_JOBS_MAX 32

/* clang-format off */
#define RUN_PLACEMENTS(X) \
	X(RUN_PLACEMENT_PACKED, "packed") X(RUN_PLACEMENT_RANDOM, "random") \
	X(RUN_PLACEMENT_BY_GROUP, "by-group") X(RUN_PLACEMENT_SPREAD, "spread")
/* clang-format on */
#define X(id, text) id,
enum run_placement_kind { RUN_PLACEMENTS(X) RUN_PLACEMENT_FILE };
#undef X

struct run_placement {
	enum run_placement_kind kind;
	char *file; /* absolute path of a host list; only with RUN_PLACEMENT_FILE */
};

struct run_config_job {
	char name[TOPOLOGY_NAME_MAX];
	char *schedule;                    /* absolute path; NULL: see 'traffic' */
	struct run_config_traffic traffic; /* pattern NULL: see 'schedule' */
	uint32_t hosts;                    /* 0: all hosts in the placement file */
	uint32_t ranks_per_host;           /* 0 means 1 */
	struct run_placement placement;
	weft_time start_ps;
	bool baseline; /* also measured alone, and with each other job */
	struct run_config_place place;
};

/* Returns the index of the traffic entry of job 'number'. */
static inline uint32_t run_job_entry(const struct run_config *config, uint32_t number)
{
	return config->traffic.count - config->jobs.count + number;
}

/* Returns true if the entry is absent. While a baseline is measured, so is traffic without a job.
 */
static inline bool run_job_is_absent(
	const struct run_config *config, const struct run_config_traffic *entry)
{
	return entry->job == 0 ? config->jobs.absent != 0
			       : (config->jobs.absent >> (entry->job - 1) & 1) != 0;
}

/* Appends the jobs' entries to the run's traffic. Call after all keys are read. Returns 0, -ENOMEM,
 * or -EINVAL with error set. */
int run_jobs_complete(struct run_config *config, struct error *error);
void run_jobs_free(struct run_config_job_list *jobs);

/* The routes of a run or lab file with 'routing.file': loaded with lib/route/formats, and verified
 * as in 'weft route verify'. */

/* Loads and verifies the routes; the caller closes the file. Returns 0, or -errno with an error
 * that starts with the position of the key. Fails with -EINVAL if the file does not match the
 * topology or routing.mode, does not connect all hosts, or may deadlock while routing.may-deadlock
 * is false; otherwise with -ENOENT and similar errors, or -ENOMEM. */
int run_routes_load(const struct run_config *run, const struct topology *topology,
	struct route_file *file, struct error *error);

/* The files that a configuration names. The result depends on their contents as well. */

#define RUN_TRAFFIC_FILES 5

/* Fills in the files of a traffic entry; NULL for each key without a file. */
static inline void run_traffic_files(
	const struct run_config_traffic *traffic, const char *path[RUN_TRAFFIC_FILES])
{
	path[0] = traffic->file;
	path[1] = traffic->ranks;
	path[2] = traffic->sizes.file;
	path[3] = traffic->matrix;
	path[4] = traffic->packets.by;
}

/* Returns 0, or -errno with error set to stop the iteration. */
typedef int run_file_fn(void *ctx, const char *path, struct error *error);

/* Calls 'take' with the absolute path of each file: the topology, permutations, schedules, their
 * ranks, sizes and matrices of flows, captures and their addresses, and the topology that the
 * mapper expects. Generators are not files; a file that two keys name is passed twice. Returns the
 * result of 'take'. */
int run_files_each(
	const struct run_config *config, run_file_fn *take, void *ctx, struct error *error);

/* Returns -EINVAL with error set if 'output' (NULL: none) is the configuration or one of these
 * files. */
int run_files_refuse(const struct run_config *config, const char *output, struct error *error);
