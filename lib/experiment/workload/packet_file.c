/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_text.h"
#include "packet_file.h"
#include "wire/big_endian.h"
#include "wire/frame.h"

#define MAC_BYTES  6
#define IPV4_BYTES 20
#define IPV6_BYTES 40

/* Maximum time span. Beyond it, the capture is too long, or its clock jumped. */
#define SPAN_MAX_NS (100ull * 24 * 3600 * 1000000000)
#define BYTES_MAX   (1u << 20)

/* Filters that locate an IP header. */
static const char *const expressions[] = {
	"ip[0] & 240 = 64",
	"ip6[0] & 240 = 96",
	"vlan and ip[0] & 240 = 64",
	"vlan and ip6[0] & 240 = 96",
	"vlan and vlan and ip[0] & 240 = 64",
	"vlan and vlan and ip6[0] & 240 = 96",
};
#define PLACES (sizeof(expressions) / sizeof(expressions[0]))

struct packet_file {
	pcap_t *pcap;
	const char *path;
	uint64_t number; /* number of packets read */
	uint64_t first_ns;
	weft_time at_ps;
	bool ethernet;
	unsigned places;
	struct {
		struct bpf_program filter;
		uint32_t offset; /* start of the IP header */
	} place[PLACES];
};

/* Finds the offset of the byte that the program compares last. Returns false if the offset varies,
 * or no byte is compared. */
static bool find_offset(const struct bpf_program *program, uint32_t *offset)
{
	bool found = false;

	for (unsigned i = 0; i < program->bf_len; i++) {
		const struct bpf_insn *step = &program->bf_insns[i];

		if (BPF_CLASS(step->code) != BPF_LD || BPF_SIZE(step->code) != BPF_B)
			continue;
		found = BPF_MODE(step->code) == BPF_ABS;
		*offset = step->k;
	}
	return found;
}

static void find_places(struct packet_file *file)
{
	for (unsigned i = 0; i < PLACES; i++) {
		struct bpf_program *filter = &file->place[file->places].filter;

		if (pcap_compile(file->pcap, filter, expressions[i], 1, PCAP_NETMASK_UNKNOWN) < 0)
			continue;
		if (find_offset(filter, &file->place[file->places].offset))
			file->places++;
		else
			pcap_freecode(filter);
	}
}

struct packet_file *packet_file_of(FILE *in, const char *path, struct error *error)
{
	struct packet_file *file = calloc(1, sizeof(*file));
	char why[PCAP_ERRBUF_SIZE];

	if (file != NULL)
		file->pcap = pcap_fopen_offline_with_tstamp_precision(
			in, PCAP_TSTAMP_PRECISION_NANO, why);
	if (file == NULL || file->pcap == NULL) {
		errno = -(file == NULL
				  ? error_set(error, ENOMEM, "%s: out of memory", path)
				  : error_set(error, EINVAL, "%s: not a capture: %s", path, why));
		fclose(in);
		free(file);
		return NULL;
	}
	file->path = path;
	file->ethernet = pcap_datalink(file->pcap) == DLT_EN10MB;
	find_places(file);
	return file;
}

struct packet_file *packet_file_open(const char *path, struct error *error)
{
	FILE *in = file_text_open(path, error);

	return in != NULL ? packet_file_of(in, path, error) : NULL;
}

void packet_file_close(struct packet_file *file)
{
	if (file == NULL)
		return;
	for (unsigned i = 0; i < file->places; i++)
		pcap_freecode(&file->place[i].filter);
	pcap_close(file->pcap);
	free(file);
}

bool packet_file_has_addresses(const struct packet_file *file)
{
	return file->ethernet || file->places > 0;
}

const char *packet_file_link(const struct packet_file *file)
{
	const char *name = pcap_datalink_val_to_description(pcap_datalink(file->pcap));

	return name != NULL ? name : "unknown";
}

static struct packet_address make_address(
	enum packet_address_kind kind, const uint8_t *bytes, size_t count)
{
	struct packet_address address = {.kind = (uint8_t)kind};

	memcpy(address.bytes, bytes, count);
	return address;
}

