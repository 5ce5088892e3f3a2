/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The input of 'weft audit': the rules of a run, a lab, or a topology with routes,
 * and the captures themselves, each interface with its port. */

#include "audit_run.h"
#include "capture_order.h"
#include "commands.h"
#include "lab.h"
#include "route_file.h"

#define AUDIT_SETS_MAX 64

struct audit_request {
	const char *const *file;
	uint32_t files;
	const char *run, *lab, *topology, *routes; /* NULL: not given */
	const char *set[AUDIT_SETS_MAX];           /* of the run file */
	unsigned sets;
	bool partial;
};

/* An interface of a capture. */
struct audit_interface {
	uint32_t way; /* UINT32_MAX: a wire, whose frames name their ports by their addresses */
};

struct audit_capture {
	void *map;
	size_t bytes;
	struct audit_interface *interface;
};

struct audit_subject {
	struct run_config *run; /* of 'run' */
	struct lab lab;
	bool has_lab;
	struct topology *own; /* NULL: the lab's */
	const struct topology *topology;
	struct route_file route_file;
	struct audit_run rules;
	struct capture_reader *reader;
	struct audit_capture *capture;
	uint32_t files;
	bool *captured; /* [way]: all frames of the port */
	bool *wired;    /* [way]: frames of this direction were captured on the wire */
	bool virtual;   /* the clock */
};

/* 0, or -errno and fault; audit_subject_close() in either case. */
int audit_subject_open(
	struct audit_subject *subject, const struct audit_request *request, struct fault *fault);
void audit_subject_close(struct audit_subject *subject);

/* The way on which a wire's frame was sent, from its source address. UINT32_MAX: no port of this
 * topology. */
uint32_t audit_subject_sender(
	const struct audit_subject *subject, const struct capture_packet *packet);
