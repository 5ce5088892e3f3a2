/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_lab.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab_spawn.h"
#include "netns.h"

#define ETHERNET_HEADER_BYTES 14
#define MTU_MIN               1500

/* Set before there are interfaces, so that they inherit it. /proc/sys/net is that of the thread. */
static int ipv6_off(void *ctx, struct fault *fault)
{
	int fd = open("/proc/sys/net/ipv6/conf/default/disable_ipv6", O_WRONLY | O_CLOEXEC);

	(void)ctx;
	if (fd < 0)
		return 0; /* a kernel without IPv6 */
	if (write(fd, "1", 1) != 1) {
		close(fd);
		return fault_set(fault, errno, "IPv6 of the lab's links cannot be turned off: %s",
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
			"link add %s index %u mtu %u type veth peer name %s index %u mtu %u\n"
			"link set %s up\n"
			"link set %s up\n",
			a, lab_fanout_index(plan, i, 0), mtu, b, lab_fanout_index(plan, i, 1), mtu,
			a, b);
	}
}

/* iproute2 reads the commands from our pipe. */
static int run_ip(
	const char *netns, const struct lab_plan *plan, uint32_t frame_bytes, struct fault *fault)
{
	char command[160];
	FILE *ip;
	int status;

	snprintf(command, sizeof(command), "ip -n %s -batch - >/dev/null", netns);
	ip = popen(command, "we");
	if (ip == NULL)
		return fault_set(fault, errno, "ip: cannot be started: %s", strerror(errno));
	write_commands(plan, frame_bytes, ip);
	status = pclose(ip);
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return fault_set(fault, ENODEV,
			"%s: the links' veth pairs cannot be made; expected iproute2 and a kernel "
			"with veth",
			netns);
	return 0;
}

int lab_veth_create(const struct lab_plan *plan, uint32_t frame_bytes, struct fault *fault)
{
	char netns[LAB_NAME_MAX + 8];
	int result;

	lab_plan_netns(plan, netns);
	result = netns_create(netns, fault);
	if (result < 0)
		return result;
	result = netns_run(netns, ipv6_off, NULL, fault);
	return result == 0 ? run_ip(netns, plan, frame_bytes, fault) : result;
}

int lab_veth_remove(const char *netns, struct fault *fault)
{
	int result = netns_remove(netns, fault);

	return result == -ENOENT ? 0 : result;
}