static void find_ip(
	const struct packet_file *file, const struct pcap_pkthdr *header, struct packet *packet)
{
	const uint8_t *ip;
	uint32_t left;

	packet->ip = packet->captured;
	for (unsigned i = 0; i < file->places && packet->ip == packet->captured; i++)
		if (file->place[i].offset < packet->captured &&
			pcap_offline_filter(&file->place[i].filter, header, packet->data) != 0)
			packet->ip = file->place[i].offset;
	left = packet->captured - packet->ip;
	ip = packet->data + packet->ip;
	if (left >= IPV4_BYTES && ip[0] >> 4 == 4) {
		packet->source[0] = make_address(PACKET_ADDRESS_IPV4, ip + 12, 4);
		packet->destination[0] = make_address(PACKET_ADDRESS_IPV4, ip + 16, 4);
	} else if (left >= IPV6_BYTES && ip[0] >> 4 == 6) {
		packet->source[0] = make_address(PACKET_ADDRESS_IPV6, ip + 8, 16);
		packet->destination[0] = make_address(PACKET_ADDRESS_IPV6, ip + 24, 16);
	} else {
		packet->ip = packet->captured;
	}
}

static void find_macs(struct packet *packet)
{
	if (packet->captured < 2 * MAC_BYTES)
		return;
	packet->destination[1] = make_address(PACKET_ADDRESS_MAC, packet->data, MAC_BYTES);
	packet->source[1] = make_address(PACKET_ADDRESS_MAC, packet->data + MAC_BYTES, MAC_BYTES);
}

static int refuse(const struct packet_file *file, struct error *error, const char *what)
{
	return error_set(error, EINVAL, "%s: packet %llu: %s", file->path,
		(unsigned long long)file->number, what);
}

/* libpcap stores nanoseconds in 'tv_usec'. */
static int take_time(struct packet_file *file, const struct timeval *stamp, weft_time *at_ps,
	struct error *error)
{
	uint64_t ns = (uint64_t)stamp->tv_sec * 1000000000u + (uint64_t)stamp->tv_usec;

	if (file->number == 1)
		file->first_ns = ns;
	/* A packet with an earlier time stamp is sent directly after the previous one. */
	if ((int64_t)(ns - file->first_ns) > (int64_t)(file->at_ps / PS_PER_NS)) {
		if (ns - file->first_ns > SPAN_MAX_NS)
			return refuse(file, error, "100 days or more after the first one");
		file->at_ps = (ns - file->first_ns) * PS_PER_NS;
	}
	*at_ps = file->at_ps;
	return 0;
}

static bool is_frame(const struct packet_file *file, const struct packet *packet)
{
	const uint8_t *type = packet->data + 2 * MAC_BYTES;

	return file->ethernet && packet->captured >= 2 * MAC_BYTES + 2 &&
	       (type[0] << 8 | type[1]) == FRAME_ETHERTYPE;
}

int packet_file_next(struct packet_file *file, struct packet *packet, struct error *error)
{
	struct pcap_pkthdr *header;
	const uint8_t *data;
	int read = pcap_next_ex(file->pcap, &header, &data);

	if (read == PCAP_ERROR_BREAK)
		return 0;
	file->number++;
	if (read != 1)
		return refuse(file, error, pcap_geterr(file->pcap));
	*packet = (struct packet){
		.bytes = header->len > header->caplen ? header->len : header->caplen,
		.data = data,
		.captured = header->caplen,
	};
	if (packet->bytes > BYTES_MAX)
		return refuse(file, error, "longer than 1 MiB; the file is damaged");
	if (is_frame(file, packet))
		return refuse(file, error,
			"a frame between Weft's devices; use a capture of host packets, as "
			"written by 'weft capture decap'");
	if (take_time(file, &header->ts, &packet->at_ps, error) < 0)
		return -EINVAL;
	if (file->ethernet)
		find_macs(packet);
	find_ip(file, header, packet);
	return 1;
}

bool packet_address_is_group(const struct packet_address *address)
{
	static const uint8_t broadcast[4] = {255, 255, 255, 255};

	switch (address->kind) {
	case PACKET_ADDRESS_IPV4:
		return address->bytes[0] >> 4 == 14 || memcmp(address->bytes, broadcast, 4) == 0;
	case PACKET_ADDRESS_IPV6:
		return address->bytes[0] == 255;
	case PACKET_ADDRESS_MAC:
		return (address->bytes[0] & 1) != 0;
	default:
		return false;
	}
}

