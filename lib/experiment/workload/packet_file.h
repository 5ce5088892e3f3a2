/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads the packets of a capture (pcap or pcapng) in order with libpcap: their times, lengths and
 * addresses. Memory does not grow with the file. libpcap's filter compiler locates the IP header,
 * so a link type is supported if it can compile a filter with a constant offset for it. Used before
 * a run starts and by commands, never per frame. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/weft_error.h"
#include "base/weft_time.h"
#include "experiment/run/run_config.h"
#include "run_hosts.h"
#include "topo/topology.h"
#include "traffic/traffic.h"

enum packet_address_kind {
	PACKET_ADDRESS_NONE, /* the packet has none */
	PACKET_ADDRESS_IPV4,
	PACKET_ADDRESS_IPV6,
	PACKET_ADDRESS_MAC,
};

/* Unused bytes are 0, so addresses can be compared as bytes. */
struct packet_address {
	uint8_t kind, bytes[16];
};

struct packet {
	weft_time at_ps;     /* time since the file's first packet, in whole ns, never decreasing */
	uint32_t bytes;      /* length on the medium, from the capture */
	const uint8_t *data; /* captured bytes; valid until the next packet is read */
	uint32_t captured;   /* number of captured bytes */
	uint32_t ip;         /* offset of the IP header; 'captured' if there is none */
	struct packet_address source[2], destination[2]; /* IP address, Ethernet address */
};

struct packet_file;

/* Returns NULL with errno and error set if the file does not exist or is not a capture. */
struct packet_file *packet_file_open(const char *path, struct error *error);
/* The same for an open file, which is closed together with the packet file, or on failure. 'path'
 * is for messages and belongs to the caller. */
struct packet_file *packet_file_of(FILE *in, const char *path, struct error *error);
void packet_file_close(struct packet_file *file);

/* Returns 1 for a packet, 0 at the end, or -EINVAL with error set: a damaged file, or a packet that
 * is a Weft frame. */
int packet_file_next(struct packet_file *file, struct packet *packet, struct error *error);

/* Whether packets of this file may have IP or Ethernet addresses. */
bool packet_file_has_addresses(const struct packet_file *file);
/* The file's link type as text, for messages. */
const char *packet_file_link(const struct packet_file *file);

/* Whether this is a broadcast or multicast address. */
bool packet_address_is_group(const struct packet_address *address);
/* "10.1.0.7", "fe80::1" or "02:00:00:00:00:01". Returns false for any other text. */
bool packet_address_parse(const char *text, struct packet_address *address);

#define PACKET_ADDRESS_TEXT 48
const char *packet_address_text(
	const struct packet_address *address, char text[PACKET_ADDRESS_TEXT]);

/* Rewrites a captured packet for other hosts, as a host's kernel would send it. */

#define PACKET_IPV4_MAX 65535

/* Writes the IPv4 packet to 'out' with these addresses (host byte order) and correct checksums of
 * IPv4, TCP, UDP and ICMP. Bytes that the capture cut off become zeros. Returns the length, or 0 if
 * the packet is not IPv4, a fragment (whose checksum covers other fragments), or damaged. */
uint32_t packet_rewrite(const struct packet *packet, uint32_t source, uint32_t destination,
	uint8_t out[PACKET_IPV4_MAX]);

/* Maps the addresses in a capture to hosts of a topology: with a file whose lines are ADDRESS HOST
 * (IPv4, IPv6 or MAC; '#' starts a comment), or round robin in order of appearance. */

#define PACKET_MAP_NONE  (-1)
#define PACKET_MAP_GROUP (-2) /* a broadcast or multicast address that the file does not map */

struct packet_map;

/* 'usable' ([hosts]; NULL: all): the hosts for round robin ('path' NULL), or those that the file
 * may name. Returns NULL with errno and error set for a bad file, or if out of memory. The caller
 * keeps topology and 'usable'. */
struct packet_map *packet_map_create(
	const char *path, const struct topology *topology, const bool *usable, struct error *error);
void packet_map_destroy(struct packet_map *map);
/* Maps an address to a host, unless it is already mapped. May return -ENOMEM. */
int packet_map_add(struct packet_map *map, const struct packet_address *address, uint16_t host);

/* Chooses the hosts of a capture's packets. */
struct packet_hosts {
	struct packet_map *map; /* NULL: 'sender' sends all packets */
	uint16_t sender;
	const uint16_t *to; /* the hosts that receive packets to addresses without a host */
	uint32_t to_count;
	struct run_packets_count count;
};

/* Returns 1 if 'from' sends the packet to 'to' or, if 'drawn', to another host of hosts->to; 0 if
 * the packet is counted but not sent. May return -ENOMEM. */
int packet_hosts_choose(struct packet_hosts *hosts, const struct packet *packet, uint16_t *from,
	uint16_t *to, bool *drawn);

/* The packets of a capture as messages of hosts (pattern pcap): sender, size, destination and time.
 * The same for both clocks. The file is read packet by packet; 16 bytes of each packet stay in
 * memory. */

#define RUN_PACKETS_MAX (UINT32_C(1) << 28)

struct run_packets {
	struct traffic_packet *at; /* all packets to send, sorted by host, then by time */
	uint32_t *first;           /* [hosts + 1]: index of each host's first packet */
	struct run_packets_count count;
	weft_time period_ps; /* from a packet to the same packet in the next loop */
	weft_time end_ps;    /* time when the last packet of the last loop is due */
	uint64_t up, down;   /* times of the file are multiplied by up / down */
};

/* Reads the capture of an entry whose 'to' is known, and sets its senders. Returns 0, or a negative
 * errno with error set: a bad file, a packet that no host would send, or no packets at all. */
int run_packets_load(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct run_hosts_entry *entry, struct error *error);
/* The same for hosts that the caller chose. */
int run_packets_read(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct packet_hosts *hosts, struct run_hosts_entry *entry,
	struct error *error);
void run_packets_destroy(struct run_packets *packets);
