/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab replay: sends the packets of a capture from the TAPs of a lab's hosts, with the lab's
 * addresses and on the lab's clock. */

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "experiment/workload/packet_file.h"
#include "lab_hosts.h"
#include "os/netns.h"
#include "wire/big_endian.h"
#include "yaml/yaml_tree.h"

#define COMMAND        "lab replay"
#define ETHERNET_BYTES 14
#define ETHERTYPE_IPV4 0x0800
#define STREAM_REPLAY  0x7265706c
#define LOOK_NS        100000000 /* interval between checks for signals during a wait */

/* A host with a TAP. */
struct sender {
	const struct run_config_edge *edge;
	uint32_t address; /* host order */
	int socket;       /* packet socket on the TAP; -1: not opened yet */
	uint16_t host;
};

struct replay {
	struct lab_hosts lab;
	struct run_config *options; /* parsed as a traffic entry */
	struct sender *sender;      /* [edges] */
	uint32_t senders;
	int32_t *sender_of; /* [hosts]: index into 'sender'; -1: no edge */
	bool *usable;       /* [hosts] */
	struct packet_hosts hosts;
	struct run_hosts_entry entry;
	struct rng rng;
	struct timespec start;
	uint64_t sent, bytes, no_ipv4, too_long, dropped, late_ns;
	struct error error;
};

/* --- options --- */

