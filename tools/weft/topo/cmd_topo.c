/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft topo: makes, shows and checks topologies. */

#include "cmd_topo.h"

#include <string.h>

#include "topo/generator.h"

static const char usage[] =
	"usage: weft topo gen KIND [--OPTION VALUE]... [-o FILE]\n"
	"       weft topo show TOPO [--json]\n"
	"       weft topo check TOPO [--json]\n"
	"       weft topo levels TOPO [--json]\n"
	"       weft topo dot TOPO\n"
	"       weft topo import --format FORMAT [--strict] [--only REGEX] [--exclude REGEX] FILE\n"
	"                        [-o FILE]\n"
	"       weft topo export --format FORMAT TOPO [-o FILE]\n"
	"\n"
	"TOPO is a file or a generator such as 'rlft:ports=8,stages=2'.\n"
	"  gen    writes a topology file, on standard output without -o\n"
	"  show   prints its size, and the other end of each port\n"
	"  check  checks ports, links, names, and that every host reaches every other\n"
	"  levels prints the levels of a tree, or why it has none\n"
	"  dot    writes it for graphviz: weft topo dot TOPO | dot -Tsvg -o topo.svg\n"
	"  import makes a topology file from another program's: ibnetdiscover, ibnetdiscover-p,\n"
	"         ibsim, iblinkinfo, opensm, slurm, ns3, booksim. It lists what it leaves out;\n"
	"         --strict refuses that; --only and --exclude choose nodes by description\n"
	"  export writes another program's format: ibnetdiscover, ibsim, slurm, ns3, booksim, dot\n"
	"Exit: 0 done, 1 there are no levels, 2 bad request or bad topology, 3 not able.\n"
	"\n"
	"'weft topo gen --help' lists the kinds and their options.\n";

static const char usage_gen[] =
	"usage: weft topo gen KIND [--OPTION VALUE]... [-o FILE]\n"
	"\n"
	"Writes a topology file, on standard output without -o.\n"
	"Exit: 0 done, 2 bad request, 3 not able.\n"
	"\n"
	"Kinds and their options. Every kind also takes --rate (10Gbps) and --delay (30ns):\n";

static const char *value_name(const struct generator_option *option)
{
	static const char *const names[] = {[GENERATOR_NUMBER] = "N",
		[GENERATOR_DIMS] = "AxB",
		[GENERATOR_RATIO] = "A:B",
		[GENERATOR_WORD] = "WORD"};

	return names[option->type];
}

static void print_kind(const struct generator *generator, FILE *out)
{
	fprintf(out, "  %-14s %s\n", generator->name, generator->help);
	for (unsigned i = 0; generator->options[i].name != NULL; i++) {
		const struct generator_option *option = &generator->options[i];

		fprintf(out, "                  --%s %s: %s", option->name, value_name(option),
			option->help);
		if (option->fallback != 0)
			fprintf(out, " (%u)", (unsigned)option->fallback);
		fputc('\n', out);
	}
}

static void print_usage(FILE *out)
{
	fputs(usage, out);
}

/* 'weft topo gen --help' prints all kinds, 'weft topo gen KIND --help' only that one. */
static void print_help(int argc, char **argv)
{
	const struct generator *generator;

	if (argc < 2 || strcmp(argv[1], "gen") != 0) {
		print_usage(stdout);
		return;
	}
	generator = argc > 2 ? generator_find(argv[2]) : NULL;
	if (generator == NULL) {
		fputs(usage_gen, stdout);
		for (unsigned i = 0; (generator = generator_at(i)) != NULL; i++)
			print_kind(generator, stdout);
		return;
	}
	printf("usage: weft topo gen %s [--OPTION VALUE]... [-o FILE]\n\n", generator->name);
	print_kind(generator, stdout);
	fputs("Every kind also takes --rate (10Gbps) and --delay (30ns).\n"
	      "Exit: 0 done, 2 bad request, 3 not able.\n",
		stdout);
}

int cmd_topo_arguments(int argc, char **argv, const char **spec, bool *json)
{
	char name[32];

	snprintf(name, sizeof(name), "topo %s", argv[0]);
	*spec = NULL;
	for (int i = 1; i < argc; i++) {
		if (json != NULL && strcmp(argv[i], "--json") == 0)
			*json = true;
		else if (argv[i][0] == '-' && argv[i][1] != '\0')
			return command_fail(name, EXIT_BAD_REQUEST, "unknown option '%s'", argv[i]);
		else if (*spec != NULL)
			return command_fail(name, EXIT_BAD_REQUEST,
				"expected one topology, found another: '%s'", argv[i]);
		else
			*spec = argv[i];
	}
	if (*spec == NULL)
		return command_fail(name, EXIT_BAD_REQUEST,
			"which topology? A file or a generator such as rlft:ports=4,stages=2");
	return EXIT_DONE;
}

static const struct {
	struct command_part is;
	int (*run)(int argc, char **argv);
} parts[] = {
	{{.name = "gen"}, cmd_topo_gen},
	{{.name = "show"}, cmd_topo_show},
	{{.name = "check"}, cmd_topo_check},
	{{.name = "levels"}, cmd_topo_levels},
	{{.name = "dot"}, cmd_topo_dot},
	{{.name = "import"}, cmd_topo_import},
	{{.name = "export"}, cmd_topo_export},
};

int cmd_topo(int argc, char **argv)
{
	static const struct command_parts command = COMMAND_PARTS("topo", parts, print_usage);
	int code = EXIT_DONE, part;

	if (command_wants_help(argc, argv)) {
		print_help(argc, argv);
		return EXIT_DONE;
	}
	part = command_parts_choose(&command, argc, argv, &code);
	return part < 0 ? code : parts[part].run(argc - 1, argv + 1);
}
