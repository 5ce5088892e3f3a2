/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include "experiment/lab/lab_plan.h"
#include "wire/frame.h"

#define LONGEST (4096 + FRAME_HEADER_BYTES + FRAME_ROUTE_MAX)

static struct topology *network;
static struct error error;

/* rlft: 4 ports, 2 stages: hosts h0…h7, leaves s0…s3, roots s4 and s5. */
static void open_network(const char *spec)
{
	network = topology_generate(spec, &error);
	if (network == NULL)
		fail_msg("%s", error.text);
}

static struct lab_plan *plan_of(const char *spec, enum lab_link_kind kind,
	const struct lab_plan_group *group, unsigned groups)
{
	struct lab_plan_request request = {
		.lab = "demo",
		.run_dir = "/run/weft/demo",
		.kind = kind,
		.frame_bytes = frame_room(4096),
		.group = group,
		.groups = groups,
	};

	if (network == NULL)
		open_network(spec);
	request.topology = network;
	return lab_plan_create(&request, &error);
}

static int close_network(void **state)
{
	topology_destroy(network);
	network = NULL;
	return 0;
}

#define CLAIM(function) UNIT_WITH(function, NULL, close_network)

CLAIM(each_switch_has_a_process_and_the_hosts_share_one)
{
	OWNED(lab_plan) *plan = plan_of("rlft:ports=4,stages=2", LAB_LINK_MEMIF, NULL, 0);

	assert_non_null(plan);
	assert_int_equal(plan->processes, network->switches + 1);
	for (uint32_t i = 0; i < network->switches; i++)
		assert_int_equal(plan->switch_process[i], i);
	for (uint32_t i = 0; i < network->hosts; i++)
		assert_int_equal(plan->host_process[i], network->switches);
	assert_int_equal(plan->process[network->switches].role, LAB_ROLE_HOSTS);
	assert_string_equal(plan->process[network->switches].prefix, "weft-demo-h0");
}

CLAIM(more_hosts_than_ports_are_split_by_leaf_switch)
{
	OWNED(lab_plan) *plan = plan_of("rlft:ports=12,stages=2", LAB_LINK_MEMIF, NULL, 0);

	assert_non_null(plan);
	assert_true(network->hosts > LAB_PORTS_MAX);
	for (uint32_t i = 0; i < network->hosts; i++) {
		const struct topology_port at = {DEVICE_HOST, i, 0};
		struct topology_port leaf;

		assert_true(topology_peer(network, at, &leaf));
		assert_int_equal(plan->host_process[i], network->switches + leaf.device);
	}
}

CLAIM(a_link_between_processes_has_one_server_and_one_client)
{
	OWNED(lab_plan) *plan = plan_of("rlft:ports=4,stages=2", LAB_LINK_MEMIF, NULL, 0);

	assert_non_null(plan);
	for (uint32_t i = 0; i < network->links; i++) {
		const struct lab_plan_link *link = &plan->link[i];
		unsigned server = strstr(link->device[0], "role=server") != NULL ? 0 : 1;

		assert_int_equal(link->kind, LAB_LINK_MEMIF);
		assert_non_null(strstr(link->device[server], "role=server"));
		assert_non_null(strstr(link->device[!server], "role=client"));
		/* The rule that prevents processes from waiting for each other in a cycle. */
		assert_true(link->process[server] < link->process[!server]);
		assert_non_null(strstr(link->device[0], "bsize=4238"));
	}
}

CLAIM(ends_of_a_shared_link_are_those_of_one_file)
{
	OWNED(lab_plan) *plan = plan_of("rlft:ports=4,stages=2", LAB_LINK_SHARED, NULL, 0);

	assert_non_null(plan);
	for (uint32_t i = 0; i < network->links; i++) {
		const char *a = plan->link[i].device[0], *b = plan->link[i].device[1];
		size_t length = strlen(a) - 1;

		assert_int_equal(plan->link[i].kind, LAB_LINK_SHARED);
		assert_int_equal(strlen(b) - 1, length);
		assert_memory_equal(a, b, length);
		assert_int_equal(a[length] + b[length], '0' + '1');
		for (uint32_t other = 0; other < i; other++)
			assert_string_not_equal(plan->link[other].device[0], a);
	}
}

CLAIM(links_inside_a_process_need_no_port)
{
	const uint32_t all[] = {0, 1, 2, 3, 4, 5};
	const struct lab_plan_group group = {.name = "all", .switches = all, .switch_count = 6};
	OWNED(lab_plan) *plan = plan_of("rlft:ports=4,stages=2", LAB_LINK_MEMIF, &group, 1);

	assert_non_null(plan);
	assert_int_equal(plan->processes, 2);
	assert_int_equal(plan->process[0].ethdevs, network->hosts);
	for (uint32_t i = 0; i < network->links; i++)
		assert_int_equal(plan->link[i].kind == LAB_LINK_MEMORY,
			network->link_at[i].a.kind == DEVICE_SWITCH &&
				network->link_at[i].b.kind == DEVICE_SWITCH);
}

