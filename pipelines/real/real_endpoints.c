/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "real_endpoints.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rte_lcore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arrays.h"
#include "poll/poll_nic_endpoints.h"
#include "real_fabric_idle.h"

#define BACKLOG 64

/* A program's connection. */
struct program {
	int socket;     /* -1: disconnected, but the endpoint still exists */
	unsigned host;  /* index into the fabric's hosts */
	int number;     /* endpoint number; -1: not attached */
	int door, bell; /* eventfds that wake the interface and the program, respectively */
	void *memory;
	size_t bytes;
	struct endpoint *endpoint;
};

struct real_endpoints {
	struct real_fabric *fabric;
	int listener;
	int bell; /* wakes the thread when a loop has finished an endpoint, or to end it */
	uint32_t life;
	struct program *program;
	struct pollfd *watched; /* [2 + programs] */
	uint32_t programs, room, watched_room;
	bool full; /* out of descriptors: accept no program until one disconnects */
	atomic_bool halt;
	pthread_t thread;
	bool running;
};

/* --- the socket --- */

static int open_listener(const char *path, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(error, ENAMETOOLONG,
			"%s: a socket path can have at most %zu characters; use a shorter run directory, or 'endpoints: 0'",
			path, sizeof(address.sun_path) - 1);
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return error_set(error, errno, "%s: %s", path, strerror(errno));
	unlink(path); /* left by an earlier process */
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, BACKLOG) < 0) {
		error_set(error, errno, "%s: %s", path, strerror(errno));
		close(fd);
		return -EIO;
	}
	return fd;
}

int real_endpoints_create(struct real_fabric *fabric, struct error *error)
{
	struct real_endpoints *endpoints;

	if (fabric->options.endpoints == 0)
		return 0;
	endpoints = calloc(1, sizeof(*endpoints));
	if (endpoints == NULL)
		return error_set(error, ENOMEM, "not enough memory for endpoints");
	fabric->endpoints = endpoints;
	endpoints->fabric = fabric;
	endpoints->listener = -1;
	endpoints->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (endpoints->bell < 0 || getentropy(&endpoints->life, sizeof(endpoints->life)) < 0)
		return error_set(error, errno, "endpoints: %s", strerror(errno));
	endpoints->listener = open_listener(fabric->options.endpoint_socket, error);
	return endpoints->listener < 0 ? endpoints->listener : 0;
}

int real_endpoints_add_host(struct real_fabric *fabric, struct real_host *host, struct error *error)
{
	if (fabric->endpoints == NULL)
		return 0;
	return poll_nic_set_endpoints(
		       host->poll, fabric->options.endpoints, fabric->endpoints->bell) == 0
		       ? 0
		       : error_set(error, ENOMEM, "not enough memory for endpoints");
}

uint32_t real_program_hosts(const struct real_fabric *fabric)
{
	uint32_t count = fabric->options.run->edges.count;

	for (unsigned i = 0; i < fabric->host_count; i++)
		count += fabric->hosts[i].poll->endpoints != NULL &&
			 atomic_load_explicit(
				 &fabric->hosts[i].poll->endpoints->active, memory_order_relaxed);
	return count;
}

/* --- attaching --- */

static void drop_memory(struct program *program)
{
	endpoint_destroy(program->endpoint);
	if (program->memory != NULL)
		munmap(program->memory, program->bytes);
	if (program->door >= 0)
		close(program->door);
	if (program->bell >= 0)
		close(program->bell);
	program->endpoint = NULL;
	program->memory = NULL;
	program->door = program->bell = -1;
	program->number = -1;
}

/* Creates a file that can neither shrink nor grow, so that accesses to the mapping cannot fault. */
static int make_memory(struct program *program)
{
	int fd = memfd_create("weft-endpoint", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)program->bytes) == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
		program->memory =
			mmap(NULL, program->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (program->memory != MAP_FAILED)
			return fd;
	}
	program->memory = NULL;
	close(fd);
	return -ENOMEM;
}

static int find_number(const struct poll_nic_endpoints *at, uint16_t wanted)
{
	for (unsigned i = 0; i < at->count; i++)
		if ((wanted == i || wanted == ENDPOINT_ANY) &&
			atomic_load(&at->at[i].state) == POLL_NIC_ENDPOINT_FREE)
			return (int)i;
	return wanted == ENDPOINT_ANY || wanted < at->count ? -EBUSY : -ENOENT;
}

