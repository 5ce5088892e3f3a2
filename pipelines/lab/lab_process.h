/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/*
 * A process of a lab: the part of a lab file's fabric that weft-switch or weft-nic was told to run,
 * from opening the file to its orderly end. It serves until SIGINT or SIGTERM; everything else
 * ('weft lab run', 'capture', 'status') comes by telemetry.
 */

#include <stdbool.h>

#include "fault.h"

#define LAB_PROCESS_DEVICES_MAX 4096

struct lab_process_options {
	const char *program; /* for messages */
	const char *lab_file;
	const char *run_dir;                         /* NULL: /run/weft/NAME */
	const char *device[LAB_PROCESS_DEVICES_MAX]; /* names of switches or hosts */
	unsigned devices;
	bool nics; /* they are hosts */
	/* In place of what the file says of the mapper; NULL: as it says. */
	const char *mapper; /* auto, always, never: of the hosts of this process */
	const char *expect; /* a topology: a generator's text or a file */
	const char *key;    /* path of the fabric key */
	unsigned lcores;    /* 0: 1 */
	/* Of main(): what stands before "--" goes to EAL. */
	int argc;
	char **argv;
};

/* The command line has '--lab' among our options. */
bool lab_process_asked_for(int argc, char **argv);
/* Ends the program for --help (0) and for what is wrong (2). 'argv' outlives 'options'. */
void lab_process_parse(
	struct lab_process_options *options, const char *program, bool nics, int argc, char **argv);

/* Starts EAL, runs, stops EAL. Prints what is wrong; returns the exit code. */
enum weft_exit lab_process_main(const struct lab_process_options *options);
