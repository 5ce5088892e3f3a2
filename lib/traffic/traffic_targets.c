/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "traffic_targets.h"

#include <stdlib.h>

int traffic_targets_create(struct traffic_targets **targets, const struct traffic_config *config,
	const uint16_t *list, uint16_t count, const char *what, struct fault *fault)
{
	struct traffic_targets *made = malloc(sizeof(*made) + count * sizeof(made->target[0]));

	if (made == NULL)
		return fault_set(fault, ENOMEM, "no memory for a list of %ss", what);
	made->count = 0;
	for (unsigned i = 0; i < count; i++) {
		if (list[i] >= config->hosts) {
			free(made);
			return fault_set(fault, EINVAL, "%s %u does not exist, there are %u hosts",
				what, list[i], config->hosts);
		}
		if (list[i] != config->host)
			made->target[made->count++] = list[i];
	}
	*targets = made;
	return 0;
}
