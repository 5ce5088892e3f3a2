/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Interfaces that 'weft lab up' creates: the veth pairs of links, and the uplink. For the uplink, a
 * veth pair leads from the namespace of an edge to the namespace of the command, which forwards to
 * the interface of the lab file. Both ends translate addresses (NAT), so the lab's network needs no
 * route outside, and labs with the same network can share an interface. */

#include "lab_up.h"

#include <fcntl.h>
#include <net/if.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rng.h"
#include "os/netns.h"

#define ETHERNET_HEADER_BYTES 14
#define MTU_MIN               1500

#define INSIDE        "uplink" /* interface in the edge's namespace */
#define COMMAND_BYTES 320
/* A default route that Weft did not set takes precedence. */
#define DEFAULT_ROUTE "route replace default via %s dev %s metric 2000\n"

/* --- veth pairs of links --- */

/* Call before interfaces are created, because they inherit the setting. /proc/sys/net refers to the
 * network namespace of the thread. */
static int ipv6_off(void *ctx, struct error *error)
{
	int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return 0; /* a kernel without IPv6 */
	if (write(fd, "1", 1) != 1) {
		close(fd);
		return error_set(error, errno, "cannot turn off IPv6 on the lab's links: %s",
			strerror(errno));
	}
	close(fd);
	return 0;
}

static void write_commands(const struct lab_plan *plan, uint32_t frame_bytes, FILE *out)
{
	unsigned mtu = frame_bytes - ETHERNET_HEADER_BYTES;

	if (mtu < MTU_MIN)
		mtu = MTU_MIN;
	for (uint32_t i = 0; i < plan->topology->links; i++) {
		char a[16], b[16];

		if (plan->link[i].kind != LAB_LINK_VETH)
			continue;
		lab_plan_interface(i, 0, a);
		lab_plan_interface(i, 1, b);
		fprintf(out,
			"link add %s mtu %u type veth peer name %s mtu %u\n"
			"link set %s up\n"
			"link set %s up\n",
			a, mtu, b, mtu, a, b);
	}
}

/* iproute2 reads the commands from a pipe. */
static int run_ip(
	const char *netns, const struct lab_plan *plan, uint32_t frame_bytes, struct error *error)
{
	char command[160];
	FILE *ip;
	int status;

	snprintf(command, sizeof(command), "ip -n %s -batch - >/dev/null", netns);
	ip = popen(command, "we");
	if (ip == NULL)
		return error_set(error, errno, "cannot start ip: %s", strerror(errno));
	write_commands(plan, frame_bytes, ip);
	status = pclose(ip);
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(error, ENODEV,
			"%s: cannot create the links' veth pairs, which require iproute2 and a "
			"kernel with veth",
			netns);
	return 0;
}

int lab_veth_create(const struct lab_plan *plan, uint32_t frame_bytes, struct error *error)
{
	char netns[LAB_NAME_MAX + 8];
	int result;

	lab_plan_netns(plan, netns);
	result = netns_create(netns, error);
	if (result < 0)
		return result;
	result = netns_run(netns, ipv6_off, NULL, error);
	return result == 0 ? run_ip(netns, plan, frame_bytes, error) : result;
}

int lab_veth_remove(const char *netns, struct error *error)
{
	int result = netns_remove(netns, error);

	return result == -ENOENT ? 0 : result;
}

/* --- uplink --- */

/* Runs the command with this input. Returns 0 or -EIO. The command may end without reading its
 * input. */
static int __attribute__((format(printf, 2, 3))) run(const char *command, const char *format, ...)
{
	FILE *program = popen(command, "we");
	void (*before)(int);
	va_list arguments;
	int status;

	if (program == NULL)
		return -EIO;
	before = signal(SIGPIPE, SIG_IGN);
	va_start(arguments, format);
	vfprintf(program, format, arguments);
	va_end(arguments);
	status = pclose(program);
	signal(SIGPIPE, before);
	return status == 0 ? 0 : -EIO;
}

static void forwarding_path(const char *interface, char path[80])
{
	snprintf(path, 80, "/proc/sys/net/ipv4/conf/%s/forwarding", interface);
}

