/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab up: starts a lab, or the part of it on this machine. */

#include "lab_up.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/quantity.h"
#include "cmd_lab.h"
#include "lab_links.h"
#include "lab_lock.h"
#include "lab_query.h"
#include "lab_snapshot.h"
#include "lab_state.h"
#include "os/atomic_file.h"

/* --- what processes need --- */

int lab_up_write_plan(const struct lab_up *up, struct error *error)
{
	char path[300];
	struct atomic_file file = {.path = path};
	int result;

	snprintf(path, sizeof(path), "%s/plan.txt", up->state.dir);
	result = atomic_file_open(&file, error);
	if (result < 0)
		return result;
	lab_plan_write(up->lab.plan, file.file);
	return atomic_file_close(&file, error);
}

static int make_veths(struct lab_up *up, struct error *error)
{
	char netns[LAB_NAME_MAX + 8], path[LAB_NAME_MAX + 32];
	int result;

	if (!up->lab.plan->veth)
		return 0;
	lab_plan_netns(up->lab.plan, netns);
	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	if (access(path, F_OK) == 0)
		return error_set(error, EEXIST, "network namespace '%s' already exists", netns);
	if (lab_state_add_netns(&up->state, netns) < 0)
		return error_set(error, ENOMEM, "out of memory");
	result = lab_state_save(&up->state, error);
	return result < 0 ? result : lab_veth_create(up->lab.plan, up->lab.frame_bytes, error);
}

/* --- the whole --- */

static bool is_here(const struct lab_up *up, unsigned process)
{
	const char *name = up->lab.plan->process[process].name;

	return lab_record_of(&up->lab, &up->state, name) != NULL;
}

static void print_links(const struct lab_up *up)
{
	const struct lab_plan *plan = up->lab.plan;
	unsigned count[LAB_LINK_KIND_COUNT] = {0}, all = 0;

	for (uint32_t i = 0; i < up->lab.topology->links; i++) {
		const struct lab_plan_link *link = &plan->link[i];
		bool here = is_here(up, link->process[0]) || is_here(up, link->process[1]);

		count[link->kind] += here;
		all += here;
	}
	printf(", %u link%s", all, plural(all, "s"));
	for (unsigned kind = 0; kind < LAB_LINK_KIND_COUNT; kind++)
		if (count[kind] > 0)
			printf(" (%u %s)", count[kind], lab_link_kind_name(kind));
}

/* How fast they are. */
static void print_rates(const struct lab_up *up)
{
	bool *here = calloc(up->lab.topology->links + 1u, sizeof(*here));

	for (uint32_t i = 0; here != NULL && i < up->lab.topology->links; i++) {
		const struct lab_plan_link *link = &up->lab.plan->link[i];

		here[i] = is_here(up, link->process[0]) || is_here(up, link->process[1]);
	}
	lab_links_print(&up->lab, here, stdout);
	free(here);
}

static void warn_of_devices(const struct lab_up *up)
{
	for (unsigned i = 0; i < up->state.processes; i++) {
		struct lab_connection connection;
		struct error error;
		json_t *links;

		if (lab_connect(&connection, &up->state.process[i], &error) < 0)
			continue;
		links = lab_ask_links(&connection, &error);
		lab_links_warn(&up->lab, links);
		json_decref(links);
		lab_disconnect(&connection);
	}
}

static void print_devices(const struct lab_up *up)
{
	const struct topology *topology = up->lab.topology;
	unsigned switches = 0, hosts = 0, cpus = lab_cpus(&up->lab);

	for (uint32_t i = 0; i < topology->switches; i++)
		switches += !topology->switch_at[i].absent &&
			    is_here(up, up->lab.plan->switch_process[i]);
	for (uint32_t i = 0; i < topology->hosts; i++)
		hosts += !topology->host_at[i].absent && topology->host_at[i].rail == 0 &&
			 is_here(up, up->lab.plan->host_process[i]);
	if (up->lab.config->processes == LAB_CONFIG_PROCESSES_ONE)
		printf("%u switch%s, %u host%s in 1 process, %u core%s", switches,
			plural(switches, "es"), hosts, plural(hosts, "s"), cpus, plural(cpus, "s"));
	else
		printf("%u process%s, %u switch%s, %u host%s", up->state.processes,
			plural(up->state.processes, "es"), switches, plural(switches, "es"), hosts,
			plural(hosts, "s"));
}

