/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Hosts with endpoints, their interfaces, and programs that use libweft. The test carries the
 * frames, may lose some, and advances the clock. It replaces libweft's socket: the memory comes
 * from here. */

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"
#include "host/endpoint.h"
#include "host/weft_client.h"
#include "host/weft_client_socket.h"
#include "nic/nic.h"
#include "nic_pair.h"

#define BED_ENDPOINTS 2
#define BED_MTU       128u
#define BED_STEP_PS   (20 * PS_PER_US)

struct node {
	struct end end;
	struct endpoint_set *set;
	struct program {
		struct endpoint *endpoint;
		void *memory;
		size_t bytes;
		int file;
		int connection[2]; /* the program's end, the lab's */
		int door;
		bool gone;
	} program[BED_ENDPOINTS];
};

static struct bed {
	struct node node[PAIR_HOSTS];
	weft_time now;
	struct rng rng;
	uint32_t loss_ppm;
	bool cut[PAIR_HOSTS]; /* frames to and from this host are lost */
	bool down;            /* the process has ended, as programs see it */
	void (*looked)(void); /* called when a program has checked this; or NULL */
	uint32_t life;
} bed;

static void bed_deliver(void *ctx, const struct nic_delivery *delivery)
{
	assert_true(!delivery->first || endpoint_is(delivery->payload, delivery->bytes));
	endpoint_set_deliver(ctx, delivery);
}

static void bed_done(void *ctx, const struct nic_outcome *outcome)
{
	endpoint_set_done(ctx, outcome);
}

static void bed_pull(void *ctx, uint64_t cookie, uint32_t offset, uint8_t *out, uint32_t bytes)
{
	endpoint_set_pull(ctx, cookie, offset, out, bytes);
}

static void bed_start(uint64_t seed)
{
	memset(&bed, 0, sizeof(bed));
	rng_init(&bed.rng, seed, 0, 0);
	bed.now = PS_PER_S;
	for (uint16_t i = 0; i < PAIR_HOSTS; i++) {
		struct node *node = &bed.node[i];
		struct nic_config config = end_config(&node->end, i, PAIR_SESSION(i));
		struct nic_programs programs = {.pull = bed_pull, .done = bed_done};

		config.mtu_bytes = BED_MTU;
		node->set = endpoint_set_create(
			i, PAIR_HOSTS, BED_ENDPOINTS, BED_MTU, config.give_up_ps);
		assert_non_null(node->set);
		config.above = (struct nic_host){.ctx = node->set, .deliver = bed_deliver};
		programs.ctx = node->set;
		end_begin(&node->end, &config);
		nic_set_programs(node->end.nic, &programs);
	}
}

static bool bed_is_lost(unsigned from, unsigned to)
{
	return bed.cut[from] || bed.cut[to] || rng_below(&bed.rng, 1000000) < bed.loss_ppm;
}

static void bed_carry(unsigned from, struct box *box)
{
	unsigned to = box->packet.destination;

	if (to >= PAIR_HOSTS || bed_is_lost(from, to)) {
		free(box);
		return;
	}
	nic_describe(&box->packet, box->frame, box->packet.bytes, bed.now);
	for (struct weft_packet *packet =
			nic_receive(bed.node[to].end.nic, &box->packet, box->frame, bed.now);
		packet != NULL;) {
		struct weft_packet *next = packet->next;

		free(packet);
		packet = next;
	}
}

static void bed_send(unsigned from, unsigned frames)
{
	struct end *end = &bed.node[from].end;

	while (frames-- > 0) {
		struct box *box = calloc(1, sizeof(*box));

		if (!nic_inject(end->nic, bed.now, &box->packet)) {
			free(box);
			return;
		}
		nic_frame_build(end->nic, &box->packet, box->frame, bed.now);
		assert_int_equal(frame_check(box->frame, box->packet.bytes), FRAME_FAULT_OK);
		bed_carry(from, box);
	}
}

static void bed_free(struct program *program)
{
	endpoint_destroy(program->endpoint);
	munmap(program->memory, program->bytes);
	*program = (struct program){.endpoint = NULL};
}

static void bed_step(void)
{
	bed.now += BED_STEP_PS;
	for (unsigned i = 0; i < PAIR_HOSTS; i++) {
		struct node *node = &bed.node[i];

		node->end.now = bed.now;
		nic_poll(node->end.nic, bed.now);
		endpoint_set_poll(node->set, node->end.nic, bed.now);
		bed_send(i, 32);
		endpoint_set_bells(node->set);
		assert_null(endpoint_set_check(node->set));
		for (unsigned k = 0; k < BED_ENDPOINTS; k++)
			if (node->program[k].gone && endpoint_set_remove(node->set, k) != NULL)
				bed_free(&node->program[k]);
	}
}

