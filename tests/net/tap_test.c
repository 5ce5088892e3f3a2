/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* TAP interfaces and network namespaces. Needs root; without it, checks the messages. */

#include "needs.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/netns.h"
#include "os/tap.h"

#define NAMESPACE     "weft-tap-test"
#define WAIT_MS       5000
#define OFFLOAD_BYTES sizeof(struct virtio_net_hdr)

static int setup(void **state)
{
	if (geteuid() == 0) {
		netns_remove(NAMESPACE, NULL); /* left by a run that was killed */
		assert_int_equal(netns_create(NAMESPACE, NULL), 0);
	}
	return 0;
}

static int teardown(void **state)
{
	if (geteuid() == 0)
		assert_int_equal(netns_remove(NAMESPACE, NULL), 0);
	return 0;
}

static int open_tap(struct tap_options options)
{
	struct error error = {""};
	int fd = tap_open(&options, &error);

	if (fd < 0)
		fail_msg("%s", error.text);
	return fd;
}

/* The output of a shell command in the namespace. */
static void inside(const char *command, char *text, size_t size)
{
	char line[256];
	size_t used;
	FILE *pipe;

	snprintf(line, sizeof(line), "ip netns exec %s %s 2>&1", NAMESPACE, command);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	used = fread(text, 1, size - 1, pipe);
	text[used] = '\0';
	pclose(pipe);
}

UNIT_TEST(an_inherited_interface_is_opened_again_in_its_namespace_only)
{
	struct tap_options options = {.name = "weft-h8", .netns = NAMESPACE},
			   other = {.name = "weft-h8"};
	int fd, elsewhere;

	need_root();
	fd = open_tap(options);
	assert_int_equal(tap_open(&options, NULL), -EBUSY); /* closed by exec: not inherited */
	assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
	elsewhere = open_tap(other);
	assert_int_not_equal(elsewhere, fd);
	assert_int_equal(open_tap(options), fd);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	tap_close(elsewhere);
	tap_close(fd);
}

UNIT_TEST(interface_has_what_was_asked_for)
{
	struct tap_options options = {.name = "h7",
		.netns = NAMESPACE,
		.mac = {0x02, 0x57, 0x46, 0x54, 0, 7},
		.mtu = 1400,
		.ipv4 = "10.1.2.7/16"};
	char text[4096];
	int fd;

	need_root();
	fd = open_tap(options);
	inside("ip addr show dev h7", text, sizeof(text));
	assert_non_null(strstr(text, "02:57:46:54:00:07"));
	assert_non_null(strstr(text, "mtu 1400"));
	assert_non_null(strstr(text, "inet 10.1.2.7/16"));
	assert_non_null(strstr(text, ",UP"));
	tap_close(fd);
}

UNIT_TEST(interface_is_in_its_namespace_only)
{
	int fd;

	need_root();
	fd = open_tap((struct tap_options){.name = "weft-h7", .netns = NAMESPACE});
	assert_int_equal(if_nametoindex("weft-h7"), 0);
	tap_close(fd);
}

UNIT_TEST(interface_goes_with_its_descriptor)
{
	char text[4096];
	int fd;

	need_root();
	fd = open_tap((struct tap_options){.name = "h7", .netns = NAMESPACE});
	tap_close(fd);
	inside("ip link show dev h7", text, sizeof(text));
	assert_non_null(strstr(text, "does not exist"));
}