static bool parse_mac(const char *text, uint8_t bytes[MAC_BYTES])
{
	int end = 0;

	return strlen(text) == 3 * MAC_BYTES - 1 &&
	       sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &bytes[0], &bytes[1],
		       &bytes[2], &bytes[3], &bytes[4], &bytes[5], &end) == MAC_BYTES &&
	       end == 3 * MAC_BYTES - 1;
}

bool packet_address_parse(const char *text, struct packet_address *address)
{
	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, address->bytes) == 1)
		address->kind = PACKET_ADDRESS_IPV4;
	else if (parse_mac(text, address->bytes))
		address->kind = PACKET_ADDRESS_MAC;
	else if (inet_pton(AF_INET6, text, address->bytes) == 1)
		address->kind = PACKET_ADDRESS_IPV6;
	return address->kind != PACKET_ADDRESS_NONE;
}

const char *packet_address_text(
	const struct packet_address *address, char text[PACKET_ADDRESS_TEXT])
{
	const uint8_t *byte = address->bytes;

	snprintf(text, PACKET_ADDRESS_TEXT, "none");
	if (address->kind == PACKET_ADDRESS_MAC)
		snprintf(text, PACKET_ADDRESS_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", byte[0],
			byte[1], byte[2], byte[3], byte[4], byte[5]);
	else if (address->kind != PACKET_ADDRESS_NONE)
		inet_ntop(address->kind == PACKET_ADDRESS_IPV4 ? AF_INET : AF_INET6, byte, text,
			PACKET_ADDRESS_TEXT);
	return text;
}

#define IPV4_MIN      20
#define FRAGMENT_BITS 0x3fff /* 'more fragments' bit, and fragment offset */

/* Position of a protocol's checksum, and the bytes that it covers. */
static const struct protocol {
	uint8_t number, at, header;
	bool addresses; /* it covers the pseudo-header */
	bool optional;  /* a checksum of 0 means that there is none */
} protocols[] = {
	{IPPROTO_TCP, 16, 20, true, false},
	{IPPROTO_UDP, 6, 8, true, true},
	{IPPROTO_ICMP, 2, 8, false, false},
};

static uint32_t sum_of(const uint8_t *bytes, uint32_t count)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i + 1 < count; i += 2)
		sum += get16(bytes + i);
	return count % 2 == 0 ? sum : sum + ((uint32_t)bytes[count - 1] << 8);
}

static uint16_t folded(uint32_t sum)
{
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static void write_checksum(
	const struct protocol *protocol, uint8_t *ip, uint32_t header, uint32_t bytes)
{
	uint8_t *body = ip + header, *at = body + protocol->at;
	uint32_t count = bytes - header, sum;
	uint16_t checksum;

	if (count < protocol->header || (protocol->optional && get16(at) == 0))
		return;
	put16(at, 0);
	sum = sum_of(body, count);
	if (protocol->addresses)
		sum += sum_of(ip + 12, 8) + protocol->number + count;
	checksum = folded(sum);
	put16(at, protocol->optional && checksum == 0 ? 0xffff : checksum);
}

uint32_t packet_rewrite(const struct packet *packet, uint32_t source, uint32_t destination,
	uint8_t out[PACKET_IPV4_MAX])
{
	const uint8_t *ip = packet->data + packet->ip;
	uint32_t there = packet->captured - packet->ip, header, bytes;

	if (packet->source[0].kind != PACKET_ADDRESS_IPV4 || there < IPV4_MIN)
		return 0;
	header = (uint32_t)(ip[0] & 15) * 4;
	bytes = get16(ip + 2);
	if (header < IPV4_MIN || header > there || header > bytes ||
		(get16(ip + 6) & FRAGMENT_BITS) != 0)
		return 0;
	there = there < bytes ? there : bytes;
	memcpy(out, ip, there);
	memset(out + there, 0, bytes - there);
	put32(out + 12, source);
	put32(out + 16, destination);
	put16(out + 10, 0);
	put16(out + 10, folded(sum_of(out, header)));
	for (unsigned i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (protocols[i].number == out[9])
			write_checksum(&protocols[i], out, header, bytes);
	return bytes;
}
