/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "cmd_topo.h"

#include <string.h>

#include "common/output_file.h"
#include "topo/generator.h"
#include "topo/topology_levels.h"

/* weft topo: generates, shows and checks topologies. */

static const char usage[] =
	"usage: weft topo gen KIND [--OPTION VALUE]... [-o FILE]\n"
	"       weft topo show TOPO [--json]\n"
	"       weft topo check TOPO [--json]\n"
	"       weft topo levels TOPO [--json]\n"
	"       weft topo dot TOPO\n"
	"       weft topo import --format FORMAT [--strict] [--only REGEX]\n"
	"                        [--exclude REGEX] FILE [-o FILE]\n"
	"       weft topo export --format FORMAT TOPO [-o FILE]\n"
	"\n"
	"TOPO is a file or a generator such as 'rlft:ports=8,stages=2'.\n"
	"  gen    writes a topology file, by default to standard output\n"
	"  show   prints the size of the topology, and the other end of each port\n"
	"  check  checks ports, links, names, and that every host can reach every other\n"
	"         host\n"
	"  levels prints the levels of a tree, or the reason why there are none\n"
	"  dot    writes the topology for graphviz: weft topo dot TOPO | dot -Tsvg -o\n"
	"         topo.svg\n"
	"  import converts another program's file into a topology file: ibnetdiscover,\n"
	"         ibnetdiscover-p, ibsim, iblinkinfo, opensm, slurm, ns3, booksim, htsim.\n"
	"         It lists what it omits. --strict refuses this instead. --only and\n"
	"         --exclude select nodes by description\n"
	"  export writes another program's format: ibnetdiscover, ibsim, slurm, ns3,\n"
	"         booksim, htsim, dot\n"
	"Exit: 0 success, 1 there are no levels, 2 invalid request or topology, 3 not\n"
	"possible on this machine.\n"
	"\n"
	"'weft topo gen --help' lists the kinds and their options.\n";

static const char usage_gen[] =
	"usage: weft topo gen KIND [--OPTION VALUE]... [-o FILE]\n"
	"\n"
	"Writes a topology file, by default to standard output.\n"
	"Exit: 0 success, 2 invalid request, 3 not possible on this machine.\n"
	"\n"
	"Kinds and their options. Every kind also accepts --rate (10Gbps) and --delay\n"
	"(30ns):\n";

static const char *value_name(const struct generator_option *option)
{
	static const char *const names[] = {[GENERATOR_NUMBER] = "N",
		[GENERATOR_DIMS] = "AxB",
		[GENERATOR_RATIO] = "A:B",
		[GENERATOR_WORD] = "WORD"};

	return names[option->type];
}

#define LINE_COLUMNS 80

/* Prints words, each after a space, and wraps them. The first one follows column 'column'. */
static void print_wrapped(const char *text, int column, int indent, FILE *out)
{
	for (int word; *text != '\0'; text += word, text += strspn(text, " ")) {
		word = (int)strcspn(text, " ");
		if (column + 1 + word > LINE_COLUMNS)
			column = fprintf(out, "\n%*s", indent, "") - 1;
		column += fprintf(out, " %.*s", word, text);
	}
	fputc('\n', out);
}

static void print_kind(const struct generator *generator, FILE *out)
{
	char text[256], fallback[24];

	print_wrapped(generator->help, fprintf(out, "  %-14s", generator->name), 16, out);
	for (unsigned i = 0; generator->options[i].name != NULL; i++) {
		const struct generator_option *option = &generator->options[i];

		snprintf(fallback, sizeof(fallback), " (%u)", (unsigned)option->fallback);
		snprintf(text, sizeof(text), "--%s %s: %s%s", option->name, value_name(option),
			option->help, option->fallback != 0 ? fallback : "");
		print_wrapped(text, fprintf(out, "%17s", ""), 19, out);
	}
}

