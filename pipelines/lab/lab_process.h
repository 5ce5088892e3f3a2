/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A process of a lab: weft-switch or weft-nic runs its part of a lab file's fabric, weft-fabric all
 * of it, until SIGINT or SIGTERM. 'weft lab run', 'capture' and 'status' control it by telemetry.
 */

#include <stdbool.h>

#include "fault.h"
#include "lab_trust.h"

#define LAB_PROCESS_DEVICES_MAX 4096

struct lab_process_options {
	const char *program; /* for messages */
	const char *lab_file;
	const char *run_dir;                         /* NULL: /run/weft/NAME */
	const char *device[LAB_PROCESS_DEVICES_MAX]; /* names of switches or hosts */
	unsigned devices;
	enum lab_role role; /* WHOLE: no device is named, all are meant */
	/* Override the file's keys of the mapper; NULL: do not. */
	const char *mapper; /* auto, always, never: for the hosts of this process */
	const char *expect; /* a topology: generator text or path */
	const char *key;    /* path of the fabric key */
	unsigned lcores;    /* 0: 1, of a whole lab one for each CPU */
	bool calibrates;    /* WHOLE: prints the dilation that 'auto' chooses, and ends */
	struct lab_trust trust;
	/* Of main(). EAL gets the arguments before "--". */
	int argc;
	char **argv;
};

/* The program's own options include '--lab'. */
bool lab_process_asked_for(int argc, char **argv);
/* Exits for --help (0) and for errors (2). 'argv' must outlive 'options'. */
void lab_process_parse(
	struct lab_process_options *options, enum lab_role role, int argc, char **argv);

/* Starts EAL, runs, stops EAL. Prints errors; returns the exit code. */
enum weft_exit lab_process_main(const struct lab_process_options *options);
