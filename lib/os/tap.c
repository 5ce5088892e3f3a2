/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "netns.h"
#include "tap.h"

#define TUN_DEVICE  "/dev/net/tun"
#define MTU_DEFAULT 1500
/* Higher descriptors are the program's own. */
#define INHERITED_MAX 2048

struct tap_job {
	const struct tap_options *options;
	struct in_addr address, mask; /* valid if options->ipv4 is set */
	int fd;
};

static int parse_ipv4(struct tap_job *job, struct error *error)
{
	const char *text = job->options->ipv4;
	char address[INET_ADDRSTRLEN];
	const char *slash = text != NULL ? strchr(text, '/') : NULL;
	unsigned prefix;
	char after;

	if (text == NULL)
		return 0;
	snprintf(address, sizeof(address), "%.*s", slash != NULL ? (int)(slash - text) : 0, text);
	if (slash == NULL || inet_pton(AF_INET, address, &job->address) != 1 ||
		sscanf(slash + 1, "%2u%c", &prefix, &after) != 1 || prefix > 32)
		return error_set(error, EINVAL,
			"TAP %s: address '%s': expected an address such as 10.0.0.1/24",
			job->options->name, text);
	job->mask.s_addr = prefix == 0 ? 0 : htonl(UINT32_MAX << (32 - prefix));
	return 0;
}

static int check_name(const char *name, struct error *error)
{
	if (name[0] == '\0' || strlen(name) >= IFNAMSIZ || strpbrk(name, "/% :") != NULL)
		return error_set(error, EINVAL,
			"TAP '%s': expected a name of 1 to %d characters without '/', '%%', ':' or "
			"space",
			name, IFNAMSIZ - 1);
	return 0;
}

static int fault_step(
	const struct tap_options *options, const char *step, int code, struct error *error)
{
	return error_set(error, code, "TAP %s: cannot %s: %s%s", options->name, step,
		strerror(code), code == EPERM ? "; run as root or with CAP_NET_ADMIN" : "");
}

static int create(const struct tap_options *options, struct error *error)
{
	/* Exclusive: fails if another process holds an interface of this name. */
	struct ifreq request = {
		.ifr_flags = (short)(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | IFF_TUN_EXCL)};
	int fd = open(TUN_DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	int code;

	if (fd < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO))
		return error_set(error, ENODEV,
			"TAP %s: no %s on this system; load the kernel module 'tun'", options->name,
			TUN_DEVICE);
	if (fd < 0)
		return error_set(
			error, errno, "TAP %s: %s: %s", options->name, TUN_DEVICE, strerror(errno));
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", options->name);
	if (ioctl(fd, TUNSETIFF, &request) == 0 &&
		ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6) == 0)
		return fd;
	code = errno;
	close(fd);
	return fault_step(options, "create it", code, error);
}

/* Returns whether the descriptor's interface is in this thread's namespace. */
static bool is_in_namespace(int fd)
{
	int namespace = ioctl(fd, TUNGETDEVNETNS);
	struct stat own, of_tap;
	bool same = namespace >= 0 && fstat(namespace, &of_tap) == 0 &&
		    stat("/proc/thread-self/ns/net", &own) == 0 && own.st_dev == of_tap.st_dev &&
		    own.st_ino == of_tap.st_ino;

	if (namespace >= 0)
		close(namespace);
	return same;
}

/* Returns an inherited descriptor of the interface, or -1. */
static int find_inherited(const struct tap_options *options)
{
	struct ifreq request;

	for (int fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++)
		if (fcntl(fd, F_GETFD) == 0 && ioctl(fd, TUNGETIFF, &request) == 0 &&
			(request.ifr_flags & IFF_VNET_HDR) != 0 &&
			strcmp(request.ifr_name, options->name) == 0 && is_in_namespace(fd)) {
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			return fd;
		}
	return -1;
}

static struct ifreq request_for(const struct tap_options *options)
{
	struct ifreq request;

	memset(&request, 0, sizeof(request));
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", options->name);
	return request;
}

static int set_mac(int socket_fd, const struct tap_options *options)
{
	static const uint8_t none[6];
	struct ifreq request = request_for(options);

	if (memcmp(options->mac, none, sizeof(none)) == 0)
		return 0;
	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, options->mac, sizeof(options->mac));
	return ioctl(socket_fd, SIOCSIFHWADDR, &request);
}

static int set_mtu(int socket_fd, const struct tap_options *options)
{
	struct ifreq request = request_for(options);

	request.ifr_mtu = options->mtu != 0 ? (int)options->mtu : MTU_DEFAULT;
	return ioctl(socket_fd, SIOCSIFMTU, &request);
}

static int set_address(int socket_fd, const struct tap_options *options, unsigned long code,
	struct in_addr address)
{
	struct ifreq request = request_for(options);
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = address};

	memcpy(&request.ifr_addr, &in, sizeof(in));
	return ioctl(socket_fd, code, &request);
}

static int set_up(int socket_fd, const struct tap_options *options)
{
	struct ifreq request = request_for(options);

	if (ioctl(socket_fd, SIOCGIFFLAGS, &request) != 0)
		return -1;
	request.ifr_flags |= IFF_UP | IFF_RUNNING;
	return ioctl(socket_fd, SIOCSIFFLAGS, &request);
}

