/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The input of 'weft audit' and 'weft why': the rules of a run, a lab, or a topology with routes;
 * and the captures, whose interfaces are assigned to ports. */

#include "audit/audit.h"
#include "common/commands.h"
#include "experiment/lab/lab.h"
#include "measure/audit_run.h"
#include "route/formats/route_file.h"

#define AUDIT_SETS_MAX 64

struct audit_request {
	const char *const *file;
	uint32_t files;
	const char *run, *lab, *topology, *routes; /* NULL: not given */
	const char *set[AUDIT_SETS_MAX];           /* --set options of the run file */
	unsigned sets;
	bool partial;
};

/* The options shared by both commands, whose request has such a member. */
#define AUDIT_REQUEST_OPTIONS(type, audit)                                         \
	{"run", 0, OPTION_TEXT(type, audit.run)},                                  \
		{"set", 0, OPTION_MEMBER(type, audit), .take = audit_request_set}, \
		{"lab", 0, OPTION_TEXT(type, audit.lab)},                          \
		{"topology", 0, OPTION_TEXT(type, audit.topology)},                \
	{                                                                          \
		"routes", 0, OPTION_TEXT(type, audit.routes)                       \
	}
bool audit_request_set(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX]);
/* Returns EXIT_DONE, or EXIT_BAD_REQUEST after an error: files or rules are missing or conflict. */
int audit_request_check(const struct audit_request *request, const char *command);

/* An interface of a capture. */
struct audit_interface {
	uint32_t way; /* direction of the port; UINT32_MAX: a wire, whose ports are in the frames */
	char *lack;   /* why frames are missing; NULL: the file shows no missing frames */
};

struct audit_capture {
	void *map;
	size_t bytes;
	struct audit_interface *interface;
};

/* Maps and checks a file. The caller closes the reader and unmaps the file, even after an error.
 * Returns 0, or -errno with error set. */
int audit_capture_open(struct audit_capture *capture, const char *path,
	struct capture_reader *reader, struct error *error);

struct audit_subject {
	struct run_config *run; /* from the run file */
	struct lab lab;
	bool has_lab;
	uint16_t fabric;      /* fabric number in addresses; 0: unknown */
	struct topology *own; /* NULL: the lab's */
	const struct topology *topology;
	struct route_file route_file;
	struct audit_run rules;
	struct capture_reader *reader;
	struct audit_capture *capture;
	uint32_t files;
	bool *captured;         /* [way]: all frames of the port were captured */
	uint8_t *wired;         /* [way]: kinds of frames captured on the wire in this direction */
	const char **part;      /* [way]: why only some frames were captured, or NULL */
	bool cut;               /* payloads of data frames were truncated in the capture */
	const char *ends_first; /* file that ends first, which ends the audit; NULL: none */
	bool virtual;           /* the captures are from the virtual clock */
};

/* Returns 0, or -errno with error set. Call audit_subject_close() in either case. */
int audit_subject_open(
	struct audit_subject *subject, const struct audit_request *request, struct error *error);
void audit_subject_close(struct audit_subject *subject);

/* Calls 'add' with each frame in time order. A frame on a wire is reported as leaving one port and
 * arriving at the other. Returns 0, the first negative result, or -ENOMEM. */
typedef int audit_subject_fn(void *ctx, const struct audit_frame_at *frame);
int audit_subject_read(struct audit_subject *subject, audit_subject_fn *add, void *ctx);

/* Assigns the interfaces of captures to ports. Checks whether the files contain all frames of these
 * ports and come from this fabric. */

#define AUDIT_NO_WAY   UINT32_MAX
#define AUDIT_WAY_NAME (TOPOLOGY_NAME_MAX + 8)

/* Writes and returns the name of the port that sends in this direction. */
const char *audit_way_name(
	const struct topology *topology, uint32_t way, char text[AUDIT_WAY_NAME]);

/* Returns the direction in which a frame was sent, from its source address. AUDIT_NO_WAY if no port
 * of this topology has this address. */
uint32_t audit_sender_of(const struct topology *topology, const struct capture_packet *packet);

/* Sets the subject's interfaces, 'captured', 'wired', 'part' and 'cut'. 'owner' has one entry per
 * direction and must be zeroed. Returns 0, or -errno with error set: a port is in two files, or the
 * captures are from a different fabric. */
int audit_ports_find(struct audit_subject *subject, uint32_t *owner, struct error *error);

/* Returns the number of ports that lack frames and the first reason, as allocated text, or NULL. */
char *audit_ports_missing(const struct audit_subject *subject);
