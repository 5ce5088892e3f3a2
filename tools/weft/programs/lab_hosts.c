/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "lab/lab_slow_time.h"
#include "os/atomic_file.h"

/* Turns this process into a process of an emulated host, with the host's network namespace, host
 * name and /etc/hosts. Programs that it executes, and their children, inherit this view; the rest
 * of the machine is not affected. Needs CAP_SYS_ADMIN. Call only while the process has a single
 * thread. */

struct host_view {
	const char *netns; /* name as in 'ip netns' */
	const char *name;  /* host name */
	const char *hosts; /* file to use as /etc/hosts; NULL: the machine's own */
};

#define ETC_HOSTS "/etc/hosts"

static int enter_netns(const char *netns, struct error *error)
{
	char path[PATH_MAX];
	int fd, result;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	result = setns(fd, CLONE_NEWNET) < 0 ? -errno : 0;
	close(fd);
	return result == 0 ? 0 : error_set(error, -result, "%s: %s", path, strerror(-result));
}

/* Makes mounts that do not propagate to the rest of the machine. */
static int mount_own(const struct host_view *view, struct error *error)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return error_set(
			error, errno, "cannot create a mount namespace: %s", strerror(errno));
	if (view->hosts != NULL && mount(view->hosts, ETC_HOSTS, NULL, MS_BIND, NULL) < 0)
		return error_set(error, errno, "cannot mount %s on " ETC_HOSTS ": %s", view->hosts,
			strerror(errno));
	/* /sys shows the interfaces of the namespace in which it was mounted. */
	umount2("/sys", MNT_DETACH);
	if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return error_set(error, errno, "cannot mount /sys: %s", strerror(errno));
	return 0;
}

/* Returns 0, or -errno with error set: -ENOENT (no such namespace) or -EPERM. */
static int host_view_enter(const struct host_view *view, struct error *error)
{
	int result = enter_netns(view->netns, error);

	if (result < 0)
		return result;
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS) < 0 ||
		sethostname(view->name, strlen(view->name)) < 0)
		return error_set(
			error, errno, "cannot set host name '%s': %s", view->name, strerror(errno));
	return mount_own(view, error);
}

#define HOSTS_FILE "hosts"

#define EXIT_NOT_RUNNABLE 126 /* same codes as in shells */
#define EXIT_NOT_FOUND    127

enum weft_exit lab_hosts_open(struct lab_hosts *hosts, const struct lab_arguments *arguments,
	const char *command, bool plain)
{
	enum weft_exit code = lab_open_running(arguments, command, &hosts->lab, &hosts->state);

	hosts->command = command;
	hosts->real_time = arguments->no_faketime;
	if (code == EXIT_DONE && hosts->state.remotes > 0) {
		lab_hosts_close(hosts);
		return command_fail(command, EXIT_BAD_REQUEST,
			"programs run on the machine of their host; log in there, and run this command with the lab's name");
	}
	if (code != EXIT_DONE || hosts->lab.config->run.edges.count > 0 ||
		(plain && hosts->lab.config->endpoints > 0))
		return code;
	command_fail(command, EXIT_BAD_REQUEST,
		"lab %s has no 'edges', so no host has an interface for programs",
		hosts->lab.plan->lab);
	lab_hosts_close(hosts);
	return EXIT_BAD_REQUEST;
}

void lab_hosts_close(struct lab_hosts *hosts)
{
	lab_state_free(&hosts->state);
	lab_close(&hosts->lab);
}

/* Returns an edge for a host of a lab without 'edges'. Its programs run on the machine itself and
 * use endpoints. */
static const struct run_config_edge *find_plain(struct lab_hosts *hosts, const char *host)
{
	if (hosts->lab.config->run.edges.count > 0 ||
		topology_find_host(hosts->lab.topology, host) < 0)
		return NULL;
	hosts->plain = (struct run_config_edge){.netns = ""};
	snprintf(hosts->plain.host, sizeof(hosts->plain.host), "%s", host);
	return &hosts->plain;
}