/* A kernel without IPv6 does not have this file, which is not an error. */
static void ipv6_off(const struct tap_options *options)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/disable_ipv6", options->name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	/* If IPv6 stays on, a few router solicitations cross the fabric, which is not an error. */
	if (write(fd, "1", 1) != 1)
		errno = 0;
	close(fd);
}

static int set_properties(int socket_fd, const struct tap_job *job, struct error *error)
{
	const struct tap_options *options = job->options;

	if (set_mac(socket_fd, options) != 0)
		return fault_step(options, "set its Ethernet address", errno, error);
	if (set_mtu(socket_fd, options) != 0)
		return fault_step(options, "set its MTU", errno, error);
	if (!options->ipv6)
		ipv6_off(options);
	if (options->ipv4 != NULL &&
		(set_address(socket_fd, options, SIOCSIFADDR, job->address) != 0 ||
			set_address(socket_fd, options, SIOCSIFNETMASK, job->mask) != 0))
		return fault_step(options, "set its IPv4 address", errno, error);
	if (set_up(socket_fd, options) != 0)
		return fault_step(options, "bring it up", errno, error);
	return 0;
}

static int make(void *ctx, struct error *error)
{
	struct tap_job *job = ctx;
	int socket_fd, result;

	job->fd = find_inherited(job->options);
	if (job->fd < 0)
		job->fd = create(job->options, error);
	if (job->fd < 0)
		return job->fd;
	socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (socket_fd < 0) {
		result = fault_step(job->options, "open a socket", errno, error);
	} else {
		result = set_properties(socket_fd, job, error);
		close(socket_fd);
	}
	if (result < 0)
		close(job->fd);
	return result;
}

int tap_open(const struct tap_options *options, struct error *error)
{
	struct tap_job job = {.options = options, .fd = -1};
	int result = check_name(options->name, error);

	if (result == 0)
		result = parse_ipv4(&job, error);
	if (result < 0)
		return result;
	result = options->netns != NULL ? netns_run(options->netns, make, &job, error)
					: make(&job, error);
	return result < 0 ? result : job.fd;
}

void tap_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Opened by a thread that is in the namespace. */
#define INTERFACES "/proc/thread-self/net/dev"
#define SOCKETS    "/proc/thread-self/net/snmp"
#define FULL       "RcvbufErrors"
#define TX_DROPPED 11    /* fields before this one in an interface's line */
#define TEXT_BYTES 32768 /* about 250 interfaces */

struct losses_job {
	struct tap_losses *losses;
	bool sockets;
};

static int open_here(void *ctx, struct error *error)
{
	const struct losses_job *job = ctx;

	job->losses->interfaces = open(INTERFACES, O_RDONLY | O_CLOEXEC);
	if (job->sockets)
		job->losses->sockets = open(SOCKETS, O_RDONLY | O_CLOEXEC);
	return 0;
}

void tap_losses_open(struct tap_losses *losses, const struct tap_options *options, bool sockets)
{
	struct losses_job job = {.losses = losses, .sockets = sockets};

	*losses = (struct tap_losses){.interfaces = -1, .sockets = -1};
	if (options->netns != NULL)
		netns_run(options->netns, open_here, &job, NULL);
	else
		open_here(&job, NULL);
	losses->sockets_before = tap_losses_sockets(losses);
}

void tap_losses_close(struct tap_losses *losses)
{
	if (losses->interfaces >= 0)
		close(losses->interfaces);
	if (losses->sockets >= 0)
		close(losses->sockets);
	*losses = (struct tap_losses){.interfaces = -1, .sockets = -1};
}

/* Reads the current contents of the file. */
static void read_text(int fd, char text[TEXT_BYTES])
{
	size_t used = 0;
	ssize_t more;

	while (used < TEXT_BYTES - 1 &&
		(more = pread(fd, text + used, TEXT_BYTES - 1 - used, (off_t)used)) > 0)
		used += (size_t)more;
	text[used] = '\0';
}

/* Returns the text after "NAME:" in the first line that starts with it, or NULL. */
static char *find_line(char *text, const char *name)
{
	size_t length = strlen(name);

	for (char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += strspn(line, " \n");
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return line + length + 1;
	}
	return NULL;
}

uint64_t tap_losses_queue(const struct tap_losses *losses, const char *name)
{
	char text[TEXT_BYTES], *at;

	if (losses->interfaces < 0)
		return 0;
	read_text(losses->interfaces, text);
	at = find_line(text, name);
	for (unsigned i = 0; at != NULL && i < TX_DROPPED; i++)
		strtoull(at, &at, 10);
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* Returns the counter named FULL. One line lists the names, the next one their values. */
static uint64_t count_sockets(int fd)
{
	char text[TEXT_BYTES];
	char *names, *values;

	read_text(fd, text);
	names = find_line(text, "Udp");
	values = names != NULL ? find_line(names, "Udp") : NULL;
	while (values != NULL && *names == ' ') {
		uint64_t count = strtoull(values, &values, 10);
		size_t length = strcspn(++names, " \n");

		if (length == strlen(FULL) && strncmp(names, FULL, length) == 0)
			return count;
		names += length;
	}
	return 0;
}

uint64_t tap_losses_sockets(const struct tap_losses *losses)
{
	uint64_t now = losses->sockets >= 0 ? count_sockets(losses->sockets) : 0;

	return now > losses->sockets_before ? now - losses->sockets_before : 0;
}
