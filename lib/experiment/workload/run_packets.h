/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The packets of a capture as messages of hosts (pattern pcap): sender, size, destination and time.
 * The same for both clocks. The file is read packet by packet; 16 bytes of each packet stay in
 * memory. */

#include "packet_file.h"
#include "run_hosts.h"
#include "traffic/traffic.h"

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
