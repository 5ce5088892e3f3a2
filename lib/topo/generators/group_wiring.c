/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "group_wiring.h"

#include <inttypes.h>

enum { PALMTREE, ABSOLUTE, CIRCULANT };

const char *const group_wirings[] = {
	[PALMTREE] = "palmtree", [ABSOLUTE] = "absolute", [CIRCULANT] = "circulant", NULL};

int group_wiring_init(struct group_wiring *wiring, const struct generator_request *request,
	const struct generator_value *values)
{
	uint64_t ports = (uint64_t)(wiring->switches - wiring->first_switch) * wiring->each;
	uint64_t groups = values[0].number, parallel = values[1].number;

	if (parallel != 0 && groups == 0)
		return error_set(request->error, EINVAL,
			"%s: parallel requires g, the number of groups", request->spec);
	parallel = parallel == 0 ? 1 : parallel;
	groups = groups == 0 ? ports + 1 : groups;
	if ((groups - 1) * parallel > ports)
		return error_set(request->error, EINVAL,
			"%s: %" PRIu64 " groups with %" PRIu64 " links per pair need %" PRIu64
			" links per group, at most %" PRIu64,
			request->spec, groups, parallel, (groups - 1) * parallel, ports);
	wiring->groups = (uint32_t)groups;
	wiring->ports = (uint32_t)ports;
	wiring->links = (uint32_t)((groups - 1) * parallel);
	wiring->wiring = (unsigned)values[2].number;
	return 0;
}

/* The group to which link k of a round leads. */
static uint32_t far_group(const struct group_wiring *wiring, uint32_t group, uint32_t k)
{
	uint32_t step = wiring->wiring == CIRCULANT ? k / 2 + 1 : k + 1;

	if (wiring->wiring == ABSOLUTE)
		return k < group ? k : k + 1;
	if (wiring->wiring == CIRCULANT && k % 2 != 0)
		step = wiring->groups - step;
	return (group + step) % wiring->groups;
}

/* The number of that link in the round of the group at its far end. */
static uint32_t far_number(
	const struct group_wiring *wiring, uint32_t group, uint32_t other, uint32_t k)
{
	uint32_t last = wiring->groups - 2;

	if (wiring->wiring == PALMTREE)
		return last - k;
	if (wiring->wiring == ABSOLUTE)
		return group < other ? group : group - 1;
	return k == last && k % 2 == 0 ? k : k ^ 1; /* halfway around: the same from both ends */
}

static struct topology_port port_of(const struct group_wiring *wiring, uint32_t group, uint32_t k)
{
	uint32_t place = (uint32_t)((uint64_t)k * wiring->ports / wiring->links);

	return (struct topology_port){DEVICE_SWITCH,
		group * wiring->switches + wiring->first_switch + place / wiring->each,
		(uint8_t)(wiring->first_port + place % wiring->each)};
}

int group_wiring_link(const struct group_wiring *wiring, const struct generator_request *request,
	struct topology *topology)
{
	uint32_t round = wiring->groups - 1;
	int result = 0;

	for (uint32_t group = 0; group < wiring->groups; group++)
		for (uint32_t k = 0; k < wiring->links && result == 0; k++) {
			uint32_t other = far_group(wiring, group, k % round);
			uint32_t back = far_number(wiring, group, other, k % round);
			struct topology_port a = port_of(wiring, group, k);
			struct topology_port b = port_of(wiring, other, k - k % round + back);

			if (group < other)
				result = generator_link_switches(
					request, topology, a.device, a.port, b.device, b.port);
		}
	return result;
}