const struct run_config_edge *lab_hosts_find(struct lab_hosts *hosts, const char *host)
{
	const struct run_config_edge *plain;
	bool has_edges = hosts->lab.config->run.edges.count > 0;
	const struct run_config_edge_list *edges = &hosts->lab.config->run.edges;

	for (uint32_t i = 0; i < edges->count; i++) {
		if (strcmp(edges->at[i].host, host) != 0)
			continue;
		if (edges->at[i].netns[0] != '\0')
			return &edges->at[i];
		command_fail(hosts->command, EXIT_BAD_REQUEST,
			"%s: this host's edge has no 'namespace' in which to run a program", host);
		return NULL;
	}
	plain = find_plain(hosts, host);
	if (plain == NULL)
		command_fail(hosts->command, EXIT_BAD_REQUEST,
			"%s: no host in the lab%s has this name%s%s%s", host,
			has_edges ? "'s 'edges'" : "", has_edges ? " ('weft lab hosts " : "",
			has_edges ? hosts->lab.plan->lab : "", has_edges ? "' lists them)" : "");
	return plain;
}

/* Writes the address without its prefix length; "" if the edge has no address. */
static void address_of(const struct run_config_edge *edge, char out[RUN_ADDRESS_MAX])
{
	snprintf(out, RUN_ADDRESS_MAX, "%s", edge->address);
	out[strcspn(out, "/")] = '\0';
}

void lab_hosts_print(const struct lab_hosts *hosts, FILE *out)
{
	const struct run_config_edge_list *edges = &hosts->lab.config->run.edges;
	char address[RUN_ADDRESS_MAX];

	for (uint32_t i = 0; i < edges->count; i++) {
		address_of(&edges->at[i], address);
		if (edges->at[i].netns[0] != '\0')
			fprintf(out, "%s slots=1 # %s %s\n", edges->at[i].host, address,
				edges->at[i].netns);
	}
}

/* Writes RUN_DIR/hosts, the names and addresses that programs see as /etc/hosts. */
static int write_names(const struct lab_hosts *hosts, char path[PATH_MAX], struct error *error)
{
	const struct run_config_edge_list *edges = &hosts->lab.config->run.edges;
	char address[RUN_ADDRESS_MAX];
	struct atomic_file file = {.path = path};
	int result;

	snprintf(path, PATH_MAX, "%s/" HOSTS_FILE, hosts->state.dir);
	if (access(path, F_OK) == 0)
		return 0;
	result = atomic_file_open(&file, error);
	if (result < 0)
		return result;
	fputs("127.0.0.1 localhost\n", file.file);
	for (uint32_t i = 0; i < edges->count; i++) {
		address_of(&edges->at[i], address);
		if (address[0] != '\0')
			fprintf(file.file, "%s %s\n", address, edges->at[i].host);
	}
	return atomic_file_close(&file, error);
}

static int choose_time(const struct lab_hosts *hosts, struct error *error)
{
	uint32_t dilation = hosts->lab.config->run.dilation;

	if (dilation > 1 && !hosts->real_time)
		return lab_slow_time_begin(hosts->state.dir, dilation, error);
	lab_slow_time_leave();
	return 0;
}

/* Finds the folder of the libfabric provider: next to this program in a build, otherwise the
 * installation folder. */
static void provider_folder(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 64);

	path[length > 0 ? length : 0] = '\0';
	if (strrchr(path, '/') != NULL)
		strcpy(strrchr(path, '/'), "/../../apps/provider");
	if (access(path, R_OK) != 0)
		snprintf(path, PATH_MAX, "%s", PROVIDER_FOLDER);
}

bool lab_hosts_have_provider(void)
{
	char path[PATH_MAX];

	provider_folder(path);
	strcat(path, "/libweft-fi.so");
	return access(path, R_OK) == 0;
}

enum weft_exit lab_hosts_exec(
	const struct lab_hosts *hosts, const struct run_config_edge *edge, char *const *argv)
{
	struct host_view view = {.netns = edge->netns, .name = edge->host};
	char path[PATH_MAX];
	struct error error;
	int result;

	provider_folder(path);
	setenv("FI_PROVIDER_PATH", path, false);
	result = write_names(hosts, path, &error);

	view.hosts = path;
	setenv("WEFT_LAB", hosts->state.dir, true);
	setenv("WEFT_HOST", edge->host, true);
	if (result == 0)
		result = choose_time(hosts, &error);
	if (result == 0 && edge->netns[0] != '\0')
		result = host_view_enter(&view, &error);
	if (result < 0)
		return command_fail(
			hosts->command, EXIT_NOT_ABLE, "%s: %s", edge->host, error.text);
	execvp(argv[0], argv);
	return command_fail(hosts->command,
		errno == ENOENT ? (enum weft_exit)EXIT_NOT_FOUND
				: (enum weft_exit)EXIT_NOT_RUNNABLE,
		"%s: %s", argv[0], strerror(errno));
}