static void print_summary(const struct lab_up *up, uint64_t took_ms)
{
	const struct lab_plan *plan = up->lab.plan;
	bool partial = json_array_size(up->elsewhere) > 0;

	printf("lab %s is up%s after %" PRIu64 " ms: ", plan->lab,
		partial ? " on this machine" : "", took_ms);
	print_devices(up);
	print_links(up);
	if (up->lab.config->run.dilation > 1)
		printf(", dilated by %" PRIu32, up->lab.config->run.dilation);
	if (partial) {
		printf("\non other machines: ");
		lab_elsewhere_print(up->elsewhere, stdout);
	}
	if (up->mapper.host[0] != '\0')
		printf("\nroutes computed by the mapper %s%s, at most %" PRIu64
		       " ms after the links were up",
			up->mapper.host, up->mapper.elsewhere ? " on another machine" : "",
			up->mapped_ms);
	putchar('\n');
	print_rates(up);
	if (up->state.uplink[0] != '\0')
		printf("uplink: from %s to %s\n", up->lab.config->uplink.edge,
			up->lab.config->uplink.nat);
	printf("logs and plan: %s\n", plan->run_dir);
	if (geteuid() != 0)
		puts("without root: no TAPs for programs, no veth pairs, no NICs");
	if (plan->veth)
		printf("interfaces: ip netns exec weft-%s ip link\n", plan->lab);
}

/* The other machines may not be up yet. */
static void warn_of_routes(const struct lab_up *up)
{
	if (up->mapper.short_of.text[0] != '\0')
		fprintf(stderr, "weft lab up: warning: %s: is the lab up on all other machines?\n",
			up->mapper.short_of.text);
}

static void warn_of_miscabling(const struct lab_up *up)
{
	unsigned count = up->mapper.miscabled;

	if (count > 0)
		fprintf(stderr,
			"weft lab up: warning: the fabric differs from the expected one: %u difference%s; run 'weft lab map %s' for details\n",
			count, count == 1 ? "" : "s", up->arguments->file);
}

static int bring_up(struct lab_up *up, struct error *error)
{
	int result = lab_up_check_edges(up, error);

	if (result == 0)
		result = lab_up_choose_dilation(up, error);
	if (result == 0)
		result = lab_state_create(&up->state, up->lab.plan->run_dir, error);
	if (result < 0)
		return result;
	result = lab_uplink_prepare(up, error);
	if (result == 0)
		result = lab_up_write_plan(up, error);
	if (result == 0)
		result = lab_snapshot_write(&up->lab, error);
	if (result == 0)
		result = make_veths(up, error);
	if (result == 0)
		result = lab_up_start(up, error);
	if (result == 0)
		result = lab_up_wait_whole(up, error);
	if (result == 0)
		result = lab_uplink_make(up, error);
	up->state.starting = false;
	if (result == 0)
		result = lab_state_save(&up->state, error);
	if (result < 0)
		lab_take_down(&up->state, NULL);
	return result;
}

/* Removes the sockets of killed servers, because new servers could not listen on them. */
static void remove_sockets(const struct lab_up *up)
{
	char path[256];

	for (uint32_t i = 0; i < up->lab.topology->links; i++) {
		const struct lab_plan_link *link = &up->lab.plan->link[i];

		if (link->kind != LAB_LINK_MEMIF || !lab_up_wants(up, lab_up_server(link)))
			continue;
		lab_plan_socket(up->lab.plan, i, path, sizeof(path));
		unlink(path);
	}
}

/* Restarts only processes that have ended; the others keep running in any case. */
static int bring_back(struct lab_up *up, struct error *error)
{
	int result;

	result = lab_snapshot_check(&up->lab, error);
	if (result < 0)
		return result;
	remove_sockets(up);
	result = lab_up_start(up, error);
	if (result < 0)
		return result;
	result = (up->arguments->again ? lab_up_wait_whole : lab_up_wait_links)(up, error);
	return result == 0 ? lab_uplink_make(up, error) : result;
}

/* --dilation */
static int dilate(const struct lab_arguments *arguments, struct lab *lab, struct error *error)
{
	int result = 0;

	if (arguments->dilation == NULL)
		return 0;
	result = run_config_set_dilation(&lab->config->run, arguments->dilation, error);
	lab->dilated = true;
	return result;
}

/* Does not count the device numbers of an earlier lab, because its remains are removed now. */
static int open_anew(struct lab_up *up, struct error *error)
{
	char dir[sizeof(up->lab.plan->run_dir)];
	int result;

	snprintf(dir, sizeof(dir), "%s", up->lab.plan->run_dir);
	lab_close(&up->lab);
	result = lab_open_new(&up->lab, up->arguments->file, dir, error);
	return result == 0 ? dilate(up->arguments, &up->lab, error) : result;
}

static int bring_up_locked(struct lab_up *up, struct error *error)
{
	struct lab_lock lock;
	int result = lab_lock_take(&lock, up->lab.plan->run_dir, "brought up", error);

	if (result < 0)
		return result;
	if (up->arguments->again)
		result = lab_up_end_wanted(up, error);
	if (result == 0)
		result = lab_up_check_not_up(up, error);
	if (result == 0 && !up->again && up->lab.fabric != 0)
		result = open_anew(up, error);
	if (result == 0 && up->nothing)
		result = lab_snapshot_check(&up->lab, error);
	else if (result == 0)
		result = up->again ? bring_back(up, error) : bring_up(up, error);
	lab_lock_release(&lock);
	return result;
}

