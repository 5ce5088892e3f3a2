/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Plans the links of a lab: memory, shared memory, memif, veth pairs or real ports. */

#include <string.h>

#include "lab_plan.h"
#include "os/private_dir.h"

/* log2 of the number of slots in a memif ring; holds all frames for which one end has credits. */
#define MEMIF_RING_LOG2 11
#define SOCKET_PATH_MAX 108 /* size of sun_path in sockaddr_un */

void lab_plan_netns(const struct lab_plan *plan, char out[LAB_NAME_MAX + 8])
{
	snprintf(out, LAB_NAME_MAX + 8, "weft-%s", plan->lab);
}

void lab_plan_interface(uint32_t link, unsigned side, char out[16])
{
	snprintf(out, 16, "wl%u%c", link, side == 0 ? 'a' : 'b');
}

void lab_plan_socket(const struct lab_plan *plan, uint32_t link, char *out, size_t size)
{
	snprintf(out, size, "%s/l%u.sock", plan->run_dir, link);
}

static uint16_t process_of(const struct lab_plan *plan, const struct topology_port *port)
{
	return port->kind == DEVICE_SWITCH ? plan->switch_process[port->device]
					   : plan->host_process[port->device];
}

static const struct topology_binding *binding_of(
	const struct topology *topology, const struct topology_port *port)
{
	for (uint32_t i = 0; i < topology->bindings; i++) {
		const struct topology_port *at = &topology->binding_at[i].port;

		if (at->kind == port->kind && at->device == port->device && at->port == port->port)
			return &topology->binding_at[i];
	}
	return NULL;
}

static void name_place(const struct topology_port *at, char name[24])
{
	snprintf(name, 24, "%c%u.%u", at->kind == DEVICE_SWITCH ? 's' : 'h', at->device, at->port);
}

/* The file is named after both ends, in a fixed order, so that a remaining cable keeps its file
 * when other links are added or removed. */
static void plan_shared(struct lab_plan *plan, uint32_t at)
{
	char place[2][24];
	unsigned first;

	name_place(&plan->topology->link_at[at].a, place[0]);
	name_place(&plan->topology->link_at[at].b, place[1]);
	first = strcmp(place[0], place[1]) > 0;
	for (unsigned side = 0; side < 2; side++)
		snprintf(plan->link[at].device[side], LAB_DEVICE_MAX,
			"shared:%s/" MEMORY_DIR "/l-%s-%s.ring:%u", plan->run_dir, place[first],
			place[1 - first], side ^ first);
}

static int plan_memif(struct lab_plan *plan, const struct lab_plan_request *request, uint32_t at,
	struct error *error)
{
	struct lab_plan_link *link = &plan->link[at];
	unsigned server = link->process[0] < link->process[1] ? 0 : 1;
	char path[256];

	lab_plan_socket(plan, at, path, sizeof(path));
	if (strlen(path) >= SOCKET_PATH_MAX || strchr(path, ',') != NULL)
		return error_set(error, EINVAL,
			"run directory %s: use a shorter path without ',', because it contains "
			"sockets",
			plan->run_dir);
	/* Slots have the size of mbufs: each frame takes one slot, and the driver uses its fast
	 * path. */
	for (unsigned side = 0; side < 2; side++)
		snprintf(link->device[side], LAB_DEVICE_MAX,
			"net_memif%u,id=%u,role=%s,socket=%s,socket-abstract=no,rsize=%u,bsize=%u",
			at, at, side == server ? "server" : "client", path, MEMIF_RING_LOG2,
			request->frame_bytes);
	return 0;
}

static void plan_veth(struct lab_plan *plan, uint32_t at)
{
	char interface[16];

	for (unsigned side = 0; side < 2; side++) {
		lab_plan_interface(at, side, interface);
		snprintf(plan->link[at].device[side], LAB_DEVICE_MAX,
			LAB_PACKET_DEVICE "%u,iface=%s", at, interface);
	}
	plan->veth = true;
}

