/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "packet_socket.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

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
