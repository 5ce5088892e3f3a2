/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "ethdev_private.h"

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define WHOLE_FRAME 0x40000

static bool is_bound_to(int fd, unsigned interface)
{
	struct sockaddr_ll at = {.sll_family = AF_UNSPEC};
	socklen_t length = sizeof(at);

	return getsockname(fd, (struct sockaddr *)&at, &length) == 0 &&
	       at.sll_family == AF_PACKET && at.sll_ifindex == (int)interface;
}

static int ignore_outgoing(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)(SKF_AD_OFF + SKF_AD_PKTTYPE)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, 0),
		BPF_STMT(BPF_RET | BPF_K, WHOLE_FRAME),
	};
	const struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) == 0
		       ? 0
		       : -errno;
}

int packet_socket_ignore_outgoing(unsigned interface)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int count = 0, result = 0;

	if (dir == NULL)
		return -errno;
	while (result == 0 && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name); /* "." and "..": 0, which is no packet socket */

		if (!is_bound_to(fd, interface))
			continue;
		result = ignore_outgoing(fd);
		count++;
	}
	closedir(dir);
	return result < 0 ? result : count;
}

/* 'request' gets the interface's name and the answer. */
static int ask_interface(unsigned interface, unsigned long question, struct ifreq *request)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), result = 0;

	*request = (struct ifreq){.ifr_ifindex = (int)interface};
	if (fd < 0)
		return -errno;
	if (ioctl(fd, SIOCGIFNAME, request) != 0 ||
		(question != SIOCGIFNAME && ioctl(fd, question, request) != 0))
		result = -errno;
	close(fd);
	return result;
}

int packet_socket_mtu(unsigned interface)
{
	struct ifreq request;
	int result = ask_interface(interface, SIOCGIFMTU, &request);

	return result < 0 ? result : request.ifr_mtu;
}

unsigned packet_socket_speed(unsigned interface)
{
	struct ethtool_cmd link = {.cmd = ETHTOOL_GSET};
	struct ifreq request = {.ifr_data = (char *)&link};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t speed = 0;

	packet_socket_name(interface, request.ifr_name);
	if (fd >= 0 && ioctl(fd, SIOCETHTOOL, &request) == 0)
		speed = ethtool_cmd_speed(&link);
	if (fd >= 0)
		close(fd);
	return speed == (uint32_t)SPEED_UNKNOWN ? 0 : speed;
}

int packet_socket_carrier(unsigned interface)
{
	struct ifreq request;
	int result = ask_interface(interface, SIOCGIFFLAGS, &request);

	if (result == -ENODEV || result == -ENXIO)
		return 0; /* it has been removed, or is in another namespace */
	if (result < 0)
		return result;
	return (request.ifr_flags & IFF_UP) != 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

void packet_socket_name(unsigned interface, char name[IF_NAMESIZE])
{
	struct ifreq request;

	name[0] = '\0';
	if (ask_interface(interface, SIOCGIFNAME, &request) == 0)
		memcpy(name, request.ifr_name, IF_NAMESIZE);
	name[IF_NAMESIZE - 1] = '\0';
}