static void bed_stop(void)
{
	for (unsigned i = 0; i < PAIR_HOSTS; i++) {
		struct node *node = &bed.node[i];

		assert_null(endpoint_set_check(node->set));
		assert_null(nic_check(node->end.nic));
		for (struct weft_packet *packet = nic_drain(node->end.nic); packet != NULL;) {
			struct weft_packet *next = packet->next;

			free(packet);
			packet = next;
		}
		nic_destroy(node->end.nic);
		nic_routes_destroy(node->end.routes);
		endpoint_set_destroy(node->set);
		for (unsigned k = 0; k < BED_ENDPOINTS; k++)
			if (node->program[k].endpoint != NULL)
				bed_free(&node->program[k]);
	}
}

/* --- in place of the socket --- */

static int bed_attach(unsigned host, unsigned number)
{
	struct program *program = &bed.node[host].program[number];
	const struct endpoint_config config = {.host = (uint16_t)host,
		.hosts = PAIR_HOSTS,
		.number = (uint16_t)number,
		.endpoints = BED_ENDPOINTS,
		.life = ++bed.life,
		.mtu_bytes = BED_MTU};

	program->bytes = endpoint_memory_bytes(&config);
	program->file = memfd_create("endpoint", MFD_CLOEXEC);
	assert_int_equal(ftruncate(program->file, (off_t)program->bytes), 0);
	program->memory =
		mmap(NULL, program->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, program->file, 0);
	assert_ptr_not_equal(program->memory, MAP_FAILED);
	program->endpoint = endpoint_create(&config, program->memory);
	assert_non_null(program->endpoint);
	endpoint_set_add(bed.node[host].set, program->endpoint);
	return program->file;
}

int weft_socket_open(struct weft_socket *to, const char *host, uint16_t endpoint)
{
	unsigned at = (unsigned)atoi(host + 1), number = 0;

	*to = (struct weft_socket){.connection = -1, .memory = -1, .door = -1, .bell = -1};
	while (number < BED_ENDPOINTS && (bed.node[at].program[number].endpoint != NULL ||
						 (endpoint != ENDPOINT_ANY && endpoint != number)))
		number++;
	if (number == BED_ENDPOINTS)
		return -EBUSY;
	to->memory = bed_attach(at, number);
	to->bytes = bed.node[at].program[number].bytes;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET, 0, bed.node[at].program[number].connection), 0);
	to->connection = bed.node[at].program[number].connection[0];
	to->bell = eventfd(0, EFD_NONBLOCK);
	to->door = bed.node[at].program[number].door = eventfd(0, EFD_NONBLOCK);
	return 0;
}

static struct program *bed_program(unsigned at)
{
	return &bed.node[at / BED_ENDPOINTS].program[at % BED_ENDPOINTS];
}

void weft_socket_close(struct weft_socket *to)
{
	unsigned at = 0;
	struct program *program;

	if (to->connection < 0)
		return;
	while (bed_program(at)->gone || bed_program(at)->connection[0] != to->connection)
		at++;
	program = bed_program(at);
	endpoint_set_close(bed.node[at / BED_ENDPOINTS].set, at % BED_ENDPOINTS);
	program->gone = true;
	close(program->connection[0]);
	close(program->connection[1]);
	close(to->memory);
	close(to->bell);
	close(to->door);
}

/* The process of the lab ends. */
static inline void bed_end_process(void)
{
	bed.down = true;
	for (unsigned i = 0; i < PAIR_HOSTS * BED_ENDPOINTS; i++)
		if (bed_program(i)->endpoint != NULL)
			shutdown(bed_program(i)->connection[1], SHUT_RDWR);
}

bool weft_socket_is_dead(const struct weft_socket *to)
{
	if (bed.looked != NULL)
		bed.looked();
	return bed.down;
}

int weft_socket_ask(struct weft_socket *to, enum endpoint_request_kind kind, const char *host,
	uint16_t number, struct endpoint_answer *answer)
{
	*answer = (struct endpoint_answer){.host = (uint16_t)atoi(host + 1)};
	snprintf(answer->name, sizeof(answer->name), "h%u", number);
	return answer->host < PAIR_HOSTS && number < PAIR_HOSTS ? 0 : -ENOENT;
}
