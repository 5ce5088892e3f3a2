/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft capture decap: extracts the packets of TAPs. */

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "audit_subject.h"
#include "capture/decap.h"
#include "capture/pcapng.h"
#include "common/output_file.h"

#define COMMAND "capture decap"

static const char usage[] =
	"usage: weft capture decap IN [-o OUT]\n"
	"\n"
	"Extracts the IPv4 packets that the frames of a capture carry for TAPs, and\n"
	"writes them as pcapng for tcpdump, tshark and Wireshark, once per port and\n"
	"direction where they were captured. Packets that an interface split are\n"
	"reassembled, and have the time of the frame that completes them.\n"
	"  -o, --output FILE  writes to FILE instead of standard output\n"
	"Exit: 0 success, 2 invalid request or file, 3 not possible on this machine.\n";

static int write_interfaces(const struct capture_reader *reader, struct pcapng *pcapng)
{
	int result = 0;

	for (uint32_t i = 0; i < reader->interfaces && result >= 0; i++)
		result = pcapng_add_interface(pcapng,
			reader->interface[i].name[0] != '\0' ? reader->interface[i].name : "link",
			UINT16_MAX, 0);
	return result < 0 ? result : 0;
}

/* A switch records each frame that it discards a second time, with a comment and without a
 * direction. */
static bool is_discard(const struct capture_packet *packet)
{
	return packet->direction == CAPTURE_BOTH && packet->comment != NULL;
}

/* Returns 0, -ENOMEM, or the error from writing. */
static int write_packets(struct capture_reader *reader, struct decap *decap, struct pcapng *pcapng)
{
	struct capture_packet packet;
	struct decap_packet found;
	int result = 0;

	while (result == 0 && capture_reader_next(reader, &packet)) {
		const struct decap_frame frame = {packet.bytes, packet.captured_bytes,
			packet.frame_bytes, packet.interface, (uint8_t)packet.direction};

		if (is_discard(&packet))
			continue;
		result = decap_add(decap, &frame, &found);
		if (result > 0)
			result = pcapng_write_packet(pcapng,
				&(struct pcapng_packet){.interface = packet.interface,
					.direction = (enum pcapng_direction)packet.direction,
					.time_ns = packet.time_ns,
					.bytes = found.bytes,
					.captured_bytes = found.captured_bytes,
					.frame_bytes = found.packet_bytes});
	}
	return result;
}

static void report(const struct decap_counts *counts)
{
	fprintf(stderr,
		"weft " COMMAND ": %" PRIu64 " packets from %" PRIu64 " frames; %" PRIu64
		" frames without a packet; %" PRIu64 " incomplete packets\n",
		counts->packets, counts->frames, counts->other, counts->incomplete);
}

static int decapsulate(struct capture_reader *reader, struct decap *decap, struct output_file *out)
{
	struct decap_counts counts;
	struct pcapng pcapng;
	int result = output_file_open(out);

	if (result != EXIT_DONE)
		return result;
	result = pcapng_begin(&pcapng, pcapng_write_stdio, out->file, "weft " WEFT_VERSION);
	pcapng.linktype = PCAPNG_IPV4;
	if (result == 0)
		result = write_interfaces(reader, &pcapng);
	if (result == 0)
		result = write_packets(reader, decap, &pcapng);
	if (result < 0) {
		output_file_discard(out);
		return command_fail(COMMAND, EXIT_NOT_ABLE, "%s", strerror(-result));
	}
	counts = decap_end(decap);
	result = output_file_close(out);
	if (result == EXIT_DONE)
		report(&counts);
	return result;
}

static int run(const char *path, struct output_file *out)
{
	struct audit_capture capture = {.map = NULL};
	struct capture_reader reader = {.path = path};
	struct decap *decap = decap_create();
	struct error error;
	int result = audit_capture_open(&capture, path, &reader, &error);

	if (result < 0)
		result = (int)command_error(COMMAND, result, &error);
	else if (decap == NULL)
		result = command_fail(COMMAND, EXIT_NOT_ABLE, "out of memory");
	else
		result = decapsulate(&reader, decap, out);
	decap_destroy(decap);
	capture_reader_close(&reader);
	if (capture.map != NULL)
		munmap(capture.map, capture.bytes);
	return result;
}

int cmd_capture(int argc, char **argv)
{
	static const struct command_option options[] = {
		COMMAND_OUTPUT(struct output_file, path), {NULL}};
	struct output_file out = {.command = COMMAND};
	int result;

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	if (argc < 2 || strcmp(argv[1], "decap") != 0) {
		fputs(usage, stderr);
		return EXIT_BAD_REQUEST;
	}
	argc--;
	argv++;
	result = command_options(COMMAND, options, &out, &argc, &argv);
	if (result != EXIT_DONE)
		return result;
	if (argc != 1)
		return command_fail(COMMAND, EXIT_BAD_REQUEST, "exactly one capture is required");
	out.inputs[0] = argv[0];
	return run(argv[0], &out);
}