/* Writes the options as a traffic entry of a run file, so that the run file parser checks them. */
static char *write_entry(const struct lab_arguments *arguments)
{
	char path[PATH_MAX], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fputs("weft: run/1\nclock: real\ntopology: \"full:switches=1,hosts=2\"\n"
	      "traffic:\n  - pattern: pcap\n    file: ",
		out);
	yaml_tree_write_text(
		realpath(arguments->word[0], path) != NULL ? path : arguments->word[0], out);
	for (unsigned i = 0; i < arguments->replays; i++) {
		const char *key = arguments->replay[i].key, *value = arguments->replay[i].value;

		fprintf(out, "\n    %s: ", key);
		if (strcmp(key, "to") == 0)
			fprintf(out, "[%s]", value);
		else
			yaml_tree_write_text(strcmp(key, "by") == 0 && realpath(value, path) != NULL
						     ? path
						     : value,
				out);
	}
	fputc('\n', out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int read_options(struct replay *replay, const struct lab_arguments *arguments)
{
	char *text = write_entry(arguments), *place;

	if (text == NULL)
		return error_set(&replay->error, ENOMEM, "out of memory");
	replay->options = run_config_parse(text, strlen(text), "options", NULL, 0, &replay->error);
	free(text);
	if (replay->options == NULL) {
		/* The error's position would refer to the text above. */
		place = strstr(replay->error.text, ": ");
		if (place != NULL && strncmp(replay->error.text, "options:", 8) == 0)
			memmove(replay->error.text, place + 2, strlen(place + 2) + 1);
		return -EINVAL;
	}
	replay->options->nic.mtu_bytes = replay->lab.lab.config->run.nic.mtu_bytes;
	return 0;
}

/* --- hosts --- */

static int list_senders(struct replay *replay)
{
	const struct topology *topology = replay->lab.lab.topology;
	const struct run_config_edge_list *edges = &replay->lab.lab.config->run.edges;

	replay->sender = calloc(edges->count + 1u, sizeof(*replay->sender));
	replay->sender_of = calloc(topology->hosts + 1u, sizeof(*replay->sender_of));
	replay->usable = calloc(topology->hosts + 1u, sizeof(*replay->usable));
	if (replay->sender == NULL || replay->sender_of == NULL || replay->usable == NULL)
		return error_set(&replay->error, ENOMEM, "out of memory");
	memset(replay->sender_of, -1, topology->hosts * sizeof(*replay->sender_of));
	for (uint32_t i = 0; i < edges->count; i++) {
		struct sender *sender = &replay->sender[replay->senders];
		int32_t host = topology_find_host(topology, edges->at[i].host);
		char address[RUN_ADDRESS_MAX];
		struct in_addr parsed;

		snprintf(address, sizeof(address), "%s", edges->at[i].address);
		address[strcspn(address, "/")] = '\0';
		if (host < 0 || inet_pton(AF_INET, address, &parsed) != 1)
			continue;
		*sender = (struct sender){&edges->at[i], ntohl(parsed.s_addr), -1, (uint16_t)host};
		replay->sender_of[host] = (int32_t)replay->senders++;
		replay->usable[host] = true;
	}
	return replay->senders >= 2
		       ? 0
		       : error_set(&replay->error, EINVAL,
				 "lab %s: at least two hosts with an address are required in "
				 "'edges'",
				 replay->lab.lab.plan->lab);
}

static int find_usable(struct replay *replay, const char *option, const char *name, uint16_t *host)
{
	int32_t found = topology_find_host(replay->lab.lab.topology, name);

	if (found < 0 || !replay->usable[found])
		return error_set(&replay->error, EINVAL,
			"--%s %s: the host must have an address in the lab's 'edges'", option,
			name);
	*host = (uint16_t)found;
	return 0;
}

/* Lists the hosts of option 'to'. The default for a single sender is every host with an address. */
static int list_receivers(struct replay *replay)
{
	const struct run_config_hosts *to = &replay->options->traffic.at[0].to;
	int result = 0;

	replay->entry.to = calloc(to->count + replay->senders, sizeof(*replay->entry.to));
	if (replay->entry.to == NULL)
		return error_set(&replay->error, ENOMEM, "out of memory");
	for (uint32_t i = 0; to->kind == RUN_HOSTS_LIST && i < to->count && result == 0; i++)
		result = find_usable(
			replay, "to", to->name[i], &replay->entry.to[replay->entry.to_count++]);
	for (uint32_t i = 0; to->kind == RUN_HOSTS_ALL && i < replay->senders; i++)
		replay->entry.to[replay->entry.to_count++] = replay->sender[i].host;
	replay->hosts.to = replay->entry.to;
	replay->hosts.to_count = replay->entry.to_count;
	return result;
}

/* Without an address file, the lab's own addresses are mapped to their hosts. */
static int make_map(struct replay *replay)
{
	const struct run_config_packets *how = &replay->options->traffic.at[0].packets;
	int result = 0;

	if (how->host[0] != '\0')
		return find_usable(replay, "host", how->host, &replay->hosts.sender);
	replay->hosts.map = packet_map_create(
		how->by, replay->lab.lab.topology, replay->usable, &replay->error);
	if (replay->hosts.map == NULL)
		return -errno;
	for (uint32_t i = 0; how->by == NULL && i < replay->senders && result == 0; i++) {
		struct packet_address address = {.kind = PACKET_ADDRESS_IPV4};

		put32(address.bytes, replay->sender[i].address);
		result = packet_map_add(replay->hosts.map, &address, replay->sender[i].host);
	}
	return result == 0 ? 0 : error_set(&replay->error, ENOMEM, "out of memory");
}

/* --- sending --- */

static int open_socket(void *ctx, struct error *error)
{
	struct sender *sender = ctx;
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(sender->edge->tap)};

	if (at.sll_ifindex == 0)
		return error_set(error, errno, "%s: interface %s: %s", sender->edge->host,
			sender->edge->tap, strerror(errno));
	sender->socket = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (sender->socket < 0 || bind(sender->socket, (struct sockaddr *)&at, sizeof(at)) < 0)
		return error_set(error, errno, "%s: cannot open a socket on %s: %s",
			sender->edge->host, sender->edge->tap, strerror(errno));
	return 0;
}

static const char *namespace_of(const struct sender *sender)
{
	return sender->edge->netns[0] != '\0' ? sender->edge->netns : NULL;
}

static int send_packet(struct replay *replay, struct sender *from, const struct sender *to,
	const struct packet *packet)
{
	static uint8_t frame[ETHERNET_BYTES + PACKET_IPV4_MAX];
	uint32_t bytes = packet_rewrite(packet, from->address, to->address, frame + ETHERNET_BYTES);
	int result = 0;

	if (bytes == 0) {
		replay->no_ipv4++;
		return 0;
	}
	if (from->socket < 0)
		result = netns_run(namespace_of(from), open_socket, from, &replay->error);
	if (result < 0)
		return result;
	frame_host_mac(to->host, frame);
	frame_host_mac(from->host, frame + 6);
	put16(frame + 12, ETHERTYPE_IPV4);
	if (send(from->socket, frame, ETHERNET_BYTES + bytes, 0) >= 0) {
		replay->sent++;
		replay->bytes += bytes;
	} else if (errno == EMSGSIZE) {
		replay->too_long++;
	} else if (errno == ENOBUFS || errno == EAGAIN) {
		replay->dropped++;
	} else if (errno != EINTR) {
		return error_set(&replay->error, errno, "%s: %s", from->edge->tap, strerror(errno));
	}
	return 0;
}

static uint64_t elapsed_ns(const struct replay *replay)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(now.tv_sec - replay->start.tv_sec) * 1000000000 + (uint64_t)now.tv_nsec -
	       (uint64_t)replay->start.tv_nsec;
}

/* Waits until this time on the lab's clock. Sleeps in short steps, because a signal may arrive just
 * before a sleep. Returns -EINTR after a signal. */
static int wait_until(struct replay *replay, weft_time at_ps)
{
	uint64_t wait = at_ps / PS_PER_NS * replay->lab.lab.config->run.dilation;
	uint64_t since = elapsed_ns(replay);

	for (; !lab_interrupted() && since < wait; since = elapsed_ns(replay)) {
		uint64_t step = wait - since < LOOK_NS ? wait - since : LOOK_NS;

		nanosleep(&(struct timespec){.tv_nsec = (long)step}, NULL);
	}
	if (lab_interrupted())
		return error_set(&replay->error, EINTR, "interrupted");
	if (since - wait > replay->late_ns)
		replay->late_ns = since - wait;
	return 0;
}

static const struct sender *draw_receiver(struct replay *replay, uint16_t from)
{
	uint16_t to;

	do {
		to = replay->hosts.to[rng_below(&replay->rng, replay->hosts.to_count)];
	} while (to == from);
	return &replay->sender[replay->sender_of[to]];
}

