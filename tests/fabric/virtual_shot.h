/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* A run on the virtual clock with a capture for tests. */

#include <unistd.h>

#include "audit/audit.h"
#include "measure/audit_run.h"
#include "virtual/virtual_capture.h"
#include "virtual_lab.h"

/* A run, its capture and its rules. */
struct virtual_shot {
	struct virtual_lab lab;
	struct audit_run rules;
	uint8_t *bytes;
	size_t length;
	bool *captured; /* [way]: all */
};

static inline uint8_t *virtual_shot_read(const char *path, size_t *length)
{
	FILE *in = fopen(path, "r");
	uint8_t *bytes;

	assert_non_null(in);
	fseek(in, 0, SEEK_END);
	*length = (size_t)ftell(in);
	rewind(in);
	bytes = malloc(*length + 1);
	assert_int_equal(fread(bytes, 1, *length, in), *length);
	fclose(in);
	return bytes;
}

static inline void virtual_shot_capture(struct virtual_shot *shot)
{
	char path[] = "/tmp/weft-audit-XXXXXX";
	struct virtual_capture *capture;
	struct error error = {""};

	close(mkstemp(path));
	capture = virtual_capture_create(shot->lab.fabric, 0, NULL, &error);
	assert_non_null(capture);
	assert_int_equal(virtual_capture_add(capture, "all", path, &error), 0);
	assert_int_equal(virtual_fabric_run(shot->lab.fabric, NULL, NULL, NULL, &error), 0);
	assert_int_equal(virtual_capture_end(capture, &error), 0);
	virtual_capture_destroy(capture);
	shot->bytes = virtual_shot_read(path, &shot->length);
	unlink(path);
}

/* Runs 'lab', which is open. */
static inline void virtual_shot_take(struct virtual_shot *shot)
{
	struct error error = {""};

	virtual_shot_capture(shot);
	if (audit_run_open(&shot->rules, shot->lab.topology, shot->lab.config, true, &error) != 0)
		fail_msg("%s", error.text);
	shot->rules.rules.exact = true;
	shot->captured = malloc(2 * shot->lab.topology->links);
	memset(shot->captured, true, 2 * shot->lab.topology->links);
}

static inline void virtual_shot_close(struct virtual_shot *shot)
{
	audit_run_close(&shot->rules);
	virtual_lab_close(&shot->lab);
	free(shot->bytes);
	free(shot->captured);
}

/* Calls 'add' with each frame of the shot's capture, in order of time. */
static inline void virtual_shot_feed(const struct virtual_shot *shot, const uint8_t *bytes,
	size_t length, void (*add)(void *ctx, const struct audit_frame_at *frame), void *ctx)
{
	struct capture_reader reader;
	struct capture_ordered next;
	struct capture_order *order;
	struct error error = {""};

	if (capture_reader_open(&reader, "test", bytes, length, &error) != 0)
		fail_msg("%s", error.text);
	order = capture_order_create(&reader, 1, false);
	while (capture_order_next(order, &next) > 0) {
		struct audit_frame_at frame;
		struct topology_port port;

		assert_int_equal(topology_find_port(shot->lab.topology,
					 reader.interface[next.packet.interface].name, &port),
			0);
		frame = audit_frame_of(&next, topology_way_at(shot->lab.topology, port));
		add(ctx, &frame);
	}
	capture_order_destroy(order);
	capture_reader_close(&reader);
}