CLAIM(more_than_32_ports_in_a_process_are_refused)
{
	uint32_t hosts[40];
	struct lab_plan_group group = {.name = "hosts", .hosts = hosts, .host_count = 40};

	for (uint32_t i = 0; i < 40; i++)
		hosts[i] = i;
	assert_null(plan_of("rlft:ports=12,stages=2", LAB_LINK_MEMIF, &group, 1));
	assert_non_null(strstr(error.text, "has 40 links to other processes"));
}

CLAIM(shared_and_veth_links_are_no_ports_of_dpdk)
{
	const enum lab_link_kind kind[] = {LAB_LINK_SHARED, LAB_LINK_VETH};
	struct lab_plan_group group = {.name = "hosts", .host_count = 40};
	uint32_t hosts[40];

	for (uint32_t i = 0; i < 40; i++)
		hosts[i] = i;
	group.hosts = hosts;
	for (unsigned i = 0; i < 2; i++) {
		OWNED(lab_plan) *plan = plan_of("rlft:ports=12,stages=2", kind[i], &group, 1);

		assert_non_null(plan);
		assert_int_equal(plan->process[0].ports, 40);
		assert_int_equal(plan->process[0].ethdevs, 0);
	}
}

CLAIM(a_device_in_two_processes_is_refused)
{
	const uint32_t first[] = {0, 1}, second[] = {1, 2};
	const struct lab_plan_group groups[] = {
		{.name = "left", .switches = first, .switch_count = 2},
		{.name = "right", .switches = second, .switch_count = 2},
	};

	assert_null(plan_of("rlft:ports=4,stages=2", LAB_LINK_MEMIF, groups, 2));
	assert_non_null(strstr(error.text, "group 'right': s1 is already in another group"));
}

CLAIM(switches_and_hosts_in_one_process_are_refused)
{
	const uint32_t zero[] = {0};
	const struct lab_plan_group group = {.name = "both",
		.switches = zero,
		.switch_count = 1,
		.hosts = zero,
		.host_count = 1};

	assert_null(plan_of("rlft:ports=4,stages=2", LAB_LINK_MEMIF, &group, 1));
	assert_non_null(strstr(error.text, "only switches or only hosts"));
}

CLAIM(ends_of_a_veth_pair_are_interfaces)
{
	OWNED(lab_plan) *plan = plan_of("rlft:ports=4,stages=2", LAB_LINK_VETH, NULL, 0);

	assert_non_null(plan);
	assert_true(plan->veth);
	assert_string_equal(plan->link[3].device[0], "net_af_packet3,iface=wl3a");
	assert_string_equal(plan->link[3].device[1], "net_af_packet3,iface=wl3b");
}

static void bind(uint32_t link, bool side_b, const char *dpdk)
{
	struct topology_binding *more = realloc(
		network->binding_at, (network->bindings + 1) * sizeof(*network->binding_at));

	assert_non_null(more);
	network->binding_at = more;
	memset(&more[network->bindings], 0, sizeof(*more));
	more[network->bindings].port = side_b ? network->link_at[link].b : network->link_at[link].a;
	snprintf(more[network->bindings++].dpdk, sizeof(more->dpdk), "%s", dpdk);
}

CLAIM(bound_ports_are_used_as_the_file_names_them)
{
	OWNED(lab_plan) *plan;

	open_network("rlft:ports=4,stages=2");
	bind(0, false, "0000:3b:00.0");
	bind(0, true, "0000:3b:00.1");
	plan = plan_of(NULL, LAB_LINK_MEMIF, NULL, 0);
	assert_non_null(plan);
	assert_int_equal(plan->link[0].kind, LAB_LINK_BOUND);
	assert_string_equal(plan->link[0].device[0], "0000:3b:00.0");
	assert_string_equal(plan->link[0].device[1], "0000:3b:00.1");
}

CLAIM(a_link_with_one_bound_end_is_refused)
{
	open_network("rlft:ports=4,stages=2");
	bind(0, true, "0000:3b:00.1");
	assert_null(plan_of(NULL, LAB_LINK_MEMIF, NULL, 0));
	assert_non_null(strstr(error.text, "both ends must have one, or neither"));
}

CLAIM(real_links_need_devices)
{
	assert_null(plan_of("rlft:ports=4,stages=2", LAB_LINK_BOUND, NULL, 0));
	assert_non_null(strstr(error.text, "have none"));
}

CLAIM(names_that_cannot_be_file_names_are_refused)
{
	static const char *const names[] = {"a/b", "a.console", "a.files", ".a", ""};
	struct lab_plan_request request = {.run_dir = "/run/weft/x"};

	open_network("rlft:ports=4,stages=2");
	request.topology = network;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char expected[40];

		request.lab = names[i];
		assert_null(lab_plan_create(&request, &error));
		snprintf(expected, sizeof(expected), "lab name '%s'", names[i]);
		assert_non_null(strstr(error.text, expected));
	}
}
