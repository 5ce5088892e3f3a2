/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* mapper_agent_seeds FOLDER: writes the messages of a mapper to the switch and the host of
 * mapper_agent_fuzz: a probe, an image in two parts, pause, commit, resume, a heartbeat, and a
 * request for the image. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_record.h"
#include "mapper/table_image.h"
#include "seed_file.h"
#include "wire/mapper_message.h"

#define HOSTS 12

static struct mapper_message command(enum mapper_type type, uint64_t target, uint64_t counter)
{
	struct mapper_message message;

	memset(&message, 0, sizeof(message));
	message.type = (uint8_t)type;
	message.keyed = true;
	message.sender = 1000;
	message.counter = counter;
	message.target = type == MAPPER_PROBE ? 0 : target;
	message.target_session = type == MAPPER_PROBE ? 0 : 5;
	message.command =
		(struct mapper_command){.session = 3, .back_length = 1, .back = {ROUTE_TYPE_AGENT}};
	return message;
}

static void put(FILE *out, const struct mapper_message *message)
{
	uint8_t bytes[MAPPER_MESSAGE_MAX];

	fuzz_record_write(out, 1, bytes, mapper_message_encode(message, bytes));
}

static void put_part(FILE *out, uint64_t target, const struct table_image *image, uint32_t offset,
	uint32_t bytes)
{
	struct mapper_message message = command(MAPPER_TABLE, target, 2 + offset);

	message.table = (struct mapper_table){
		1, image->length, offset, (uint16_t)bytes, image->bytes + offset};
	put(out, &message);
}

static void put_phase(FILE *out, uint64_t target, enum mapper_phase_command what, uint64_t counter)
{
	struct mapper_message message = command(MAPPER_PHASE, target, counter);

	message.phase = (struct mapper_phase){.epoch = 1, .command = (uint8_t)what};
	put(out, &message);
}

static void put_change(FILE *out, uint64_t target, const struct table_image *image)
{
	struct mapper_message probe = command(MAPPER_PROBE, target, 1),
			      beat = command(MAPPER_HEARTBEAT, target, 900),
			      read = command(MAPPER_READ, target, 901);

	read.read = (struct mapper_read){4, 100};
	put(out, &probe);
	put_part(out, target, image, 0, 9);
	put_part(out, target, image, 9, image->length - 9);
	put_phase(out, target, MAPPER_PAUSE, 800);
	put_phase(out, target, MAPPER_COMMIT, 801);
	put_phase(out, target, MAPPER_RESUME, 802);
	put(out, &beat);
	put(out, &read);
}

/* A route to each host from 6 on, all destinations behind port 3, and a scheme with four leaves. */
static int fill(struct table_image_source *source, uint32_t *leaf, struct queuing *queuing)
{
	struct topology *topology = topology_create("t", 1, HOSTS);
	struct route_table *table = route_table_create(1, HOSTS);
	struct route_set *set = route_set_create(HOSTS);
	int result = topology == NULL || table == NULL || set == NULL ? -ENOMEM : 0;

	*source = (struct table_image_source){topology, set, table, queuing};
	for (uint32_t to = 0; to < HOSTS && result == 0; to++) {
		const uint8_t route[] = {(uint8_t)(ROUTE_PORT_BIT | to % 8), ROUTE_TYPE_HOST};

		leaf[to] = to / 3;
		table->primary[to] = 3;
		if (to > 5)
			result = route_set_add(set, 1, to, route, sizeof(route));
		if (result == 0 && to > 5)
			result = route_set_mark_parts(set, 1, to, 0, 1);
	}
	if (topology != NULL)
		topology->switch_at[0].ports = 8;
	return result;
}

static int write_seed(
	const char *folder, const char *name, uint64_t target, const struct table_image *image)
{
	FILE *out = seed_open(folder, name);

	if (out == NULL)
		return 1;
	put_change(out, target, image);
	return fclose(out) != 0;
}

static int write_seeds(const char *folder, const struct table_image_source *source)
{
	struct table_image_source of_switch = *source, of_host = *source;
	struct table_image image;
	int result;

	of_switch.set = NULL;
	of_host.table = NULL;
	if (table_image_of_switch(&image, &of_switch, 0) < 0)
		return 2;
	result = write_seed(folder, "switch", 77, &image);
	free(image.bytes);
	if (result != 0 || table_image_of_host(&image, &of_host, 1) < 0)
		return 2;
	result = write_seed(folder, "host", 78, &image);
	free(image.bytes);
	return result;
}

static void empty(const struct table_image_source *source)
{
	route_set_destroy((struct route_set *)(uintptr_t)source->set);
	route_table_destroy((struct route_table *)(uintptr_t)source->table);
	if (source->topology != NULL)
		topology_destroy((struct topology *)(uintptr_t)source->topology);
}

int main(int argc, char **argv)
{
	uint32_t leaf[HOSTS];
	struct queuing queuing = {&queuing_vftree, 3, HOSTS, 4, leaf};
	struct table_image_source source;
	int result;

	if (argc != 2)
		return 2;
	result = fill(&source, leaf, &queuing) < 0 ? 2 : write_seeds(argv[1], &source);
	empty(&source);
	return result;
}
