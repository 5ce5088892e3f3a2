/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft route: computes, verifies and shows routes. */

#include "route_subject.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "common/commands.h"
#include "route/route_algorithm.h"

static const char usage[] =
	"usage: weft route algorithms [--json]\n"
	"       weft route compute TOPO --algorithm NAME[+NAME] [--seed N] [--root SWITCH]\n"
	"                          [--alternatives N] [--granularity host|switch] [--tables]\n"
	"                          [--radius N] [--steps next|itb] [--ties port|seed] [--binary]\n"
	"                          [--vcs N] [--jobs N] [--json] -o ROUTES\n"
	"       weft route verify TOPO ROUTES... [--json]\n"
	"       weft route show TOPO ROUTES SOURCE DESTINATION\n"
	"       weft route export TOPO ROUTES --format opensm -o NAME\n"
	"       weft route import TOPO DUMP [--subnet FILE] [--sl2vl FILE [--path-records FILE]]\n"
	"                         [--strict] -o ROUTES\n"
	"       weft route compare TOPO A B [--json]\n"
	"all but the first: [--without LINK|SWITCH]...\n"
	"\n"
	"TOPO is a file or a generator such as 'rlft:ports=8,stages=2'; ROUTES, text or binary, '-'\n"
	"being standard output or input. Several ROUTES are checked together.\n"
	"  --algorithm A+B    the routes of several in one set, such as ud+ud-itb\n"
	"  --root SWITCH      of algorithms with a tree: a switch, best (shortest legal paths), centre\n"
	"                     or random (drawn with the seed); by default a leaf of a topology with\n"
	"                     levels, else the first switch\n"
	"  --alternatives N   routes per pair, 1 to 10; the algorithm's own number by default\n"
	"  --granularity      each pair of hosts chooses its route (host, the default), or all hosts\n"
	"                     of two switches share one (switch)\n"
	"  --radius N         of msp: most links from an end to its intermediate switch, 1 to 4; 1 by\n"
	"                     default\n"
	"  --steps            of msp: VC classes change from step to step (next, the default), or a\n"
	"                     host of the intermediate switch absorbs and re-injects (itb)\n"
	"  --ties             of dor and msp: equally good paths by the numbers of ports (port, the\n"
	"                     default), or drawn with the seed (seed)\n"
	"  --vcs N            VCs of the switches: routes that need more are refused, and dfsssp uses\n"
	"                     up to 8 of them; without it as few as it needs\n"
	"  --tables           destination tables of switches instead of routes; always binary\n"
	"  --binary           the compact form of the file\n"
	"  --without WHAT     without a failed link ('s0:3'), switch ('s4') or host's link ('h5');\n"
	"                     may be repeated\n"
	"import reads the tables of an InfiniBand network: what dump_fts or ibroute prints, or\n"
	"opensm.fdbs with --subnet opensm-subnet.lst; --sl2vl and --path-records take the dumps of its\n"
	"virtual lanes. compare shows two files side by side.\n"
	"export writes tables as OpenSM dumps its own, for ibdmchk: NAME.lst and NAME.fdbs.\n"
	"Exit: 0 done, 1 the routes are not connected or not free of deadlock, 2 bad request,\n"
	"3 not able.\n";

static int print_algorithms_json(void)
{
	json_t *list = json_array();

	for (unsigned i = 0; route_algorithm_at(i) != NULL; i++) {
		const struct route_algorithm *algorithm = route_algorithm_at(i);

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:b, s:b, s:b, s:b}", "name", algorithm->name,
				      "summary", algorithm->summary, "deadlock_free",
				      algorithm->deadlock_free, "root", algorithm->label != NULL,
				      "routes", algorithm->routes != NULL, "tables",
				      algorithm->tables != NULL));
	}
	command_print_json(list, 0);
	return EXIT_DONE;
}

static int cmd_route_algorithms(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--json") == 0)
		return print_algorithms_json();
	if (argc > 1)
		return command_fail("route algorithms", EXIT_BAD_REQUEST,
			"'%s', expected --json or nothing", argv[1]);
	for (unsigned i = 0; route_algorithm_at(i) != NULL; i++)
		printf("%-12s %s\n", route_algorithm_at(i)->name, route_algorithm_at(i)->summary);
	return EXIT_DONE;
}

static const struct {
	struct command_part is;
	int (*run)(int argc, char **argv);
} parts[] = {
	{{.name = "algorithms"}, cmd_route_algorithms},
	{{.name = "compute"}, cmd_route_compute},
	{{.name = "verify"}, cmd_route_verify},
	{{.name = "show"}, cmd_route_show},
	{{.name = "export"}, cmd_route_export},
	{{.name = "import"}, cmd_route_import},
	{{.name = "compare"}, cmd_route_compare},
};

static void print_usage(FILE *out)
{
	fputs(usage, out);
}

int cmd_route(int argc, char **argv)
{
	static const struct command_parts command = COMMAND_PARTS("route", parts, print_usage);
	int code = EXIT_DONE, part;

	if (command_wants_help(argc, argv)) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	part = command_parts_choose(&command, argc, argv, &code);
	return part < 0 ? code : parts[part].run(argc - 1, argv + 1);
}
