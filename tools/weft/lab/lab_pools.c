/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_pools.h"

#include <inttypes.h>

#include "lab_query.h"

static const struct {
	const char *counter;
	const char *what[2], *pool[2]; /* of a switch, of a host */
} known[] = {
	{"no_mbuf", {"no buffer for control frames", "no buffer to send from"},
		{"the pool of control frames", "a pool of its process"}},
	{"pool_empty", {"no buffer", "no buffer"},
		{"a pool of its process", "a pool of its process"}},
};

/* Counters of this device that are not zero; the first of all devices' is in 'what'. */
static unsigned judge_device(
	const char *device, const json_t *counters, bool host, char what[FAULT_TEXT])
{
	unsigned found = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		json_int_t times = json_integer_value(json_object_get(counters, known[i].counter));

		if (times == 0)
			continue;
		found++;
		if (what[0] != '\0')
			continue;
		snprintf(what, FAULT_TEXT, "%s: %s %" PRIu64 " times: %s is exhausted", device,
			known[i].what[host], (uint64_t)times, known[i].pool[host]);
	}
	return found;
}

int lab_pools_judge(json_t *devices, bool hosts, struct fault *fault)
{
	const char *device;
	json_t *counters;
	char what[FAULT_TEXT] = "";
	unsigned found = 0;

	json_object_foreach(devices, device, counters) found +=
		judge_device(device, counters, hosts, what);
	if (found == 0)
		return 0;
	if (found == 1)
		return fault_set(fault, ENOBUFS, "%s", what);
	return fault_set(fault, ENOBUFS, "%s, and so say %u more counters", what, found - 1);
}

/* Those of a switch are sums over its ports, which are asked only if there is something to say. */
static int ask(struct lab_connection *connection, struct fault *fault)
{
	json_t *switches = json_object(), *ports = json_object(), *hosts = json_object();
	int result = lab_ask_class(connection, "switch", switches, fault);

	if (result == 0)
		result = lab_ask_class(connection, "nic", hosts, fault);
	if (result == 0)
		result = lab_pools_judge(switches, false, fault);
	if (result == -ENOBUFS && lab_ask_class(connection, "port", ports, NULL) == 0)
		lab_pools_judge(ports, false, fault);
	if (result == 0)
		result = lab_pools_judge(hosts, true, fault);
	json_decref(switches);
	json_decref(ports);
	json_decref(hosts);
	return result;
}

int lab_pools_check(const struct lab_record *record, struct fault *fault)
{
	struct lab_connection connection;
	int result = lab_connect(&connection, record->prefix, fault);

	if (result < 0)
		return result;
	result = ask(&connection, fault);
	lab_disconnect(&connection);
	return result;
}
