/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * Commands to devices that the mapper knows: by the way that its map has, with the way back for the
 * answer (docs/mapper.md, 'Messages'). Probes, which go to whoever is behind a port, are
 * discovery's.
 */

#include "fabric_map.h"
#include "mapper_frame.h"

/* Builds a command to device 'to' of the map, which is present. The caller has filled the message
 * but for receiver, way back, and what mapper_frame_build() fills: type, the mapper's priority and
 * session, and what belongs to the type. It leaves by port 0, or to the agent beside the mapper. */
void map_command_build(const struct fabric_map *map, uint32_t to, struct mapper_speaker *speaker,
	struct mapper_message *message, struct mapper_frame *frame);