static int replay_packet(struct replay *replay, const struct packet *packet, weft_time loop_ps)
{
	const struct run_packets *packets = replay->entry.packets;
	weft_time at_ps =
		(weft_time)((unsigned __int128)packet->at_ps * packets->up / packets->down);
	uint16_t from, to;
	bool drawn;
	int result = packet_hosts_choose(&replay->hosts, packet, &from, &to, &drawn);

	if (result < 0)
		return error_set(&replay->error, ENOMEM, "out of memory");
	if (result == 0)
		return 0;
	result = wait_until(replay, loop_ps + at_ps);
	if (result < 0)
		return result;
	return send_packet(replay, &replay->sender[replay->sender_of[from]],
		drawn ? draw_receiver(replay, from) : &replay->sender[replay->sender_of[to]],
		packet);
}

static int replay_loop(struct replay *replay, weft_time loop_ps)
{
	struct packet_file *file =
		packet_file_open(replay->options->traffic.at[0].file, &replay->error);
	struct packet packet;
	int read = 1, result = file == NULL ? -errno : 0;

	while (result == 0 && read > 0) {
		read = packet_file_next(file, &packet, &replay->error);
		result = read > 0 ? replay_packet(replay, &packet, loop_ps) : read;
	}
	packet_file_close(file);
	return result;
}

static int replay_loops(struct replay *replay)
{
	int result = 0;

	replay->hosts.count = (struct run_packets_count){0};
	rng_init(&replay->rng, replay->lab.lab.config->run.seed, STREAM_REPLAY, 0);
	clock_gettime(CLOCK_MONOTONIC, &replay->start);
	for (uint32_t i = 0; i < replay->options->traffic.at[0].packets.loops && result == 0; i++)
		result = replay_loop(replay, i * replay->entry.packets->period_ps);
	return result;
}

/* --- the command --- */

static void print_counts(const struct replay *replay)
{
	const struct run_packets_count *count = &replay->hosts.count;
	const struct {
		uint64_t packets;
		const char *why;
	} unsent[] = {
		{count->no_source, "source address is not mapped to a host"},
		{count->no_destination, "destination address is not mapped to a host"},
		{count->same_host, "source and destination are the same host"},
		{replay->no_ipv4, "not IPv4, fragmented or damaged"},
		{replay->too_long, "longer than the TAP's MTU"},
		{replay->dropped, "dropped by the kernel because the TAP's queue was full"},
	};

	printf("%" PRIu64 " of %" PRIu64 " packets sent, %" PRIu64
	       " bytes, at most %.3f ms late on the lab's clock\n",
		replay->sent, count->read, replay->bytes,
		(double)replay->late_ns / 1e6 / replay->lab.lab.config->run.dilation);
	for (unsigned i = 0; i < sizeof(unsent) / sizeof(unsent[0]); i++)
		if (unsent[i].packets > 0)
			printf("%" PRIu64 " not sent: %s\n", unsent[i].packets, unsent[i].why);
}

static int prepare(struct replay *replay, const struct lab_arguments *arguments)
{
	int result = read_options(replay, arguments);

	if (result == 0)
		result = list_senders(replay);
	if (result == 0)
		result = list_receivers(replay);
	if (result == 0)
		result = make_map(replay);
	/* Reads the whole file first, so that a damaged file is refused before any packet is sent.
	 */
	return result == 0 ? run_packets_read(replay->options, &replay->options->traffic.at[0],
				     replay->lab.lab.topology, &replay->hosts, &replay->entry,
				     &replay->error)
			   : result;
}

static enum weft_exit run(struct replay *replay, const struct lab_arguments *arguments)
{
	int result = prepare(replay, arguments);

	if (result < 0)
		return command_error(COMMAND, result, &replay->error);
	lab_catch_signals();
	result = replay_loops(replay);
	print_counts(replay);
	if (lab_interrupted())
		return EXIT_INTERRUPTED;
	if (result < 0)
		return command_error(COMMAND, result, &replay->error);
	return replay->sent > 0 && replay->dropped == 0 ? EXIT_DONE : EXIT_BAD_ANSWER;
}

static void free_replay(struct replay *replay)
{
	for (uint32_t i = 0; i < replay->senders; i++)
		if (replay->sender[i].socket >= 0)
			close(replay->sender[i].socket);
	packet_map_destroy(replay->hosts.map);
	run_packets_destroy(replay->entry.packets);
	run_config_destroy(replay->options);
	free(replay->entry.from);
	free(replay->entry.to);
	free(replay->sender);
	free(replay->sender_of);
	free(replay->usable);
	lab_hosts_close(&replay->lab);
}

enum weft_exit cmd_lab_replay(const struct lab_arguments *arguments)
{
	struct replay replay = {.hosts = {.map = NULL}};
	enum weft_exit code = lab_hosts_open(&replay.lab, arguments, COMMAND, false);

	if (code != EXIT_DONE)
		return code;
	code = run(&replay, arguments);
	free_replay(&replay);
	return code;
}
