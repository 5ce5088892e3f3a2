/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real/real_pools.h"

#include "poll/tx_queue.h"
#include "unit.h"
#include "wire/frame.h"

static struct real_pool_sizes sizes_of(unsigned nics, uint32_t mtu_bytes)
{
	const struct port_ethdev_config config = {.frame_bytes = frame_longest(mtu_bytes)};
	struct real_pool_request request = {
		.ends = nics, .mtu_bytes = mtu_bytes, .ethdevs = nics > 0};
	struct port_ethdev_needs needs;
	struct real_pool_sizes sizes;

	port_ethdev_needs_max("0000:3b:00.0", &config, &needs);
	for (unsigned i = 0; i < nics; i++)
		real_pool_add(&request, &needs);
	real_pool_sizes(&request, &sizes);
	return sizes;
}

/* A driver frees sent frames only when its ring, of at most 1,024, is nearly full. */
UNIT_TEST(control_frames_that_all_transmit_rings_keep_leave_some_for_others)
{
	for (unsigned nics = 1; nics <= 32; nics++)
		assert_true(sizes_of(nics, 4096).control_mbufs >= nics * 1024 + 1024);
}

UNIT_TEST(the_rings_of_all_nics_can_be_filled_beside_the_frames_of_the_buffers)
{
	for (unsigned nics = 1; nics <= 32; nics++)
		assert_true(sizes_of(nics, 4096).data_mbufs >=
			    nics * (2 * PORT_RX_DESCRIPTORS) + nics * 1024);
}

UNIT_TEST(a_frame_and_what_drivers_put_around_it_fit_whatever_the_driver_rounds_to)
{
	static const uint32_t mtus[] = {64, 512, 1024, 1500, 2048, 4096, 9000};

	for (unsigned i = 0; i < sizeof(mtus) / sizeof(mtus[0]); i++) {
		uint32_t room = sizes_of(4, mtus[i]).data_bytes, power = 1;

		while (2 * power <= room)
			power *= 2;
		assert_true(power >= frame_longest(mtus[i]) + 16);
		assert_true(room / 1024 * 1024 >= frame_longest(mtus[i]) + 16);
	}
}

/* virtio keeps its MTU of 1,500 if a smaller one is requested, and needs space for it. */
UNIT_TEST(short_frames_have_room_for_what_a_device_may_send_by_itself)
{
	assert_true(sizes_of(1, 64).data_bytes >= 1530);
}

UNIT_TEST(without_nics_buffers_are_as_long_as_frames)
{
	assert_int_equal(sizes_of(0, 4096).data_bytes, frame_room(4096));
}

UNIT_TEST(without_ethdevs_buffers_cost_nothing_before_they_are_used)
{
	assert_int_equal(sizes_of(0, 4096).socket, PORT_POOL_LAZY);
}

UNIT_TEST(without_ethdevs_eal_is_asked_for_no_buffers)
{
	const struct real_pool_request request = {.ends = 16, .mtu_bytes = 4096};
	struct real_pool_sizes sizes;

	real_pool_sizes(&request, &sizes);
	assert_in_range(real_pool_memory_mib(&request, &sizes), 48, 64);
}

UNIT_TEST(the_memory_of_four_nics_is_not_a_gibibyte)
{
	const struct real_pool_request request = {.ends = 4, .mtu_bytes = 1024};
	const struct real_pool_sizes sizes = sizes_of(4, 1024);
	unsigned mib = real_pool_memory_mib(&request, &sizes);

	assert_in_range(mib, 100, 320);
}

/* Two mbufs of 2 KiB do not fit into a page of 4 KiB, together with the data before their
 * frames. */
UNIT_TEST(memory_counts_what_pages_waste)
{
	const struct real_pool_request request = {.ends = 32, .mtu_bytes = 1400};
	const struct real_pool_sizes sizes = sizes_of(32, 1400);

	assert_int_equal(sizes.data_bytes, 2048);
	assert_true((uint64_t)real_pool_memory_mib(&request, &sizes) << 20 >
		    (uint64_t)sizes.data_mbufs * 4096);
}

/* Frames of one block that fill the default buffer of 128 KiB. */
UNIT_TEST(processes_with_few_ports_have_a_buffer_for_each_block_that_they_grant)
{
	for (unsigned ends = 1; ends <= 4; ends++) {
		const struct real_pool_request request = {.ends = ends, .mtu_bytes = 4096};
		struct real_pool_sizes sizes;

		real_pool_sizes(&request, &sizes);
		assert_true(sizes.data_mbufs >= ends * 2048);
	}
}

/* 'weft lab set' may give a long delay to all links that leave the process. */
UNIT_TEST(frames_that_are_held_back_take_none_of_the_others_away)
{
	for (unsigned ends = 1; ends <= 512; ends *= 2) {
		struct real_pool_request quick = {.ends = ends, .mtu_bytes = 4096}, slow = quick;
		struct real_pool_sizes min, sizes;

		slow.held = ends * DELAY_LINE_FRAMES;
		real_pool_sizes(&quick, &min);
		real_pool_sizes(&slow, &sizes);
		/* Few ports need less than the minimum of either pool. */
		if (ends >= 32) {
			assert_true(sizes.data_mbufs >= min.data_mbufs + ends * DELAY_LINE_FRAMES);
			assert_true(sizes.control_mbufs >=
				    min.control_mbufs + ends * DELAY_LINE_FRAMES);
		}
		assert_true(sizes.data_mbufs >= ends * DELAY_LINE_FRAMES + 64 * ends);
		assert_true(sizes.control_mbufs >= ends * DELAY_LINE_FRAMES + 64 * ends);
	}
}

/* Returns the node for ports on these sockets; -1: a virtual device. */
static int socket_of(int first, int second, int third)
{
	const int sockets[] = {first, second, third};
	struct real_pool_request request = {.ends = 3, .mtu_bytes = 1024, .ethdevs = true};
	struct port_ethdev_needs needs = {.received_mbufs = 1};
	struct real_pool_sizes sizes;

	for (unsigned i = 0; i < 3; i++) {
		needs.socket = sockets[i];
		real_pool_add(&request, &needs);
	}
	real_pool_sizes(&request, &sizes);
	return sizes.socket;
}

UNIT_TEST(the_buffers_are_in_the_memory_of_the_socket_that_all_nics_are_on)
{
	assert_int_equal(socket_of(1, 1, 1), 1);
	assert_int_equal(socket_of(0, 0, 0), 0);
	assert_int_equal(socket_of(-1, 1, -1), 1);
	/* There is no correct node, or none to choose. */
	assert_int_equal(socket_of(0, 1, 0), -1);
	assert_int_equal(socket_of(1, 0, 0), -1);
	assert_int_equal(socket_of(-1, -1, -1), -1);
}
