/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* Reads the packets of a capture (pcap or pcapng) in order with libpcap: their times, lengths and
 * addresses. Memory use does not depend on the file's size. libpcap's filter compiler locates the
 * IP header, so a link type is supported if libpcap compiles a filter for it with a constant
 * offset. Used before a run starts and by commands, never per frame. */

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
	PACKET_ADDRESS_NONE, /* the packet has no address */
	PACKET_ADDRESS_IPV4,
	PACKET_ADDRESS_IPV6,
	PACKET_ADDRESS_MAC,
};

/* Unused bytes are 0, so addresses can be compared as bytes. */
struct packet_address {
	uint8_t kind, bytes[16];
};

struct packet {
	weft_time at_ps;     /* since the file's first packet, in whole ns, never decreasing */
	uint32_t bytes;      /* length on the medium, as recorded in the capture */
	const uint8_t *data; /* captured bytes, valid until the next packet is read */
	uint32_t captured;   /* number of captured bytes */
	uint32_t ip;         /* offset of the IP header; 'captured' if there is none */
	struct packet_address source[2],
		destination[2]; /* [0]: IP address, [1]: Ethernet address */
};

struct packet_file;

/* Opens a capture. Returns NULL with errno and error set if the file is missing or not a capture.
 */
struct packet_file *packet_file_open(const char *path, struct error *error);
/* Like packet_file_open(), for an open stream. The stream is closed together with the packet file,
 * or on failure. 'path' is used in messages and remains the caller's. */
struct packet_file *packet_file_of(FILE *in, const char *path, struct error *error);
void packet_file_close(struct packet_file *file);

/* Reads the next packet. Returns 1, 0 at the end of the file, or -EINVAL with error set if the file
 * is damaged or the packet is a Weft frame. */
int packet_file_next(struct packet_file *file, struct packet *packet, struct error *error);

/* Returns true if packets of this link type can have IP or Ethernet addresses. */
bool packet_file_has_addresses(const struct packet_file *file);
/* Returns the name of the file's link type, for messages. */
const char *packet_file_link(const struct packet_file *file);

/* Returns true for a broadcast or multicast address. */
bool packet_address_is_group(const struct packet_address *address);
/* Parses "10.1.0.7", "fe80::1" or "02:00:00:00:00:01". Returns false for any other text. */
bool packet_address_parse(const char *text, struct packet_address *address);

#define PACKET_ADDRESS_TEXT 48
const char *packet_address_text(
	const struct packet_address *address, char text[PACKET_ADDRESS_TEXT]);

/* Rewrites a captured packet for different hosts, as a host's kernel would send it. */

#define PACKET_IPV4_MAX 65535

/* Writes the IPv4 packet to 'out' with these addresses (host byte order) and correct checksums of
 * IPv4, TCP, UDP and ICMP. Bytes missing from the capture become zeros. Returns the length, or 0 if
 * the packet is not IPv4, is damaged, or is a fragment (its checksum covers other fragments). */
uint32_t packet_rewrite(const struct packet *packet, uint32_t source, uint32_t destination,
	uint8_t out[PACKET_IPV4_MAX]);

/* Maps the addresses in a capture to hosts of a topology. The map is a file with lines ADDRESS HOST
 * (IPv4, IPv6 or MAC; '#' starts a comment), or round robin in order of appearance. */

#define PACKET_MAP_NONE  (-1)
#define PACKET_MAP_GROUP (-2) /* a broadcast or multicast address that is not in the file */

struct packet_map;

/* 'usable' ([hosts]; NULL: all) marks the hosts that the file may name, or those for round robin
 * ('path' NULL). Topology and 'usable' are borrowed. Returns NULL with errno and error set for an
 * invalid file, or if out of memory. */
struct packet_map *packet_map_create(
	const char *path, const struct topology *topology, const bool *usable, struct error *error);
void packet_map_destroy(struct packet_map *map);
/* Maps an address to a host, unless the address is already mapped. Returns 0 or -ENOMEM. */
int packet_map_add(struct packet_map *map, const struct packet_address *address, uint16_t host);

/* Assigns hosts to the packets of a capture. */
struct packet_hosts {
	struct packet_map *map; /* NULL: 'sender' sends all packets */
	uint16_t sender;
	const uint16_t *to; /* hosts that receive the packets whose destination is not mapped */
	uint32_t to_count;
	struct run_packets_count count;
};

/* Sets the hosts of a packet. If 'drawn' is set, the destination is to be drawn from hosts->to, and
 * 'to' is undefined. Returns 1, 0 if the packet is counted but not sent, or -ENOMEM. */
int packet_hosts_choose(struct packet_hosts *hosts, const struct packet *packet, uint16_t *from,
	uint16_t *to, bool *drawn);

/* The packets of a capture as messages of hosts (pattern pcap): sender, size, destination and time.
 * Used on both clocks. The file is read packet by packet; 16 bytes per packet stay in memory. */

#define RUN_PACKETS_MAX (UINT32_C(1) << 28)

struct run_packets {
	struct traffic_packet *at; /* all packets to send, sorted by host, then by time */
	uint32_t *first;           /* [hosts + 1]: index of each host's first packet */
	struct run_packets_count count;
	weft_time period_ps; /* time from a packet to its repetition in the next loop */
	weft_time end_ps;    /* due time of the last packet of the last loop */
	uint64_t up, down;   /* times in the file are multiplied by up / down */
};

/* Reads the capture of an entry whose 'to' is resolved, and sets its senders. Returns 0, or a
 * negative errno with error set: a bad file, a packet that no host would send, or no packets. */
int run_packets_load(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct run_hosts_entry *entry, struct error *error);
/* Like run_packets_load(), for hosts that the caller has chosen. */
int run_packets_read(const struct run_config *run, const struct run_config_traffic *traffic,
	const struct topology *topology, struct packet_hosts *hosts, struct run_hosts_entry *entry,
	struct error *error);
void run_packets_destroy(struct run_packets *packets);
