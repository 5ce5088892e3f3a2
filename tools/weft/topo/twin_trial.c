/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "twin.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/child_process.h"
#include "topo/topology_hosts.h"
#include "topo/topology_levels.h"

/* Every tenth host sends to the hot spot. The run time grows with the number of hosts. */
#define HOSTS_MIN 20
#define HOSTS_MAX 1024

/* The larger a network, the later the notifications have spread the traffic: with 582 hosts after
 * 12 ms. The ARN+AFI paper's times are for links of 100 Gbps; at other rates, times scale so that
 * as many bytes pass. */
#define PAPER_BPS 1e11

/* Unnamed files, so that an interrupted trial leaves no files behind. */
struct trial {
	FILE *topology, *run;
};

static bool write_files(const struct trial *trial, const struct topology *topology)
{
	double scale = PAPER_BPS / (double)topology->link_at[topology->host_link[0]].rate_bps;

	if (trial->topology == NULL || trial->run == NULL ||
		topology_write(topology, trial->topology) < 0 || fflush(trial->topology) != 0)
		return false;
	fprintf(trial->run,
		"weft: run/1\ntopology: /proc/self/fd/%d\nclock: virtual\nseed: 1\nwatchdog: off\n"
		"routing: {algorithm: dmodk, mode: table}\n"
		"switch: {buffer: 344KiB, mtu: 4KiB, voq: true, credits: each}\nnic: {mtu: 4KiB}\n"
		"detector: {crt: %.0fns, arn-ttl: %.0fns}\ntraffic:\n"
		"  - {pattern: uniform, from: rest, load: 100%%, message: 4KiB}\n"
		"  - {pattern: hotspot, from: 10%%, to: [\"%s\"], load: 100%%, message: 4KiB, "
		"start: %.0fns}\n"
		"measure: {warmup: %.0fns, duration: %.0fns}\n",
		fileno(trial->topology), 5e6 * scale, 10e6 * scale, topology->host_at[0].name,
		1e6 * scale, 18e6 * scale, 20e6 * scale);
	return fflush(trial->run) == 0;
}

/* Returns a negative value if the run has no result. */
static double run(const struct trial *trial, const char *program, const char *sets)
{
	char command[PATH_MAX + 256];
	const json_t *throughput;
	double accepted;
	json_t *result;
	bool whole;
	FILE *pipe;

	snprintf(command, sizeof(command), "'%s' /proc/self/fd/%d --quiet --json - %s", program,
		fileno(trial->run), sets);
	pipe = popen(command, "r");
	result = pipe != NULL ? json_loadf(pipe, 0, NULL) : NULL;
	whole = pipe != NULL && pclose(pipe) == 0;
	throughput = json_object_get(
		json_array_get(json_object_get(result, "traffic"), 0), "throughput");
	throughput = json_object_get(throughput, "accepted");
	accepted = whole && json_is_real(throughput) ? json_real_value(throughput) : -1;
	json_decref(result);
	return accepted;
}

static json_t *run_both(const struct trial *trial, const struct topology *topology)
{
	char program[PATH_MAX];
	double plain = -1, notified = -1;

	program_path_find("weft-fabric", program, sizeof(program));
	if (write_files(trial, topology) && strchr(program, '\'') == NULL)
		plain = run(trial, program, "");
	if (plain >= 0)
		notified = run(trial, program, "--set routing.adaptive=arn --set routing.afi=true");
	if (notified >= 0)
		return json_pack("{s:s, s:f, s:f}", "to", topology->host_at[0].name, "dmodk", plain,
			"dmodk_arn_afi", notified);
	fprintf(stderr,
		"weft twin: no trial run with a hot spot: weft-fabric returned no result\n");
	return NULL;
}

json_t *twin_trial_run(const struct topology *topology)
{
	struct trial trial = {NULL, NULL};
	json_t *both;

	if (!topology_has_levels(topology) || topology_has_rails(topology) ||
		topology->hosts < HOSTS_MIN || topology->hosts > HOSTS_MAX)
		return NULL;
	trial.topology = fdopen(memfd_create("topology", 0), "w");
	trial.run = fdopen(memfd_create("run", 0), "w");
	both = run_both(&trial, topology);
	if (trial.topology != NULL)
		fclose(trial.topology);
	if (trial.run != NULL)
		fclose(trial.run);
	return both;
}

void twin_trial_print(const json_t *trial, FILE *out)
{
	fprintf(out,
		"\ntrial run: 10 %% of the hosts send all traffic to %s; accepted uniform traffic of the remaining hosts:\n%.1f %% with dmodk, %.1f %% with dmodk, ARN and AFI\n",
		json_string_value(json_object_get(trial, "to")),
		100 * json_real_value(json_object_get(trial, "dmodk")),
		100 * json_real_value(json_object_get(trial, "dmodk_arn_afi")));
}