/* --restart */
static int take_down_first(const struct lab_up *up, struct error *error)
{
	unsigned processes;
	int result = lab_down(up->lab.plan->run_dir, &processes, error);

	return result == -ENOENT || result > 0 ? 0 : result;
}

static void warn_of_memif(const struct lab_up *up)
{
	for (uint32_t i = 0; i < up->lab.topology->links; i++)
		if (up->lab.plan->link[i].kind == LAB_LINK_MEMIF) {
			fprintf(stderr,
				"weft lab up: warning: links: memif: if a process is killed, its neighbours can crash; 'links: shared' avoids this\n");
			return;
		}
}

static void tell(const struct lab_up *up, uint64_t took_ms)
{
	if (up->nothing) {
		printf("lab %s is already up on this machine\n", up->lab.plan->lab);
		return;
	}
	if (up->again) {
		printf("lab %s: ended processes are running again after %" PRIu64 " ms\n",
			up->lab.plan->lab, took_ms);
		return;
	}
	print_summary(up, took_ms);
	if (up->arguments->alone)
		return;
	lab_warn_without_key(&up->lab, "weft lab up", stderr);
	lab_cover_report(&up->lab, credit_cover_warn, (void *)(uintptr_t) "weft lab up");
	warn_of_devices(up);
	warn_of_memif(up);
	warn_of_routes(up);
	warn_of_miscabling(up);
}

/* Writes the plan as comments, so that the output as a whole reads back as a lab file. */
static int print_plan(const struct lab *lab)
{
	char *text = NULL, *rest, *line;
	size_t length;
	FILE *memory = open_memstream(&text, &length);

	if (memory == NULL)
		return -ENOMEM;
	lab_plan_write(lab->plan, memory);
	lab_links_print(lab, NULL, memory);
	if (fclose(memory) != 0) {
		free(text);
		return -ENOMEM;
	}
	for (rest = text; (line = strsep(&rest, "\n")) != NULL && *line != '\0';)
		printf("# %s\n", line);
	free(text);
	return fflush(stdout) == 0 ? 0 : -EIO;
}

static enum weft_exit explain(const struct lab_arguments *arguments)
{
	struct error error;
	struct lab lab;
	int result = lab_open_new(&lab, arguments->file, arguments->run_dir, &error);

	if (result == 0 && (result = dilate(arguments, &lab, &error)) < 0)
		lab_close(&lab);
	if (result < 0)
		return command_error("lab up", result, &error);
	result = lab_config_explain(lab.config, stdout);
	if (result == 0)
		result = print_plan(&lab);
	lab_close(&lab);
	if (result == 0)
		return EXIT_DONE;
	return command_fail(
		"lab up", error_exit_code(result), "standard output: %s", strerror(-result));
}

/* Starts a lab on several machines. */
static enum weft_exit up_there(const struct lab_arguments *arguments)
{
	struct lab_target target;
	struct error error;
	struct lab lab;
	int result = lab_snapshot_open(arguments, &lab, &target, &error);

	if (result == 0 && (result = dilate(arguments, &lab, &error)) < 0)
		lab_close(&lab);
	if (result < 0)
		return command_error("lab up", result, &error);
	return console_up(arguments, &lab);
}

enum weft_exit cmd_lab_up(const struct lab_arguments *arguments)
{
	struct lab_up up = {.arguments = arguments};
	uint64_t began = lab_now_ms();
	struct error error;
	int result;

	if (arguments->explain)
		return explain(arguments);
	/* A running lab keeps its form even if the number of CPUs has changed. */
	result = (arguments->restart ? lab_open_new : lab_open)(
		&up.lab, arguments->file, arguments->run_dir, &error);
	if (result == -ENOENT)
		lab_snapshot_expect_file(arguments, &error);
	if (result < 0)
		return command_error("lab up", result, &error);
	lab_catch_signals();
	if (up.lab.config->machines.count > 0 && arguments->machine == NULL && !arguments->again) {
		lab_close(&up.lab);
		return up_there(arguments);
	}
	result = dilate(arguments, &up.lab, &error);
	if (result == 0)
		result = lab_trust_check(&up.lab, &arguments->trust, &error);
	if (result == 0)
		result = lab_up_check_request(&up, &error);
	if (result == 0 && arguments->restart)
		result = take_down_first(&up, &error);
	if (result == 0)
		result = bring_up_locked(&up, &error);
	/* The signal also interrupts the programs that 'up' calls, so they fail. */
	if (result < 0 && lab_interrupted())
		result = error_set(&error, EINTR, "interrupted");
	if (result == 0)
		tell(&up, lab_now_ms() - began);
	held_taps_close(&up.taps);
	json_decref(up.elsewhere);
	free(up.ready);
	free(up.ended);
	lab_state_free(&up.state);
	lab_close(&up.lab);
	if (result == 0)
		return EXIT_DONE;
	return command_fail(arguments->again ? "lab restart" : "lab up",
		up.exhausted ? EXIT_BAD_ANSWER : error_exit_code(result), "%s", error.text);
}