/* 'weft topo gen --help' prints all kinds, 'weft topo gen KIND --help' only one. */
static void print_help(int argc, char **argv)
{
	const struct generator *generator;

	if (argc < 2 || strcmp(argv[1], "gen") != 0) {
		fputs(usage, stdout);
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
	fputs("Every kind also accepts --rate (10Gbps) and --delay (30ns).\n"
	      "Exit: 0 success, 2 invalid request, 3 not possible on this machine.\n",
		stdout);
}

int cmd_topo_arguments(int argc, char **argv, const char **spec, bool *json)
{
	static const struct command_option options[] = {
		{"json", 0, OPTION_SET_ /* a bool */}, {NULL}};
	char name[32];
	int result;

	*spec = NULL;
	snprintf(name, sizeof(name), "topo %s", argv[0]);
	result = command_options(name, json != NULL ? options : &options[1], json, &argc, &argv);
	if (result != EXIT_DONE)
		return result;
	if (argc > 1)
		return command_fail(name, EXIT_BAD_REQUEST,
			"only one topology is allowed; found a second: '%s'", argv[1]);
	if (argc == 0)
		return command_fail(name, EXIT_BAD_REQUEST,
			"a topology is required: a file, or a generator such as "
			"rlft:ports=4,stages=2");
	*spec = argv[0];
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
	static const struct command_parts command = COMMAND_PARTS("topo", parts, usage);
	int code = EXIT_DONE, part;

	if (command_help(argc, argv, "")) {
		print_help(argc, argv);
		return EXIT_DONE;
	}
	part = command_parts_choose(&command, argc, argv, &code);
	return part < 0 ? code : parts[part].run(argc - 1, argv + 1);
}

/* weft topo gen: a generator's options as command line options. */

#define NAME     "topo gen"
#define SPEC_MAX 512

struct request {
	char spec[SPEC_MAX]; /* KIND:key=value,… */
	size_t length;
	const char *out; /* NULL or "-": standard output */
};

static int append(struct request *request, const char *before, const char *text)
{
	int added = snprintf(
		request->spec + request->length, SPEC_MAX - request->length, "%s%s", before, text);

	request->length += (size_t)added;
	if (request->length < SPEC_MAX)
		return EXIT_DONE;
	return command_fail(NAME, EXIT_BAD_REQUEST, "the options are too long");
}

/* Parses "--key value" or "--key=value". Returns the number of arguments used, or 0 after printing
 * an error. */
static int take_option(struct request *request, char **argv)
{
	const char *key = argv[0] + 2, *equals = strchr(key, '=');
	const char *before = strchr(request->spec, ':') == NULL ? ":" : ",";

	if (equals == NULL && argv[1] == NULL)
		return command_fail(NAME, 0, "%s requires a value", argv[0]);
	if (append(request, before, key) != EXIT_DONE)
		return 0;
	if (equals != NULL)
		return 1;
	return append(request, "=", argv[1]) == EXIT_DONE ? 2 : 0;
}

/* Parses any argument, with the same return value. */
static int take_argument(struct request *request, char **argv)
{
	if (strcmp(argv[0], "-o") == 0) {
		if (argv[1] == NULL)
			return command_fail(NAME, 0, "-o requires a file");
		request->out = argv[1];
		return 2;
	}
	if (strncmp(argv[0], "--", 2) == 0)
		return take_option(request, argv);
	return command_fail(NAME, 0, "unexpected '%s'; expected --OPTION VALUE", argv[0]);
}

int cmd_topo_write(
	const char *command, const struct topology *topology, const char *input, const char *path)
{
	struct output_file output = {.command = command, .path = path, .inputs = {input}};
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	topology_write(topology, output.file);
	return output_file_close(&output);
}

int cmd_topo_gen(int argc, char **argv)
{
	struct request request = {.length = 0};
	struct topology *topology;
	struct error error;
	int used, result;

	if (argc < 2 || argv[1][0] == '-')
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"a kind is required; 'weft topo gen --help' lists them");
	if (append(&request, "", argv[1]) != EXIT_DONE)
		return EXIT_BAD_REQUEST;
	for (int i = 2; i < argc; i += used) {
		used = take_argument(&request, &argv[i]);
		if (used == 0)
			return EXIT_BAD_REQUEST;
	}
	topology = topology_generate(request.spec, &error);
	if (topology == NULL)
		return command_error(NAME, -errno, &error);
	result = cmd_topo_write(NAME, topology, NULL, request.out);
	topology_destroy(topology);
	return result;
}

/* weft topo levels: the levels of a tree, taken from the file or detected. */

static json_t *range_json(unsigned min, unsigned max)
{
	return json_pack("{s:i, s:i}", "min", (int)min, "max", (int)max);
}

static json_t *levels_json(const struct topology *topology)
{
	struct topology_level level[UINT8_MAX];
	json_t *list = json_array();
	unsigned count;

	topology_levels_describe(topology, level, &count);
	for (unsigned i = 0; i < count; i++)
		json_array_append_new(list,
			json_pack("{s:i, s:i, s:i, s:o, s:o}", "level", (int)i + 1, "switches",
				(int)level[i].switches, "hosts", (int)level[i].hosts, "links_up",
				range_json(level[i].up_min, level[i].up_max), "links_down",
				range_json(level[i].down_min, level[i].down_max)));
	return list;
}

static void print_range(unsigned min, unsigned max, const char *what, FILE *out)
{
	if (min == max)
		fprintf(out, ", %u %s", max, what);
	else
		fprintf(out, ", %u to %u %s", min, max, what);
}

void cmd_topo_print_levels(const struct topology *topology, FILE *out)
{
	struct topology_level level[UINT8_MAX];
	unsigned count;

	topology_levels_describe(topology, level, &count);
	for (unsigned i = 0; i < count; i++) {
		fprintf(out, "level %u: %u switch%s, %u host%s", i + 1, level[i].switches,
			level[i].switches == 1 ? "" : "es", level[i].hosts,
			level[i].hosts == 1 ? "" : "s");
		print_range(level[i].up_min, level[i].up_max, "up", out);
		print_range(level[i].down_min, level[i].down_max, "down per switch", out);
		fputc('\n', out);
	}
}

static int show(struct topology *topology, bool json)
{
	struct error why = {""};
	int result = topology_has_levels(topology) ? 0 : topology_levels_find(topology, &why);

	if (result == -ENOMEM)
		return command_error("topo levels", result, &why);
	if (json)
		command_print_json(json_pack("{s:b, s:o, s:o}", "ok", result == 0, "levels",
					   levels_json(topology), "reason",
					   result == 0 ? json_null() : json_string(why.text)),
			0);
	else if (result == 0)
		cmd_topo_print_levels(topology, stdout);
	else
		return command_fail("topo levels", EXIT_BAD_ANSWER, "%s", why.text);
	return result == 0 ? EXIT_DONE : EXIT_BAD_ANSWER;
}

int cmd_topo_levels(int argc, char **argv)
{
	struct topology *topology;
	struct error error;
	const char *spec;
	bool json = false;
	int result = cmd_topo_arguments(argc, argv, &spec, &json);

	if (result != EXIT_DONE)
		return result;
	topology = topology_open(spec, &error);
	if (topology == NULL)
		return command_error("topo levels", -errno, &error);
	result = show(topology, json);
	topology_destroy(topology);
	return result;
}