UNIT_TEST(interface_goes_with_its_process_even_if_killed)
{
	char text[4096], ready;
	int fds[2], status;
	pid_t pid;

	need_root();
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct tap_options options = {.name = "h7", .netns = NAMESPACE};

		if (tap_open(&options, NULL) < 0 || write(fds[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	assert_int_equal(read(fds[0], &ready, 1), 1);
	inside("ip link show dev h7", text, sizeof(text));
	assert_null(strstr(text, "does not exist"));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	inside("ip link show dev h7", text, sizeof(text));
	assert_non_null(strstr(text, "does not exist"));
	close(fds[0]);
	close(fds[1]);
}

UNIT_TEST(interface_without_ipv6_is_silent)
{
	char text[4096];
	int fd;

	need_root();
	fd = open_tap(
		(struct tap_options){.name = "h7", .netns = NAMESPACE, .ipv4 = "10.0.0.7/24"});
	inside("ip -6 addr show dev h7", text, sizeof(text));
	assert_string_equal(text, "");
	tap_close(fd);
}

/* The kernel asks for 10.0.0.8 with an ARP frame, and accepts Weft's answer. */
UNIT_TEST(frames_cross_both_ways)
{
	struct pollfd poll_fd = {.events = POLLIN};
	struct tap_options options = {.name = "h7", .netns = NAMESPACE, .ipv4 = "10.0.0.7/24"};
	uint8_t read_bytes[1600], written[OFFLOAD_BYTES + 42] = {0};
	uint8_t *frame = read_bytes + OFFLOAD_BYTES, *answer = written + OFFLOAD_BYTES;
	char text[4096];

	need_root();
	poll_fd.fd = open_tap(options);
	assert_int_equal(read(poll_fd.fd, read_bytes, sizeof(read_bytes)), -1);
	assert_int_equal(errno, EAGAIN);
	inside("ping -c 1 -W 0.05 10.0.0.8", text, sizeof(text));
	assert_int_equal(poll(&poll_fd, 1, WAIT_MS), 1);
	assert_int_equal(read(poll_fd.fd, read_bytes, sizeof(read_bytes)), OFFLOAD_BYTES + 42);
	assert_memory_equal(frame + 12, "\x08\x06", 2);
	assert_memory_equal(frame + 38, "\x0a\x00\x00\x08", 4);
	memcpy(answer, frame + 6, 6);
	memcpy(answer + 6, "\x02\x57\x46\x54\x00\x08\x08\x06\x00\x01\x08\x00\x06\x04\x00\x02", 16);
	memcpy(answer + 22, "\x02\x57\x46\x54\x00\x08\x0a\x00\x00\x08", 10);
	memcpy(answer + 32, frame + 22, 10);
	assert_int_equal(write(poll_fd.fd, written, sizeof(written)), sizeof(written));
	inside("ip neigh show 10.0.0.8", text, sizeof(text));
	assert_non_null(strstr(text, "02:57:46:54:00:08"));
	tap_close(poll_fd.fd);
}

/* No program reads the frames. */
UNIT_TEST(frames_without_room_in_the_queue_are_known)
{
	struct tap_options options = {.name = "h7", .netns = NAMESPACE, .ipv4 = "10.0.0.7/24"};
	struct tap_losses losses;
	uint64_t lost, lost_then, longer;
	char text[4096];
	int fd;

	need_root();
	fd = open_tap(options);
	tap_losses_open(&losses, &options, true);
	lost = tap_losses_queue(&losses, "h7");
	inside("ip link set dev h7 txqueuelen 10", text, sizeof(text));
	inside("ip neigh add 10.0.0.8 lladdr 02:57:46:54:00:08 dev h7", text, sizeof(text));
	inside("python3 -c 'import socket; s = socket.socket(2, 2); "
	       "[s.sendto(b\"x\", (\"10.0.0.8\", 9)) for i in range(30)]'",
		text, sizeof(text));
	lost_then = tap_losses_queue(&losses, "h7");
	longer = tap_losses_queue(&losses, "h");
	tap_losses_close(&losses);
	tap_close(fd);
	assert_int_equal(lost, 0);
	assert_string_equal(text, "");
	assert_int_equal(lost_then, 20);
	assert_int_equal(longer, 0);
}

UNIT_TEST(packets_without_room_in_a_socket_are_known)
{
	struct tap_options options = {.name = "h7", .netns = NAMESPACE};
	struct tap_losses losses;
	char text[4096];

	need_root();
	inside("ip link set dev lo up", text, sizeof(text));
	tap_losses_open(&losses, &options, true);
	assert_int_equal(tap_losses_sockets(&losses), 0);
	inside("python3 -c 'import socket; s = socket.socket(2, 2); s.bind((\"127.0.0.1\", 9)); "
	       "s.setsockopt(1, 8, 0); s.settimeout(0); t = (\"127.0.0.1\", 9); "
	       "[s.sendto(bytes(1000), t) for i in range(100)]'",
		text, sizeof(text));
	assert_string_equal(text, "");
	inside("awk '/^Udp: [0-9]/ { print $6 }' /proc/net/snmp", text, sizeof(text));
	assert_in_range(atoi(text), 1, 100);
	assert_int_equal(tap_losses_sockets(&losses), atoi(text));
	tap_losses_close(&losses);
	/* In a shared namespace, other programs may have lost the packets. */
	tap_losses_open(&losses, &options, false);
	assert_int_equal(losses.sockets, -1);
	tap_losses_close(&losses);
}

static void refused(struct tap_options options, int code, const char *part)
{
	struct error error = {""};

	assert_int_equal(tap_open(&options, &error), -code);
	if (strstr(error.text, part) == NULL)
		fail_msg("'%s' does not say '%s'", error.text, part);
}

UNIT_TEST(wrong_requests_are_named)
{
	refused((struct tap_options){.name = "sixteen-chars-xx"}, EINVAL, "1 to 15 characters");
	refused((struct tap_options){.name = ""}, EINVAL, "1 to 15 characters");
	refused((struct tap_options){.name = "h7", .ipv4 = "10.0.0.1"}, EINVAL, "10.0.0.1/24");
	refused((struct tap_options){.name = "h7", .ipv4 = "10.0.0/24"}, EINVAL, "10.0.0.1/24");
	refused((struct tap_options){.name = "h7", .ipv4 = "10.0.0.1/33"}, EINVAL, "10.0.0.1/24");
	refused((struct tap_options){.name = "h7", .ipv4 = "10.0.0.1/24x"}, EINVAL, "10.0.0.1/24");
	refused((struct tap_options){.name = "h7", .netns = "no-such-ns"}, ENOENT, "no-such-ns");
	refused((struct tap_options){.name = "h7", .netns = "../x"}, EINVAL, "without '/'");
}

UNIT_TEST(name_that_is_taken_is_refused_and_left_alone)
{
	char text[4096];
	int fd;

	need_root();
	fd = open_tap((struct tap_options){.name = "h7", .netns = NAMESPACE});
	refused((struct tap_options){.name = "h7", .netns = NAMESPACE}, EBUSY, "TAP h7");
	inside("ip link show dev h7", text, sizeof(text));
	assert_null(strstr(text, "does not exist"));
	tap_close(fd);
}

static int try_without_privilege(void)
{
	struct tap_options options = {.name = "h7"};
	struct error error = {""};

	if (setgid(65534) != 0 || setuid(65534) != 0)
		return 1;
	if (tap_open(&options, &error) >= 0 || strstr(error.text, "CAP_NET_ADMIN") == NULL)
		return 2;
	if (netns_create("weft-nobody", &error) == 0 || strstr(error.text, "run as root") == NULL)
		return 3;
	return 0;
}

UNIT_TEST(missing_privilege_is_named)
{
	int status;
	pid_t pid;

	need_root();
	pid = fork();
	if (pid == 0)
		_exit(try_without_privilege());
	waitpid(pid, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 0);
}

UNIT_TEST(namespace_is_the_one_of_ip_netns_and_goes_again)
{
	struct error error;

	need_root();
	assert_int_equal(netns_create(NAMESPACE, &error), -EEXIST);
	assert_int_equal(netns_create("weft-tap-test-2", &error), 0);
	assert_int_equal(system("ip netns list | grep -q weft-tap-test-2"), 0);
	assert_int_equal(
		system("ip netns exec weft-tap-test-2 ping -q -c 1 127.0.0.1 >/dev/null"), 0);
	assert_int_equal(netns_remove("weft-tap-test-2", &error), 0);
	assert_int_equal(access("/run/netns/weft-tap-test-2", F_OK), -1);
	assert_int_equal(netns_remove("weft-tap-test-2", &error), -ENOENT);
}

UNIT_MAIN(setup, teardown)
