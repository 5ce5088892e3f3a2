/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The command line of weft-switch, without EAL's part. */

#include <stdbool.h>
#include <stdint.h>

#include "poll_yield.h"
#include "weft_time.h"

#define SWITCH_OPTIONS_PCAPS 16

struct adaptive_mode;

struct switch_options {
	const char *name;
	uint8_t vcs;
	uint32_t buffer_bytes; /* per input port */
	bool voq;
	const char *table;    /* a file, or "modulo:HOSTS"; NULL: source routes only */
	const char *topology; /* generator text or file: 'table' is a route file; NULL: it is not */
	const struct adaptive_mode *adaptive; /* standalone.h; NULL: not adaptive */
	uint64_t open_ports;                  /* set: peers that do not speak Weft's credits */
	uint32_t mtu_bytes;                   /* payload of a frame */
	uint16_t descriptors;
	weft_time hello_ps, watchdog_ps; /* WEFT_TIME_NEVER: no watchdog */
	weft_time duration_ps;           /* WEFT_TIME_NEVER: until a signal */
	uint64_t frames;                 /* UINT64_MAX: no limit */
	uint32_t seed_frames, frame_bytes;
	enum poll_yield_mode yield;
	unsigned lcores;        /* cores that the ports are divided among */
	const char *lcore_cpus; /* their CPUs, as EAL's -l has them; NULL: not said here */
	bool profile, json;
	bool sandbox;                           /* sandbox.h */
	const char *pcap[SWITCH_OPTIONS_PCAPS]; /* "PORT=FILE" */
	unsigned pcaps;
};

/* 'argc', 'argv': of main(). Exits for --help and --version (0) and for errors (2, one line on
 * standard error). */
void switch_options_parse(struct switch_options *options, int argc, char **argv);
