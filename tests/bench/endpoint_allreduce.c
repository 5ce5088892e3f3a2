/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Allreduces over endpoints, for tests/bench/allreduce: rank i is an endpoint of host h<i>. All
 * ranks belong to this process, so the machine needs no memory for a process each. Binomial trees
 * up and down, level by level; every sum is checked. Prints "done N" while it runs, and the wrong
 * sums.
 *
 * usage: endpoint_allreduce RANKS COUNT, with WEFT_LAB set */

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft_client.h>

#define RANKS_MAX 256
#define VALUES    1024

static struct rank {
	struct weft *weft;
	struct weft_address address;
	double value[VALUES], got[VALUES];
} rank[RANKS_MAX];

static unsigned ranks;

static void fail(const char *what, int error)
{
	printf("%s: %s\n", what, strerrorname_np(-error));
	exit(1);
}

static void wait_for(unsigned events)
{
	struct weft_event event;

	while (events > 0) {
		for (unsigned i = 0; i < ranks; i++)
			while (weft_poll(rank[i].weft, &event, 1) > 0) {
				if (event.error != 0)
					fail("message", event.error);
				events--;
			}
		sched_yield();
	}
}

/* The messages of one level of the tree. */
static void exchange(unsigned mask, bool up, uint64_t tag)
{
	unsigned messages = 0;

	for (unsigned i = 0; i + mask < ranks; i += 2 * mask) {
		struct rank *from = &rank[up ? i + mask : i], *to = &rank[up ? i : i + mask];
		int result = weft_recv(
			to->weft, &from->address, tag, UINT64_MAX, to->got, sizeof(to->got), NULL);

		if (result == 0)
			result = weft_send(from->weft, &to->address, tag, from->value,
				sizeof(from->value), NULL);
		if (result < 0)
			fail("post", result);
		messages++;
	}
	wait_for(2 * messages);
	for (unsigned i = 0; i + mask < ranks; i += 2 * mask)
		for (unsigned k = 0; k < VALUES; k++)
			if (up)
				rank[i].value[k] += rank[i].got[k];
			else
				rank[i + mask].value[k] = rank[i + mask].got[k];
}

static unsigned allreduce(unsigned number)
{
	unsigned mask = 1, wrong = 0;

	for (unsigned i = 0; i < ranks; i++)
		for (unsigned k = 0; k < VALUES; k++)
			rank[i].value[k] = i + (number + k) % 1000;
	for (; mask < ranks; mask *= 2)
		exchange(mask, true, number);
	while ((mask /= 2) > 0)
		exchange(mask, false, number);
	for (unsigned i = 0; i < ranks; i++)
		for (unsigned k = 0; k < VALUES; k++)
			wrong += rank[i].value[k] !=
				 ranks * (ranks - 1) / 2.0 + ranks * ((number + k) % 1000);
	return wrong;
}

int main(int argc, char **argv)
{
	unsigned count = argc == 3 ? (unsigned)atoi(argv[2]) : 0, wrong = 0;

	ranks = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
	if (count == 0 || ranks == 0 || ranks > RANKS_MAX) {
		fprintf(stderr, "usage: endpoint_allreduce RANKS COUNT\n");
		return 2;
	}
	for (unsigned i = 0; i < ranks; i++) {
		char host[16];
		int result;

		snprintf(host, sizeof(host), "h%u", i);
		result = weft_open(host, &rank[i].weft);
		if (result < 0)
			fail(host, result);
		rank[i].address = weft_address(rank[i].weft);
	}
	for (unsigned i = 1; i <= count; i++) {
		wrong += allreduce(i);
		if (i % 10 == 0) {
			printf("done %u\n", i);
			fflush(stdout);
		}
	}
	for (unsigned i = 0; i < ranks; i++)
		weft_close(rank[i].weft);
	printf("wrong %u\n", wrong);
	return wrong != 0;
}