static int host_here(const struct real_fabric *fabric, const char *name)
{
	int32_t number = topology_find_host(fabric->options.topology, name);

	for (unsigned i = 0; i < fabric->host_count && number >= 0; i++)
		if (fabric->hosts[i].number == (uint32_t)number)
			return (int)i;
	return -ENOENT;
}

/* Lets the program wake the host's loop through the interface's eventfd. */
static bool watch_door(const struct real_fabric *fabric, const struct program *program)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = program->door};

	for (unsigned i = 0; fabric->rests && i < fabric->loops; i++)
		if (program->host >= fabric->worker[i].first_host &&
			program->host < fabric->worker[i].last_host)
			return epoll_ctl(fabric->worker[i].rest.ready, EPOLL_CTL_ADD, program->door,
				       &event) == 0;
	return true;
}

/* Returns the memory's descriptor, or -errno. */
static int attach(struct real_endpoints *endpoints, struct program *program,
	const struct endpoint_request *ask)
{
	struct real_fabric *fabric = endpoints->fabric;
	int host = host_here(fabric, ask->host), number, fd;
	struct endpoint_config config = {.endpoints = fabric->options.endpoints};
	const struct nic_config *nic;

	if (host < 0)
		return host;
	number = find_number(fabric->hosts[host].poll->endpoints, ask->number);
	if (number < 0)
		return number;
	nic = nic_config(fabric->hosts[host].poll->nic);
	config.host = nic->host;
	config.hosts = nic->hosts;
	config.mtu_bytes = nic->mtu_bytes;
	config.number = (uint16_t)number;
	endpoints->life += endpoints->life == UINT32_MAX ? 2 : 1;
	config.life = endpoints->life;
	program->host = (unsigned)host;
	program->bytes = endpoint_memory_bytes(&config);
	program->door = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	program->bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	fd = make_memory(program);
	if (fd >= 0)
		program->endpoint = endpoint_create(&config, program->memory);
	if (fd < 0 || program->endpoint == NULL || program->door < 0 || program->bell < 0 ||
		!watch_door(fabric, program)) {
		drop_memory(program);
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	program->number = number;
	poll_nic_endpoint_attach(
		fabric->hosts[host].poll, (unsigned)number, program->endpoint, program->bell);
	real_idle_wake(fabric);
	return fd;
}

/* --- connections --- */

/* Returns the memory's descriptor, which the caller closes, or -1. */
static int reply(struct real_endpoints *endpoints, struct program *program,
	const struct endpoint_request *ask, struct endpoint_answer *answer)
{
	const struct topology *topology = endpoints->fabric->options.topology;
	int32_t host;
	int fd;

	switch (ask->kind) {
	case ENDPOINT_ATTACH:
		fd = program->number < 0 ? attach(endpoints, program, ask) : -EALREADY;
		answer->error = fd < 0 ? fd : 0;
		return fd < 0 ? -1 : fd;
	case ENDPOINT_FIND:
		host = topology_find_host(topology, ask->host);
		answer->error = host < 0 ? -ENOENT : 0;
		answer->host = (uint16_t)(host < 0 ? 0 : host);
		break;
	case ENDPOINT_NAME:
		answer->error = ask->number < topology->hosts ? 0 : -ENOENT;
		if (answer->error == 0)
			snprintf(answer->name, sizeof(answer->name), "%s",
				topology->host_at[ask->number].name);
		break;
	default:
		answer->error = -EPROTO;
	}
	return -1;
}

static bool send_answer(
	const struct program *program, const struct endpoint_answer *answer, int memory)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(ENDPOINT_DESCRIPTORS * sizeof(int))];
	} control = {0};
	struct iovec data = {(void *)answer, sizeof(*answer)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	const int fds[ENDPOINT_DESCRIPTORS] = {memory, program->door, program->bell};

	if (memory >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), fds, sizeof(fds));
	}
	return sendmsg(program->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*answer);
}

/* Returns false if the program disconnected or violated the protocol. */
static bool serve(struct real_endpoints *endpoints, struct program *program)
{
	struct endpoint_request ask;
	struct endpoint_answer answer = {0};
	ssize_t got = recv(program->socket, &ask, sizeof(ask), 0);
	int memory;
	bool good;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (got != (ssize_t)sizeof(ask) || ask.version != ENDPOINT_VERSION)
		return false;
	ask.host[sizeof(ask.host) - 1] = '\0';
	memory = reply(endpoints, program, &ask, &answer);
	good = send_answer(program, &answer, memory);
	if (memory >= 0)
		close(memory);
	return good;
}

