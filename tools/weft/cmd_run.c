/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft run: an experiment from a run file. It is weft-fabric that runs it; what can be said without
 * running (--explain, a bad file) is said here. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "run_config.h"
#include "sibling.h"

static const char usage[] =
	"usage: weft run RUN.yaml [--set KEY=VALUE]... [--json FILE] [--csv FILE]\n"
	"                         [--pcap PORT=FILE]... [--snaplen BYTES] [--lcores N] [--quiet]\n"
	"                         [--clock real|virtual]\n"
	"       weft run --explain RUN.yaml [--set KEY=VALUE]...\n"
	"\n"
	"Runs a fabric in one process and prints what was measured. FILE '-' is standard output.\n"
	"  --set KEY=VALUE   change a key of the run file: switch.buffer=64KiB, traffic[0].load=40%\n"
	"  --clock CLOCK     real or virtual, whatever the file says\n"
	"  --pcap PORT=FILE  capture a port such as s0:1, or all, into a pcapng file\n"
	"  --explain         print the whole configuration, every default included, and do not run\n"
	"Exit: 0 done, 1 something was lost, duplicated or out of order, 2 bad request, 3 not able.\n";

static int explain(int argc, char **argv)
{
	const char *set[64], *file = NULL;
	struct run_config *config;
	struct fault fault;
	unsigned sets = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--explain") == 0)
			continue;
		if (strcmp(argv[i], "--set") == 0 && i + 1 < argc && sets < 64)
			set[sets++] = argv[++i];
		else if (argv[i][0] != '-' && file == NULL)
			file = argv[i];
		else
			return command_fail(
				"run", EXIT_BAD_REQUEST, "--explain: what is '%s'?", argv[i]);
	}
	if (file == NULL)
		return command_fail("run", EXIT_BAD_REQUEST, "--explain: which run file?");
	config = run_config_load(file, set, sets, &fault);
	if (config == NULL)
		return command_fail("run", EXIT_BAD_REQUEST, "%s", fault.text);
	run_config_explain(config, stdout);
	run_config_destroy(config);
	return EXIT_DONE;
}

int cmd_run(int argc, char **argv)
{
	char name[] = "weft-fabric", *program = argv[0];

	if (argc < 2) {
		fputs(usage, stderr);
		return EXIT_BAD_REQUEST;
	}
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return EXIT_DONE;
		}
		if (strcmp(argv[i], "--explain") == 0)
			return explain(argc, argv);
	}
	argv[0] = name;
	sibling_exec(name, "fabric", argv);
	argv[0] = program;
	return command_fail("run", EXIT_NOT_ABLE, "cannot start weft-fabric: %s", strerror(errno));
}