/* Enables forwarding in the network namespace of the thread. 'name' is the interface. */
static int forward(void *name, struct error *error)
{
	char path[80];
	int fd, result = 0;

	forwarding_path(name, path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		result = error_set(error, errno, "uplink: %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return result;
}

static bool forwards(const char *interface)
{
	char path[80], value = '0';
	int fd;

	forwarding_path(interface, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, &value, 1) != 1)
		value = '0';
	close(fd);
	return value == '1';
}

/* Returns the edge that has the uplink if its host is to be started, otherwise NULL. */
static const struct run_config_edge *edge_here(const struct lab_up *up)
{
	const struct run_config_edge *edge = lab_config_uplink_edge(up->lab.config);

	return edge != NULL && lab_up_wants_edge(up, edge) ? edge : NULL;
}

int lab_uplink_prepare(struct lab_up *up, struct error *error)
{
	const struct lab_config_uplink *uplink = &up->lab.config->uplink;
	const char *dir = up->lab.plan->run_dir;
	char path[80];

	if (edge_here(up) == NULL)
		return 0;
	if (if_nametoindex(uplink->nat) == 0)
		return run_config_refuse(&up->lab.config->run, &uplink->place, error,
			"uplink: no interface %s in this network namespace", uplink->nat);
	forwarding_path(uplink->nat, path);
	if (!forwards(uplink->nat))
		return error_set(error, ENODEV,
			"uplink: %s does not forward packets; enable it with 'echo 1 > %s'",
			uplink->nat, path);
	if (run("nft list tables ip >/dev/null 2>&1", "%s", "") < 0)
		return error_set(error, ENODEV,
			"uplink: 'nft list tables' failed; install nftables and use a kernel that supports it");
	snprintf(up->state.uplink, sizeof(up->state.uplink), "weft-%08x",
		(uint32_t)byte_hash(0, dir, strlen(dir)));
	return lab_state_save(&up->state, error);
}

int lab_uplink_remove(const char *name, struct error *error)
{
	char command[COMMAND_BYTES];

	if (name[0] == '\0')
		return 0;
	snprintf(command, sizeof(command), "ip link del %s 2>/dev/null", name);
	/* The interface also disappears with the edge's namespace. */
	if (if_nametoindex(name) != 0 && run(command, "%s", "") < 0 && if_nametoindex(name) != 0)
		return error_set(error, EIO, "uplink: cannot remove %s", name);
	/* The first line creates the table if it is missing, because deleting a missing table is an
	 * error. */
	if (run("nft -f -", "table ip %s\ndelete table ip %s\n", name, name) < 0)
		return error_set(error, EIO, "uplink: cannot remove nftables table %s", name);
	return 0;
}

/* Sets up the outer end, and the machine's forwarding rules. Only replies are let in. */
static int make_outside(
	const char *name, const char *netns, const char *nat, char inner[20], char outer[20])
{
	unsigned net;
	int result = run("ip -batch -", "link add %s type veth peer name " INSIDE " netns %s\n",
		name, netns);

	/* A network in 198.18.0.0/15, which is reserved for network tests; interface indexes are
	 * unique. */
	net = if_nametoindex(name) % 0x8000 * 4;
	snprintf(outer, 20, "198.%u.%u.%u", 18 + (net >> 16), net >> 8 & 255, (net & 255) + 1);
	snprintf(inner, 20, "198.%u.%u.%u", 18 + (net >> 16), net >> 8 & 255, (net & 255) + 2);
	if (result == 0)
		result = run("ip -batch -", "address add %s/30 dev %s\nlink set %s up\n", outer,
			name, name);
	if (result == 0)
		result = run("nft -f -",
			"table ip %s {\n"
			"chain postrouting { type nat hook postrouting priority srcnat;\n"
			"ip saddr %s oifname \"%s\" masquerade; }\n"
			"chain forward { type filter hook forward priority filter;\n"
			"iifname \"%s\" oifname != \"%s\" drop\n"
			"oifname \"%s\" ct state != { established, related } drop; }\n}\n",
			name, inner, nat, name, nat, name);
	return result;
}

static int make_inside(const struct run_config_edge *edge, const char *inner, const char *outer)
{
	char command[COMMAND_BYTES];
	int result;

	snprintf(command, sizeof(command), "ip -n %s -batch -", edge->netns);
	result = run(command,
		"address add %s/30 dev " INSIDE "\nlink set " INSIDE " up\n" DEFAULT_ROUTE, inner,
		outer, INSIDE);
	if (result < 0)
		return result;
	snprintf(command, sizeof(command), "ip netns exec %s nft -f -", edge->netns);
	return run(command, "table ip weft-" INSIDE "\ndelete table ip weft-" INSIDE "\n"
			    "table ip weft-" INSIDE " {\n"
			    "chain postrouting { type nat hook postrouting priority srcnat;\n"
			    "oifname \"" INSIDE "\" masquerade; }\n}\n");
}

static int make(const struct lab_up *up, const struct run_config_edge *edge, struct error *error)
{
	const char *name = up->state.uplink;
	char inner[20], outer[20], inside[] = INSIDE;
	int result = lab_uplink_remove(name, error);

	if (result < 0)
		return result;
	if (make_outside(name, edge->netns, up->lab.config->uplink.nat, inner, outer) < 0 ||
		make_inside(edge, inner, outer) < 0)
		return error_set(error, ENODEV,
			"uplink: cannot create %s (see above), which requires a kernel with veth "
			"and NAT in nftables",
			name);
	result = forward((void *)(uintptr_t)name, error);
	if (result == 0)
		result = netns_run(edge->netns, forward, inside, error);
	return result == 0 ? netns_run(edge->netns, forward, (void *)(uintptr_t)edge->tap, error)
			   : result;
}

/* Sets the default route through the fabric to the edge with the uplink. */
static int lead_there(const struct run_config_edge *edge, const struct run_config_edge *uplink,
	struct error *error)
{
	char command[COMMAND_BYTES], gateway[RUN_ADDRESS_MAX];

	snprintf(command, sizeof(command), "ip -n %s -batch -", edge->netns);
	snprintf(gateway, sizeof(gateway), "%.*s", (int)strcspn(uplink->address, "/"),
		uplink->address);
	if (run(command, DEFAULT_ROUTE, gateway, edge->tap) == 0)
		return 0;
	return error_set(error, ENODEV,
		"uplink: cannot set a default route for host %s (see above)", edge->host);
}

int lab_uplink_make(const struct lab_up *up, struct error *error)
{
	const struct run_config_edge_list *edges = &up->lab.config->run.edges;
	const struct run_config_edge *uplink = lab_config_uplink_edge(up->lab.config);
	int result = edge_here(up) != NULL ? make(up, uplink, error) : 0;

	for (uint32_t i = 0; uplink != NULL && i < edges->count && result == 0; i++) {
		const struct run_config_edge *edge = &edges->at[i];

		if (lab_up_wants_edge(up, edge) && edge->netns[0] != '\0' &&
			edge->address[0] != '\0' && strcmp(edge->netns, uplink->netns) != 0 &&
			run_config_networks_overlap(edge->address, uplink->address))
			result = lead_there(edge, uplink, error);
	}
	return result;
}
