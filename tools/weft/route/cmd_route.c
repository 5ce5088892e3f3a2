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
	"       weft route compute TOPO --algorithm NAME[+NAME] [--seed N]\n"
	"                          [--root SWITCH] [--alternatives N]\n"
	"                          [--granularity host|switch] [--tables] [--radius N]\n"
	"                          [--steps next|itb] [--ties port|seed] [--binary]\n"
	"                          [--vcs N] [--jobs N] [--json] -o ROUTES\n"
	"       weft route verify TOPO ROUTES... [--json]\n"
	"       weft route show TOPO ROUTES SOURCE DESTINATION\n"
	"       weft route export TOPO ROUTES --format opensm -o NAME\n"
	"       weft route import TOPO DUMP [--subnet FILE]\n"
	"                         [--sl2vl FILE [--path-records FILE]] [--strict]\n"
	"                         -o ROUTES\n"
	"       weft route compare TOPO A B [--json]\n"
	"all but the first: [--without LINK|SWITCH]...\n"
	"\n"
	"TOPO is a file or a generator such as 'rlft:ports=8,stages=2'. ROUTES is a route\n"
	"file, text or binary; '-' means standard output or input. Several ROUTES are\n"
	"checked together.\n"
	"  --algorithm A+B    the routes of several algorithms in one set, such as\n"
	"                     ud+ud-itb\n"
	"  --root SWITCH      root of algorithms with a tree: a switch, best (shortest\n"
	"                     legal paths), centre or random (drawn with the seed); by\n"
	"                     default a leaf if the topology has levels, otherwise the\n"
	"                     first switch\n"
	"  --alternatives N   routes per pair, 1 to 10; the default depends on the\n"
	"                     algorithm\n"
	"  --granularity      separate routes for each pair of hosts (host, the default),\n"
	"                     or shared routes for all hosts of two switches (switch)\n"
	"  --radius N         for msp: maximum distance of an intermediate switch from\n"
	"                     its end, in links, 1 to 4; 1 by default\n"
	"  --steps            for msp: VC classes change from step to step (next, the\n"
	"                     default), or a host of the intermediate switch absorbs and\n"
	"                     re-injects (itb)\n"
	"  --ties             for dor and msp: selects among equally good paths by port\n"
	"                     number (port, the default) or with the seed (seed)\n"
	"  --vcs N            VCs of the switches. Routes that need more are refused.\n"
	"                     dfsssp uses up to 8 of them; without this option, it uses\n"
	"                     as few as it needs\n"
	"  --tables           destination tables of switches instead of routes; always\n"
	"                     binary\n"
	"  --binary           the compact file format\n"
	"  --without WHAT     removes a link ('s0:3'), a switch ('s4') or a host's link\n"
	"                     ('h5'); can be repeated\n"
	"import reads the tables of an InfiniBand network: the output of dump_fts or\n"
	"ibroute, or opensm.fdbs with --subnet opensm-subnet.lst; --sl2vl and\n"
	"--path-records read the dumps of its virtual lanes. compare shows two files side\n"
	"by side. export writes tables in the format of OpenSM's dumps, for ibdmchk:\n"
	"NAME.lst and NAME.fdbs.\n"
	"Exit: 0 success, 1 the routes are not connected or not free of deadlock, 2\n"
	"invalid request, 3 not possible on this machine.\n";

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
			"'%s': expected --json or nothing", argv[1]);
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

int cmd_route(int argc, char **argv)
{
	static const struct command_parts command = COMMAND_PARTS("route", parts, usage);
	int code = EXIT_DONE, part;

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	part = command_parts_choose(&command, argc, argv, &code);
	return part < 0 ? code : parts[part].run(argc - 1, argv + 1);
}
