/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The port layer over NICs that behave like PCI drivers (fake_nic.h). */

#include "awkward_ports.h"

static struct rte_mempool *unused;

static void passes(const char *arguments, unsigned mtu)
{
	awkward_open(arguments, mtu);
	awkward_pass();
	awkward_close();
}

/* The message is one line, and contains the port and this text. */
static void refused(const char *arguments, unsigned mtu, const char *part)
{
	assert_true(awkward_try(arguments, mtu) < 0);
	assert_ptr_equal(strstr(pair.error.text, "s0:0: " AWKWARD_A), pair.error.text);
	assert_null(strchr(pair.error.text, '\n'));
	if (strstr(pair.error.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", pair.error.text, part);
}

/* --- segments --- */

AWKWARD_TEST(frames_pass_a_nic_without_habits)
{
	passes("", 4096);
}

AWKWARD_TEST(frames_of_4174_bytes_pass_buffers_rounded_down_to_4096)
{
	passes("round=pow2,scatter=always", 4096);
}

AWKWARD_TEST(frames_pass_buffers_rounded_down_to_kibibytes)
{
	passes("round=1024", 4096);
	passes("round=1024", 1500);
}

AWKWARD_TEST(frames_pass_buffers_rounded_down_to_128_bytes)
{
	passes("round=128", 4096);
	passes("round=128", 1024);
}

AWKWARD_TEST(frames_in_two_segments_become_one)
{
	passes("split=2", 4096);
}

AWKWARD_TEST(frames_in_three_segments_become_one)
{
	passes("split=3", 4096);
	passes("split=3", 512);
}

AWKWARD_TEST(frames_pass_a_nic_that_cannot_send_chains)
{
	passes("round=pow2,scatter=always,no_multi=1", 4096);
}

AWKWARD_TEST(a_frame_in_segments_is_one_to_the_losses_too)
{
	struct port_losses losses;

	awkward_open("split=3", 4096);
	awkward_pass();
	port_losses_read(&pair.b, &losses);
	assert_int_equal(losses.rx_segmented, 0);
	awkward_close();
}

/* --- room and limits --- */

AWKWARD_TEST(a_driver_that_wants_16_bytes_more_room_opens)
{
	passes("room=16,no_scatter=1", 4096);
}

AWKWARD_TEST(a_driver_that_wants_1530_bytes_opens_with_a_small_mtu_too)
{
	passes("room=16,no_scatter=1", 1024);
	passes("room=16,no_scatter=1", 512);
}

AWKWARD_TEST(a_driver_that_wants_64_bytes_more_room_opens)
{
	passes("room=64,no_scatter=1", 2048);
}

AWKWARD_TEST(an_mtu_limit_of_1500_refuses_4_kib_and_says_what_fits)
{
	refused("max_mtu=1500", 4096, "nic.mtu of ");
}

AWKWARD_TEST(what_is_said_to_fit_does_and_no_more)
{
	const char *said;
	unsigned mtu;

	assert_true(awkward_try("max_mtu=1500", 4096) < 0);
	said = strstr(pair.error.text, "nic.mtu of ");
	if (said == NULL)
		fail_msg("'%s' does not say 'nic.mtu of '", pair.error.text);
	mtu = (unsigned)strtoul(said + strlen("nic.mtu of "), NULL, 10);
	passes("max_mtu=1500", mtu);
	assert_true(awkward_try("max_mtu=1500", mtu + 1) < 0);
}

AWKWARD_TEST(the_overhead_of_a_nic_is_its_own)
{
	passes("max_frame=9728,overhead=26", 9000);
	passes("max_mtu=4160", 4096); /* 4,174 with the header */
}

AWKWARD_TEST(a_least_mtu_does_not_matter)
{
	passes("min_mtu=1280", 512);
	passes("min_mtu=2000", 1024);
}

AWKWARD_TEST(limits_of_the_rings_are_kept)
{
	awkward_open("descriptors=64:128:32", 4096);
	assert_int_equal(pair.a.slots, 128);
	awkward_pass();
	awkward_close();
	passes("descriptors=1024:4096:64", 1024);
}

AWKWARD_TEST(a_nic_without_promiscuity_opens)
{
	passes("promisc=unsupported", 1024);
}

/* --- matrix --- */

/* The NIC passes frames, or is refused in one line that names an MTU with which it passes
 * frames. */
static void check_mtu(const char *arguments, unsigned mtu)
{
	const char *said;

	if (awkward_try(arguments, mtu) == 0) {
		awkward_pass();
		awkward_close();
		return;
	}
	assert_null(strchr(pair.error.text, '\n'));
	said = strstr(pair.error.text, "nic.mtu of ");
	if (said == NULL)
		fail_msg("nic.mtu %u: '%s' does not say what fits", mtu, pair.error.text);
	passes(arguments, (unsigned)strtoul(said + strlen("nic.mtu of "), NULL, 10));
}

static void check_mtus(const char *arguments)
{
	static const unsigned mtus[] = {512, 1024, 1500, 2048, 4096, 9000};

	for (unsigned i = 0; i < RTE_DIM(mtus); i++)
		check_mtu(arguments, mtus[i]);
}

/* It gets larger buffers, or less is requested from it. Frames never disappear. */
AWKWARD_TEST(frames_pass_rounded_buffers_of_a_nic_that_cannot_scatter_or_it_is_refused)
{
	check_mtu("round=1024,no_scatter=1", 4096);
	check_mtu("round=pow2,no_scatter=1", 1500);
}

AWKWARD_TEST(any_mtu_passes_e1000e_or_is_refused)
{
	check_mtus("round=pow2,scatter=always,keep=4096,max_mtu=9216");
}

AWKWARD_TEST(any_mtu_passes_igb_or_is_refused)
{
	check_mtus("round=1024,keep=4096,max_frame=16383");
}

AWKWARD_TEST(any_mtu_passes_ixgbe_or_is_refused)
{
	check_mtus("round=1024,keep=4096,max_frame=15872");
}

AWKWARD_TEST(any_mtu_passes_i40e_or_is_refused)
{
	check_mtus("round=128,keep=4096,max_frame=9728,overhead=26,no_scatter=1");
}

AWKWARD_TEST(any_mtu_passes_vmxnet3_or_is_refused)
{
	check_mtus("split=2,keep=4096,max_mtu=9000,descriptors=128:4096:32");
}

AWKWARD_TEST(any_mtu_passes_virtio_or_is_refused)
{
	check_mtus("room=16,no_scatter=1,no_multi=1,max_mtu=9698,descriptors=32:32768:1");
}

AWKWARD_TEST(any_mtu_passes_a_nic_of_1500_or_is_refused)
{
	check_mtus("max_mtu=1500,no_scatter=1");
}

/* --- words --- */

AWKWARD_TEST(the_driver_s_words_are_in_the_message_when_it_is_not_configured)
{
	refused("fail=configure", 1024, "because of the moon");
}

AWKWARD_TEST(the_driver_s_words_are_in_the_message_when_it_refuses_its_receive_queue)
{
	refused("fail=rxq", 1024, "because of the moon");
}

AWKWARD_TEST(the_driver_s_words_are_in_the_message_when_it_refuses_its_send_queue)
{
	refused("fail=txq,error=12", 1024, "because of the moon");
}

AWKWARD_TEST(the_driver_s_words_are_in_the_message_when_it_does_not_start)
{
	refused("fail=start,error=1", 1024, "because of the moon");
}

AWKWARD_TEST(the_driver_s_words_are_in_the_message_when_it_is_not_there)
{
	refused("max_mtu=9000,max_frame=9000", 1024, "max_mtu and overhead within max_frame");
}

/* --- buffers --- */

AWKWARD_TEST(kept_mbufs_come_back_when_the_port_is_closed)
{
	struct fake_nic_look look;

	awkward_open("keep=4096", 1024);
	for (unsigned i = 0; i < 200; i++) {
		awkward_send(&pair.a, 100, (uint8_t)i);
		awkward_expect(&pair.b, 100, (uint8_t)i);
	}
	assert_int_equal(fake_nic_look(AWKWARD_A, &look), 0);
	assert_int_equal(look.kept, 200);
	awkward_close();
}

/* Both rings: the receive ring from the start, the transmit ring as it fills. */
AWKWARD_TEST(a_nic_holds_what_it_is_said_to)
{
	struct port_ethdev_config config;
	struct port_ethdev_needs needs;
	unsigned held;

	awkward_open("keep=4096", 1024);
	config = awkward_config();
	port_ethdev_needs(&pair.a, &config, &needs);
	held = needs.received_mbufs + needs.sent_mbufs;
	for (unsigned i = 0; i < 4 * AWKWARD_RING; i++) {
		awkward_send(&pair.a, 100, (uint8_t)i);
		awkward_expect(&pair.b, 100, (uint8_t)i);
		assert_true(
			AWKWARD_MBUFS - rte_mempool_avail_count(pair.pool) <= held + AWKWARD_RING);
	}
	/* This port has one receive ring; 'held' is for two. */
	assert_true(AWKWARD_MBUFS - rte_mempool_avail_count(pair.pool) >= 3 * AWKWARD_RING - 64);
	awkward_close();
}

AWKWARD_TEST(what_a_dry_pool_loses_is_counted)
{
	struct rte_mbuf *mbufs[AWKWARD_MBUFS], *mbuf;
	struct port_losses losses;
	unsigned taken = 0;

	awkward_open("", 1024);
	for (unsigned i = 0; i < AWKWARD_RING + 5; i++)
		awkward_send(&pair.a, 100, 0);
	while ((mbuf = rte_pktmbuf_alloc(pair.pool)) != NULL)
		mbufs[taken++] = mbuf;
	assert_int_equal(port_rx(&pair.b, &mbuf, 1, 0), 0);
	port_losses_read(&pair.b, &losses);
	assert_int_equal(losses.rx_missed, 5);
	assert_int_equal(losses.rx_no_buffer, 1);
	rte_pktmbuf_free_bulk(mbufs, taken);
	awkward_expect(&pair.b, 100, 0);
	awkward_close();
}

int main(void)
{
	char name[] = "awkward_nic";

	return run_with_eal(name, 63, &unused);
}