static void hang_up(struct real_endpoints *endpoints, struct program *program)
{
	struct real_fabric *fabric = endpoints->fabric;

	close(program->socket);
	program->socket = -1;
	endpoints->full = false;
	if (program->number < 0)
		return;
	poll_nic_endpoint_detach(fabric->hosts[program->host].poll, (unsigned)program->number);
	real_idle_wake(fabric);
}

static void accept_program(struct real_endpoints *endpoints)
{
	int fd = accept4(endpoints->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	endpoints->full = fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
	if (fd < 0)
		return;
	if (!array_reserve(&endpoints->program, &endpoints->room, endpoints->programs + 1u,
		    sizeof(*endpoints->program))) {
		close(fd);
		return;
	}
	endpoints->program[endpoints->programs++] =
		(struct program){.socket = fd, .number = -1, .door = -1, .bell = -1};
}

/* Frees endpoints that loops have finished, and removes disconnected programs. */
static void sweep(struct real_endpoints *endpoints)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < endpoints->programs; i++) {
		struct program *program = &endpoints->program[i];
		struct poll_nic_endpoints *at =
			endpoints->fabric->hosts[program->host].poll->endpoints;

		if (program->number >= 0 &&
			atomic_load(&at->at[program->number].state) == POLL_NIC_ENDPOINT_OVER) {
			unsigned number = (unsigned)program->number;

			drop_memory(program);
			atomic_store(&at->at[number].state, POLL_NIC_ENDPOINT_FREE);
		}
		if (program->socket >= 0 || program->number >= 0)
			endpoints->program[kept++] = *program;
	}
	endpoints->programs = kept;
}

static void *run(void *ctx)
{
	struct real_endpoints *endpoints = ctx;
	eventfd_t value;

	while (!atomic_load(&endpoints->halt)) {
		uint32_t programs = endpoints->programs;
		struct pollfd *watched;

		if (!array_reserve(&endpoints->watched, &endpoints->watched_room, programs + 2u,
			    sizeof(*endpoints->watched)))
			break;
		watched = endpoints->watched;
		watched[0] = (struct pollfd){endpoints->bell, POLLIN, 0};
		watched[1] = (struct pollfd){endpoints->full ? -1 : endpoints->listener, POLLIN, 0};
		for (uint32_t i = 0; i < programs; i++)
			watched[2 + i] = (struct pollfd){endpoints->program[i].socket, POLLIN, 0};
		if (poll(watched, programs + 2, -1) < 0)
			continue;
		if (watched[0].revents != 0)
			eventfd_read(endpoints->bell, &value);
		for (uint32_t i = 0; i < programs; i++)
			if (watched[2 + i].revents != 0 &&
				!serve(endpoints, &endpoints->program[i]))
				hang_up(endpoints, &endpoints->program[i]);
		if (watched[1].revents != 0)
			accept_program(endpoints);
		sweep(endpoints);
	}
	return NULL;
}

void real_endpoints_start(struct real_fabric *fabric)
{
	struct real_endpoints *endpoints = fabric->endpoints;

	if (endpoints == NULL)
		return;
	atomic_store(&endpoints->halt, false);
	endpoints->running = rte_ctrl_thread_create(&endpoints->thread, "weft-endpoints", NULL, run,
				     endpoints) == 0;
}

void real_endpoints_stop(struct real_fabric *fabric)
{
	struct real_endpoints *endpoints = fabric->endpoints;

	if (endpoints == NULL || !endpoints->running)
		return;
	atomic_store(&endpoints->halt, true);
	eventfd_write(endpoints->bell, 1);
	pthread_join(endpoints->thread, NULL);
	endpoints->running = false;
	for (uint32_t i = 0; i < endpoints->programs; i++) {
		if (endpoints->program[i].socket >= 0)
			close(endpoints->program[i].socket);
		drop_memory(&endpoints->program[i]);
	}
	endpoints->programs = 0;
}

void real_endpoints_destroy(struct real_fabric *fabric)
{
	struct real_endpoints *endpoints = fabric->endpoints;

	if (endpoints == NULL)
		return;
	real_endpoints_stop(fabric);
	if (endpoints->listener >= 0) {
		close(endpoints->listener);
		unlink(fabric->options.endpoint_socket);
	}
	if (endpoints->bell >= 0)
		close(endpoints->bell);
	free(endpoints->program);
	free(endpoints->watched);
	free(endpoints);
}
