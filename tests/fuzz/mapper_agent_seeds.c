/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* mapper_agent_seeds FOLDER: writes what a mapper says to the switch of mapper_agent_fuzz: a probe,
 * an image in two parts, pause, commit, resume, a heartbeat. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper_message.h"
#include "table_image.h"

static struct mapper_message command(enum mapper_type type, uint64_t counter)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = (uint8_t)type;
	message.keyed = true;
	message.sender = 1000;
	message.counter = counter;
	message.target = type == MAPPER_PROBE ? 0 : 77;
	message.target_session = type == MAPPER_PROBE ? 0 : 5;
	message.command =
		(struct mapper_command){.session = 3, .back_length = 1, .back = {ROUTE_TYPE_AGENT}};
	return message;
}

static void put(FILE *out, const struct mapper_message *message)
{
	uint8_t bytes[MAPPER_MESSAGE_MAX];
	unsigned length = mapper_message_encode(message, bytes);

	fputc(1, out);
	fputc((int)(length >> 8), out);
	fputc((int)(length & 0xFF), out);
	fwrite(bytes, 1, length, out);
}

static void put_part(FILE *out, const struct table_image *image, uint32_t offset, uint32_t bytes)
{
	struct mapper_message message = command(MAPPER_TABLE, 2 + offset);

	message.table = (struct mapper_table){
		1, image->length, offset, (uint16_t)bytes, image->bytes + offset};
	put(out, &message);
}

static void put_phase(FILE *out, enum mapper_phase_command what, uint64_t counter)
{
	struct mapper_message message = command(MAPPER_PHASE, counter);

	message.phase = (struct mapper_phase){.epoch = 1, .command = (uint8_t)what};
	put(out, &message);
}

static int make_image(struct table_image *image)
{
	struct topology *topology = topology_create("t", 1, 12);
	struct route_table *table = route_table_create(1, 12);
	int result = -1;

	if (topology != NULL && table != NULL) {
		topology->switch_at[0].ports = 8;
		memset(table->primary, 3, 12);
		result = table_image_of_switch(
			image, &(struct table_image_source){topology, .table = table}, 0);
	}
	route_table_destroy(table);
	if (topology != NULL)
		topology_destroy(topology);
	return result;
}

int main(int argc, char **argv)
{
	struct mapper_message probe = command(MAPPER_PROBE, 1),
			      beat = command(MAPPER_HEARTBEAT, 99);
	struct table_image image;
	char path[4096];
	FILE *out;

	if (argc != 2 || make_image(&image) < 0)
		return 2;
	snprintf(path, sizeof(path), "%s/change", argv[1]);
	out = fopen(path, "wb");
	if (out == NULL) {
		perror(path);
		free(image.bytes);
		return 1;
	}
	put(out, &probe);
	put_part(out, &image, 0, 9);
	put_part(out, &image, 9, image.length - 9);
	put_phase(out, MAPPER_PAUSE, 60);
	put_phase(out, MAPPER_COMMIT, 61);
	put_phase(out, MAPPER_RESUME, 62);
	put(out, &beat);
	free(image.bytes);
	return fclose(out) != 0;
}