static int plan_bound(struct lab_plan *plan, uint32_t at,
	const struct topology_binding *const bound[2], struct error *error)
{
	const struct topology *topology = plan->topology;
	struct lab_plan_link *link = &plan->link[at];
	const struct topology_link *cable = &topology->link_at[at];
	char name[2][TOPOLOGY_NAME_MAX + 8];

	topology_port_name(topology, cable->a, name[0], sizeof(name[0]));
	topology_port_name(topology, cable->b, name[1], sizeof(name[1]));
	if (bound[0] == NULL || bound[1] == NULL)
		return error_set(error, EINVAL,
			"%s has a device in 'ports' but %s, at the other end of its link, has "
			"none; both ends must have one, or neither",
			name[bound[0] == NULL], name[bound[0] != NULL]);
	if (link->process[0] == link->process[1])
		return error_set(error, EINVAL,
			"%s and %s have devices in 'ports' but are in the same process, which would link them in memory; put them in separate processes",
			name[0], name[1]);
	for (unsigned side = 0; side < 2; side++) {
		snprintf(link->device[side], LAB_DEVICE_MAX, "%s", bound[side]->dpdk);
		link->vlan[side] = bound[side]->vlan;
	}
	link->kind = LAB_LINK_BOUND;
	return 0;
}

static int refuse_unbound(
	const struct lab_plan *plan, const struct topology_link *cable, struct error *error)
{
	char a[TOPOLOGY_NAME_MAX + 8], b[TOPOLOGY_NAME_MAX + 8];

	topology_port_name(plan->topology, cable->a, a, sizeof(a));
	topology_port_name(plan->topology, cable->b, b, sizeof(b));
	return error_set(error, EINVAL,
		"links: real requires devices in the topology's 'ports', but %s and %s have none",
		a, b);
}

static int plan_link(struct lab_plan *plan, const struct lab_plan_request *request, uint32_t at,
	struct error *error)
{
	const struct topology_link *cable = &plan->topology->link_at[at];
	struct lab_plan_link *link = &plan->link[at];
	const struct topology_binding *const bound[2] = {
		binding_of(plan->topology, &cable->a), binding_of(plan->topology, &cable->b)};

	link->process[0] = process_of(plan, &cable->a);
	link->process[1] = process_of(plan, &cable->b);
	if (bound[0] != NULL || bound[1] != NULL)
		return plan_bound(plan, at, bound, error);
	if (link->process[0] != link->process[1])
		link->kind = request->kind;
	if (link->kind == LAB_LINK_MEMIF)
		return plan_memif(plan, request, at, error);
	if (link->kind == LAB_LINK_SHARED || link->kind == LAB_LINK_MEMORY)
		plan_shared(plan, at);
	else if (link->kind == LAB_LINK_VETH)
		plan_veth(plan, at);
	else
		return refuse_unbound(plan, cable, error);
	return 0;
}

/* Weft itself implements all other ports. */
static bool is_ethdev(const char *device)
{
	return strncmp(device, "shared:", 7) != 0 && strncmp(device, "udp:", 4) != 0 &&
	       strncmp(device, LAB_PACKET_DEVICE, strlen(LAB_PACKET_DEVICE)) != 0;
}

static int check_ports(const struct lab_plan *plan, struct error *error)
{
	for (unsigned i = 0; i < plan->processes; i++)
		if (plan->process[i].ethdevs > LAB_PORTS_MAX)
			return error_set(error, EINVAL,
				"%s's process has %u links to other processes, but DPDK allows "
				"%d ports; group it with its neighbours in 'groups', or use "
				"'links: shared'",
				plan->process[i].name, plan->process[i].ethdevs, LAB_PORTS_MAX);
	return 0;
}

int lab_plan_links(
	struct lab_plan *plan, const struct lab_plan_request *request, struct error *error)
{
	int result = 0;

	for (uint32_t i = 0; i < plan->topology->links && result == 0; i++) {
		const struct lab_plan_link *link = &plan->link[i];

		result = plan_link(plan, request, i, error);
		for (unsigned side = 0; side < 2 && link->kind != LAB_LINK_MEMORY; side++) {
			struct lab_plan_process *process = &plan->process[link->process[side]];

			process->ports++;
			process->ethdevs += is_ethdev(link->device[side]);
		}
	}
	return result == 0 ? check_ports(plan, error) : result;
}
