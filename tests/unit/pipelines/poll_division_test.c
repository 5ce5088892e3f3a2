/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The assignment of ports to cores. */

#include "poll/poll_division.h"
#include "unit.h"

static void expect(const int *port_socket, unsigned ports, const int *part_socket, unsigned parts,
	const uint8_t *expected)
{
	uint8_t owner[SWITCH_PORTS_MAX];

	poll_division_deal(owner, port_socket, ports, part_socket, parts);
	for (unsigned port = 0; port < ports; port++)
		assert_int_equal(owner[port], expected[port]);
}

UNIT_TEST(ports_are_dealt_out_in_turn)
{
	static const int unknown[5] = {-1, -1, -1, -1, -1}, same[2] = {0, 0};

	expect(unknown, 5, same, 2, (const uint8_t[]){0, 1, 0, 1, 0});
	expect(unknown, 5, unknown, 3, (const uint8_t[]){0, 1, 2, 0, 1});
}

UNIT_TEST(a_port_goes_to_a_core_of_its_socket)
{
	static const int port[6] = {1, 1, 0, 0, 1, -1}, part[3] = {0, 1, 1};

	expect(port, 6, part, 3, (const uint8_t[]){1, 2, 0, 0, 1, 2});
}

UNIT_TEST(a_port_of_a_socket_without_a_core_goes_anywhere)
{
	static const int port[4] = {3, 3, 3, 3}, part[2] = {0, 1};

	expect(port, 4, part, 2, (const uint8_t[]){0, 1, 0, 1});
}

UNIT_TEST(no_core_stays_without_a_port)
{
	static const int port[4] = {0, 0, 0, 0}, part[3] = {0, 1, 1};

	expect(port, 4, part, 3, (const uint8_t[]){0, 0, 2, 1});
}
