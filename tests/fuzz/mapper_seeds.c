/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* mapper_seeds FOLDER: writes a good message of each type, in the form that mapper_message_fuzz
 * expects. */

#include <stdio.h>

#include "../unit/mapper/mapper_samples.h"
#include "seed_file.h"

static int write_seed(const char *folder, enum mapper_type type, struct rng *rng)
{
	struct mapper_message message = sample_message(type, rng);
	uint8_t bytes[1 + MAPPER_MESSAGE_MAX] = {0};
	unsigned length = mapper_message_encode(&message, bytes + 1);
	char name[8];
	FILE *out;

	snprintf(name, sizeof(name), "%u", (unsigned)type);
	out = seed_open(folder, name);
	if (out == NULL)
		return 1;
	fwrite(bytes, 1, 1 + length, out);
	return fclose(out) != 0;
}

int main(int argc, char **argv)
{
	struct rng rng;

	if (argc != 2)
		return 2;
	rng_init(&rng, 1, 0, 0);
	for (unsigned type = 1; type < MAPPER_TYPE_COUNT; type++)
		if (write_seed(argv[1], type, &rng) != 0)
			return 1;
	return 0;
}
