/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab doctor: suggests changes to this machine and to the network between machines. */

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel_view.h"
#include "lab/cmd_lab.h"
#include "lab_collect.h"
#include "os/program_threads.h"

#define COMMAND "lab doctor"
#define UNKNOWN "" /* note()'s 'fix' */
#define LESS_WORK \
	"stop other programs, use fewer processes ('processes: one'), or slow down the clock ('dilation')"

struct doctor {
	const struct lab *lab;
	const struct lab_state *state;
	json_t *all;    /* lab_collect() */
	json_t *checks; /* [{"check", "subject", "result", "text", "fix"}] */
	unsigned findings, unknown;
	bool short_of_cpu;
};

/* --- findings --- */

/* 'fix': what to change; NULL: nothing. */
static void note(struct doctor *doctor, const char *check, const char *subject, const char *fix,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

static void note(struct doctor *doctor, const char *check, const char *subject, const char *fix,
	const char *format, ...)
{
	const char *result = fix == NULL ? "ok" : fix[0] == '\0' ? "unknown" : "change";
	char text[ERROR_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	doctor->findings += result[0] == 'c';
	doctor->unknown += result[0] == 'u';
	json_array_append_new(doctor->checks,
		json_pack("{s:s,s:s,s:s,s:s,s:s?}", "check", check, "subject", subject, "result",
			result, "text", text, "fix", result[0] == 'c' ? fix : NULL));
}

/* Prints only the first subject without problems of each check. */
static void print(const struct doctor *doctor)
{
	const char *shown = "";
	json_t *check;

	for (size_t i = 0; (check = json_array_get(doctor->checks, i)) != NULL; i++) {
		const char *name = lab_text(check, "check"), *fix = lab_text(check, "fix");
		bool good = strcmp(lab_text(check, "result"), "ok") == 0;
		char line[2 * ERROR_TEXT];

		if (good && strcmp(shown, name) == 0)
			continue;
		if (good)
			shown = name;
		snprintf(line, sizeof(line), "%-8s %-10s %s: %s%s%s", lab_text(check, "result"),
			name, lab_text(check, "subject"), lab_text(check, "text"),
			fix[0] != '\0' ? ": " : "", fix);
		fold_print(line, FOLD_COLUMNS, stdout);
	}
	if (doctor->findings == 0)
		fputs("nothing to change", stdout);
	else
		printf("%u thing%s to change", doctor->findings, doctor->findings == 1 ? "" : "s");
	if (doctor->unknown > 0)
		printf(", %u check%s without a result", doctor->unknown,
			doctor->unknown == 1 ? "" : "s");
	putchar('\n');
}

/* --- processes --- */

/* A value that a process does not report is unknown, not 0. */
static void check_processes(struct doctor *doctor)
{
	json_t *process;

	for (size_t i = 0;
		(process = json_array_get(json_object_get(doctor->all, "processes"), i)) != NULL;
		i++) {
		const char *is = lab_text(process, "state");

		if (strcmp(is, "running") != 0)
			note(doctor, "processes", lab_text(process, "name"), UNKNOWN,
				"the process is %s, so its loops, edges and NICs are not checked",
				is);
	}
}

/* --- CPUs --- */

static void check_thread(struct doctor *doctor, const struct lab_record *record, long thread)
{
	char subject[sizeof(record->name) + 32], name[32];
	struct cpu_times cpu;
	bool is_short;

	/* DPDK's other threads serve telemetry and interrupts. */
	if (!kernel_line(
		    name, sizeof(name), "/proc/%ld/task/%ld/comm", (long)record->pid, thread) ||
		(thread != record->pid && strncmp(name, "rte-worker", 10) != 0) ||
		!kernel_cpu_times(record->pid, thread, &cpu))
		return;
	is_short = cpu_times_are_short(&cpu, doctor->lab->config->run.dilation);
	doctor->short_of_cpu |= is_short;
	snprintf(subject, sizeof(subject), "%s, thread %ld", record->name, thread);
	note(doctor, "loops", subject, is_short ? LESS_WORK : NULL,
		"ran for %.1f s and waited for a CPU for %.1f s", (double)cpu.run_ns / 1e9,
		(double)cpu.wait_ns / 1e9);
}

static void check_loops(struct doctor *doctor, const struct lab_record *record)
{
	size_t before = json_array_size(doctor->checks);
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/proc/%ld/task/*", command_root(), (long)record->pid);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			check_thread(doctor, record, atol(strrchr(found.gl_pathv[i], '/') + 1));
	globfree(&found);
	if (json_array_size(doctor->checks) == before)
		note(doctor, "loops", record->name, UNKNOWN,
			"the kernel does not report its CPU time");
}

/* Returns the lowest quota of the group and the groups around it, in CPUs; 0: none. */
static double group_quota(char *group)
{
	double lowest = 0, quota, period;
	char line[64], *slash;

	do {
		bool limited = kernel_line(line, sizeof(line), "/sys/fs/cgroup%s/cpu.max", group) &&
			       sscanf(line, "%lf %lf", &quota, &period) == 2;

		if (!limited && kernel_line(line, sizeof(line),
					"/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group)) {
			quota = atof(line);
			limited = quota > 0 &&
				  kernel_line(line, sizeof(line),
					  "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
			period = limited ? atof(line) : 0;
		}
		if (limited && period > 0 && (lowest == 0 || quota / period < lowest))
			lowest = quota / period;
		slash = strrchr(group, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
	return lowest;
}

/* Returns the quota of the process in CPUs; 0: none, -1: unknown. A line names its group: "0::/a/b"
 * or, in version 1, "4:cpu,cpuacct:/a/b". */
static double process_quota(const struct lab_record *record)
{
	char path[PATH_MAX], line[PATH_MAX];
	double lowest = 0, quota;
	FILE *file;

	snprintf(path, sizeof(path), "%s/proc/%ld/cgroup", command_root(), (long)record->pid);
	file = fopen(path, "re");
	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL) {
		char *group = strstr(line, ":/");

		line[strcspn(line, "\n")] = '\0';
		if (group == NULL || (strstr(line, "::/") == NULL && strstr(line, "cpu,") == NULL &&
					     strstr(line, ":cpu:") == NULL))
			continue;
		quota = group_quota(group + 1);
		if (quota > 0 && (lowest == 0 || quota < lowest))
			lowest = quota;
	}
	fclose(file);
	return lowest;
}

static void check_cores(struct doctor *doctor)
{
	unsigned loops = (unsigned)json_object_size(json_object_get(doctor->all, "loops"));
	unsigned cpus = cpu_count(), dilation = doctor->lab->config->run.dilation;
	bool tight = dilation == 1 || doctor->short_of_cpu;
	double quota = 0;

	note(doctor, "cores", "this machine", loops > cpus && tight ? LESS_WORK : NULL,
		"%u loops, %u CPUs, dilation %u", loops, cpus, dilation);
	for (unsigned i = 0; i < doctor->state->processes && quota <= 0; i++)
		quota = process_quota(&doctor->state->process[i]);
	if (quota < 0)
		note(doctor, "quota", "control group", UNKNOWN,
			"the kernel does not report the cgroup");
	else if (quota == 0)
		note(doctor, "quota", "control group", NULL, "no limit on CPU time");
	else
		note(doctor, "quota", "control group",
			loops > quota && tight
				? "raise the CPU quota, use fewer processes ('processes: one'), or slow down the clock ('dilation')"
				: NULL,
			"%u loops, a quota of %.3g CPUs, dilation %u", loops, quota, dilation);
}

static void check_autogroup(struct doctor *doctor)
{
	char line[16];
	bool on = kernel_line(line, sizeof(line), "/proc/sys/kernel/sched_autogroup_enabled") &&
		  atoi(line) != 0;

	note(doctor, "autogroup", "kernel",
		on && doctor->short_of_cpu ? "'sysctl kernel.sched_autogroup_enabled=0'" : NULL,
		on ? "on; each session gets an equal share of the CPUs, regardless of how many loops it runs"
		   : "off");
}

static void check_governor(struct doctor *doctor)
{
	char pattern[PATH_MAX], line[64], first[64] = "", subject[32] = "all CPUs";
	unsigned slow = 0, found = 0;
	glob_t cpus;

	snprintf(pattern, sizeof(pattern),
		"%s/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor", command_root());
	if (glob(pattern, 0, NULL, &cpus) == 0)
		found = (unsigned)cpus.gl_pathc;
	for (unsigned i = 0; i < found; i++) {
		const char *path = cpus.gl_pathv[i] + strlen(command_root());

		if (!kernel_line(line, sizeof(line), "%s", path) ||
			strcmp(line, "performance") == 0)
			continue;
		if (slow++ > 0)
			continue;
		snprintf(first, sizeof(first), "%s", line);
		snprintf(subject, sizeof(subject), "CPU %d", atoi(strstr(path, "/cpu/cpu") + 8));
	}
	globfree(&cpus);
	if (found == 0)
		note(doctor, "governor", subject, UNKNOWN,
			"the kernel does not report the frequency governor");
	else if (slow == 0)
		note(doctor, "governor", subject, NULL, "performance");
	else
		note(doctor, "governor", subject, "'cpupower frequency-set -g performance'",
			"%s; %u of %u CPUs are not set to performance", first, slow, found);
}

static void check_pages(struct doctor *doctor)
{
	char line[96];

	if (!kernel_line(line, sizeof(line), "/sys/kernel/mm/transparent_hugepage/%s", "defrag"))
		note(doctor, "hugepages", "transparent", UNKNOWN,
			"the kernel does not report its huge page settings");
	else if (strstr(line, "[always]") != NULL)
		note(doctor, "hugepages", "transparent",
			"'echo madvise > /sys/kernel/mm/transparent_hugepage/defrag'",
			"defrag is 'always', so page faults wait for memory compaction");
	else
		note(doctor, "hugepages", "transparent", NULL,
			"page faults of labs do not wait for memory compaction");
}

/* --- edges and NICs --- */

static void check_edges(struct doctor *doctor)
{
	json_t *edge;

	for (size_t i = 0;
		(edge = json_array_get(json_object_get(doctor->all, "edges"), i)) != NULL; i++) {
		uint64_t drops = json_count_of(edge, "drops");

		if (json_is_null(json_object_get(edge, "drops")))
			continue; /* check_processes() */
		note(doctor, "edges", lab_text(edge, "host"),
			drops > 0 ? "'weft lab status --wide' shows the reasons (tap_...)" : NULL,
			"%s dropped %" PRIu64 " packets", lab_text(edge, "interface"), drops);
	}
}

static void check_speeds(struct doctor *doctor)
{
	json_t *link;

	for (size_t i = 0;
		(link = json_array_get(json_object_get(doctor->all, "links"), i)) != NULL; i++) {
		uint64_t mbps = json_count_of(link, "device_speed_mbps");
		uint64_t rate_mbps = json_count_of(link, "paced_bps") / 1000000;

		if (mbps == 0)
			continue;
		note(doctor, "speed", lab_text(link, "port"),
			mbps < rate_mbps ? "lower the rate of the link, or check the cable and the "
					   "settings of both ends"
					 : NULL,
			"the NIC runs at %" PRIu64 " Mbps, the link at %" PRIu64 " Mbps", mbps,
			rate_mbps);
	}
}

/* Checks the statistics of DPDK device 'number', whose names depend on the driver, such as
 * rx_pause_frames and rx_flow_control_xoff_packets. */
static void check_pause_of(
	struct doctor *doctor, struct lab_connection *connection, json_int_t number)
{
	char command[64];
	struct error ignored;
	json_t *info, *statistics, *value;
	json_int_t frames = 0;
	bool counts = false;
	const char *name;

	snprintf(command, sizeof(command), "/ethdev/info,%" PRId64, (int64_t)number);
	info = lab_ask(connection, command, &ignored);
	snprintf(command, sizeof(command), "/ethdev/xstats,%" PRId64, (int64_t)number);
	statistics = lab_ask(connection, command, &ignored);
	json_object_foreach(statistics, name, value) {
		if (strstr(name, "pause") == NULL && strstr(name, "xoff") == NULL)
			continue;
		counts = true;
		frames += json_integer_value(value);
	}
	name = lab_text(info, "name");
	if (counts)
		note(doctor, "pause", name,
			frames > 0
				? "turn off flow control on the NIC ('ethtool -A NAME rx off tx off') and on the switch, because a pause stops all links of the port"
				: NULL,
			"%" PRId64 " pause frames", (int64_t)frames);
	else if (strchr(name, ':') != NULL) /* a NIC's address */
		note(doctor, "pause", name, UNKNOWN, "the driver does not count pause frames");
	json_decref(info);
	json_decref(statistics);
}

static void check_pause(struct doctor *doctor, const struct lab_record *record)
{
	struct lab_connection connection;
	struct error ignored;
	json_t *list, *number;

	if (lab_connect(&connection, record, &ignored) < 0)
		return;
	list = lab_ask(&connection, "/ethdev/list", &ignored);
	for (size_t i = 0; (number = json_array_get(list, i)) != NULL; i++) {
		check_pause_of(doctor, &connection, json_integer_value(number));
	}
	json_decref(list);
	lab_disconnect(&connection);
}

/* Skips kernel interfaces, whose ports are not DPDK devices. */
static void check_pause_interfaces(struct doctor *doctor)
{
	const struct topology *topology = doctor->lab->topology;

	for (uint32_t i = 0; i < topology->bindings; i++) {
		const struct topology_binding *binding = &topology->binding_at[i];
		char name[TOPOLOGY_NAME_MAX + 8];
		json_t *link;

		if (strncmp(binding->dpdk, LAB_PACKET_DEVICE, strlen(LAB_PACKET_DEVICE)) != 0)
			continue;
		topology_port_name(topology, binding->port, name, sizeof(name));
		for (size_t index = 0; (link = json_array_get(json_object_get(doctor->all, "links"),
						index)) != NULL;
			index++) {
			if (strcmp(lab_text(link, "port"), name) == 0)
				note(doctor, "pause", name, UNKNOWN,
					"'ethtool -S' may show the pause frames of the interface");
		}
	}
}

/* --- links --- */

static void check_paths(struct doctor *doctor)
{
	json_t *list = lab_probe(doctor->lab, doctor->state), *entry;

	for (size_t i = 0; (entry = json_array_get(list, i)) != NULL; i++) {
		struct error error;
		int result = lab_probe_judge(doctor->lab, entry, &error);

		note(doctor, "path MTU", lab_text(entry, "port"),
			result == 0           ? NULL
			: result == -EMSGSIZE ? LAB_PROBE_FIX
					      : UNKNOWN,
			"%s", error.text);
	}
	json_decref(list);
}

static enum weft_exit examine(
	const struct lab_arguments *arguments, const struct lab *lab, const struct lab_state *state)
{
	struct doctor doctor = {.lab = lab, .state = state, .checks = json_array()};

	lab_catch_signals();
	doctor.all = lab_collect(lab, state, false);
	for (unsigned i = 0; i < state->processes && state->remotes == 0; i++)
		check_loops(&doctor, &state->process[i]);
	if (state->remotes > 0) {
		note(&doctor, "machines", lab->plan->lab, UNKNOWN,
			"CPUs are checked with 'weft lab doctor --machine NAME' on each machine");
	} else {
		check_cores(&doctor);
		check_autogroup(&doctor);
		check_governor(&doctor);
		check_pages(&doctor);
	}
	check_processes(&doctor);
	check_edges(&doctor);
	check_speeds(&doctor);
	for (unsigned i = 0; i < state->processes; i++)
		check_pause(&doctor, &state->process[i]);
	check_pause_interfaces(&doctor);
	check_paths(&doctor);
	if (arguments->json)
		command_print_json(json_pack("{s:s,s:i,s:i,s:O}", "lab", lab->plan->lab, "findings",
					   (int)doctor.findings, "unknown", (int)doctor.unknown,
					   "checks", doctor.checks),
			0);
	else
		print(&doctor);
	json_decref(doctor.checks);
	json_decref(doctor.all);
	if (lab_interrupted())
		return EXIT_INTERRUPTED;
	return doctor.findings == 0 ? EXIT_DONE : EXIT_BAD_ANSWER;
}

enum weft_exit cmd_lab_doctor(const struct lab_arguments *arguments)
{
	return lab_with_running(arguments, COMMAND, examine);
}
