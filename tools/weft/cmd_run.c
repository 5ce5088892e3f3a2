/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft run: an experiment from a run file. weft-fabric runs it; --explain needs no fabric, and the
 * page of --web is served beside it. */

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "child_process.h"
#include "cmd_web.h"
#include "commands.h"
#include "credit_cover.h"
#include "option_key.h"
#include "run_config.h"
#include "run_mpi.h"
#include "word_list.h"

#define EXPLAIN_SETS_MAX 64u
#define WORDS_COLUMN     21
#define LINE_COLUMNS     80

static const char usage[] =
	"usage: weft run RUN.yaml [--set KEY=VALUE]... [--json FILE] [--csv FILE]\n"
	"                         [--pcap PORT=FILE]... [--snaplen BYTES] [--lcores N] [--quiet]\n"
	"                         [--clock real|virtual] [--dilation N|auto] [--workers N] [--mpi N]\n"
	"       weft run --web[=ADDRESS:PORT] RUN.yaml [the same options]\n"
	"       weft run --explain RUN.yaml [--set KEY=VALUE]... [--clock real|virtual]\n"
	"                         [--dilation N|auto]\n"
	"\n"
	"Runs a fabric and prints the measurements. FILE '-' is standard output.\n"
	"  --set KEY=VALUE   change a key of the run file: switch.buffer=64KiB, traffic[0].load=40%\n"
	"  --clock CLOCK     real or virtual, whatever the file says\n"
	"  --dilation N      slow the real clock down N times; auto: until the loops keep up\n"
	"  --pcap PORT=FILE  capture a port such as s0:1, or all, into a pcapng file\n"
	"  --workers N       threads of a run on the virtual clock; the result is the same\n"
	"  --mpi N           processes of such a run, by mpirun, each with --workers; likewise\n"
	"  --web             serve a page of the run while it goes on, and of its result until Ctrl-C\n"
	"  --explain         print the whole configuration, every default included, and do not run\n"
	"Exit: 0 done, 1 frames were lost, duplicated, out of order or too late (key fidelity), the\n"
	"      fabric deadlocked, nothing was measured, or the run is incomplete, for example because\n"
	"      a loop was away; 2 bad request, 3 not able.\n"
	"\n"
	"Words of run files:\n";

struct run_request {
	const char *file, *clock, *dilation, *json, *set[EXPLAIN_SETS_MAX];
	unsigned sets;
};

static int take_option(struct run_request *request, int option, const char *value)
{
	switch (option) {
	case 1:
		if (request->file != NULL)
			return command_fail(
				"run", EXIT_BAD_REQUEST, "one run file, not also '%s'", value);
		request->file = value;
		return EXIT_DONE;
	case 's':
		if (request->sets == EXPLAIN_SETS_MAX)
			return command_fail("run", EXIT_BAD_REQUEST, "--set: at most %u of them",
				EXPLAIN_SETS_MAX);
		request->set[request->sets++] = value;
		return EXIT_DONE;
	case 'q':
		return EXIT_DONE;
	default:
		if (option_key_store(request, option, value))
			return EXIT_DONE;
		return EXIT_BAD_REQUEST; /* getopt_long() has said why */
	}
}

/* Parses all options of a run, so that --explain can be added to any command; those with the key
 * 'q' are not for it. */
static int parse(struct run_request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{"explain", no_argument, NULL, 'q'},
		{"set", required_argument, NULL, 's'},
		{"clock", required_argument, NULL, OPTION_TEXT(struct run_request, clock)},
		{"dilation", required_argument, NULL, OPTION_TEXT(struct run_request, dilation)},
		{"json", required_argument, NULL, OPTION_TEXT(struct run_request, json)},
		{"csv", required_argument, NULL, 'q'},
		{"pcap", required_argument, NULL, 'q'},
		{"snaplen", required_argument, NULL, 'q'},
		{"lcores", required_argument, NULL, 'q'},
		{"workers", required_argument, NULL, 'q'},
		{"mpi", required_argument, NULL, 'q'},
		{"quiet", no_argument, NULL, 'q'},
		{NULL, 0, NULL, 0},
	};
	int option, result = EXIT_DONE;

	argv[0] = (char *)"weft run"; /* begins the messages of getopt_long() */
	while (result == EXIT_DONE && (option = getopt_long(argc, argv, "-q", options, NULL)) != -1)
		result = take_option(request, option, optarg);
	if (result == EXIT_DONE && request->file == NULL)
		return command_fail("run", EXIT_BAD_REQUEST, "which run file?");
	return result;
}

/* NULL, and it has been said why. */
static struct run_config *load(const struct run_request *request, int *code)
{
	struct run_config *config;
	struct fault fault;

	config = run_config_load(request->file, request->set, request->sets, &fault);
	if (config == NULL) {
		*code = command_fault("run", -errno, &fault);
		return NULL;
	}
	if ((request->clock == NULL || run_config_set_clock(config, request->clock, &fault) == 0) &&
		(request->dilation == NULL ||
			run_config_set_dilation(config, request->dilation, &fault) == 0))
		return config;
	run_config_destroy(config);
	*code = command_fail("run", EXIT_BAD_REQUEST, "%s", fault.text);
	return NULL;
}

/* As comments, so that the text stays a run file. A missing topology is reported elsewhere. */
static void explain_cover(const struct run_config *config)
{
	struct fault fault;
	struct topology *topology = run_config_open_topology(config, &fault);

	if (topology != NULL)
		credit_cover_tell(config, topology, credit_cover_warn, NULL);
	topology_destroy(topology);
}

static int explain(int argc, char **argv)
{
	struct run_request request = {.sets = 0};
	int result = parse(&request, argc, argv);
	struct run_config *config;

	if (result != EXIT_DONE)
		return result;
	config = load(&request, &result);
	if (config != NULL) {
		run_config_explain(config, stdout);
		explain_cover(config);
	}
	run_config_destroy(config);
	return result;
}

/* "  KEY  word word", the words in lines of their column. */
static void print_words(const struct run_words *key, FILE *out)
{
	int column = fprintf(out, "  %-*s", WORDS_COLUMN - 2, key->key);

	for (unsigned i = 0; i < key->list->count; i++) {
		const char *word = word_list_name(key->list->entry[i]);

		if (column + (int)strlen(word) >= LINE_COLUMNS)
			column = fprintf(out, "\n%*s", WORDS_COLUMN, "") - 1;
		column += fprintf(out, " %s", word);
	}
	fputc('\n', out);
}

static void print_usage(FILE *out)
{
	fputs(usage, out);
	for (const struct run_words *key = run_words; key->key != NULL; key++)
		print_words(key, out);
}

/* --- with a page --- */

#define WEB_OPTION "--web"

/* Takes the option out of the words. The address in it, or "" for --web alone; NULL: it is not
 * there. */
static const char *take_web(int *argc, char **argv)
{
	size_t length = strlen(WEB_OPTION);
	const char *address = NULL;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		if (strncmp(argv[i], WEB_OPTION, length) != 0 ||
			(argv[i][length] != '\0' && argv[i][length] != '='))
			argv[kept++] = argv[i];
		else
			address = argv[i][length] == '=' ? argv[i] + length + 1 : "";
	}
	argv[kept] = NULL;
	*argc = kept;
	return address;
}

/* Words before a '--' are EAL's. */
static int run_with_page(int argc, char **argv, const char *address)
{
	const char *listen = address[0] != '\0' ? address : NULL;
	struct run_request request = {.sets = 0};
	struct run_config *config;
	int first = 0, result;
	char *name;

	for (int i = 1; i < argc && first == 0; i++)
		if (strcmp(argv[i], "--") == 0)
			first = i;
	name = argv[first];
	result = parse(&request, argc - first, argv + first);
	argv[first] = name;
	if (result != EXIT_DONE)
		return result;
	if (request.json != NULL && strcmp(request.json, "-") == 0)
		return command_fail(
			"run", EXIT_BAD_REQUEST, "--web: expected a file after --json, not '-'");
	config = load(&request, &result);
	if (config == NULL)
		return result;
	result = web_show_run(argc, argv, config, request.file, request.json, listen);
	run_config_destroy(config);
	return result;
}

int cmd_run(int argc, char **argv)
{
	char name[] = "weft-fabric", *program = argv[0];
	enum weft_exit result;
	const char *page;
	unsigned ranks;

	if (argc < 2) {
		print_usage(stderr);
		return EXIT_BAD_REQUEST;
	}
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			print_usage(stdout);
			return EXIT_DONE;
		}
		if (strcmp(argv[i], "--explain") == 0)
			return explain(argc, argv);
	}
	result = run_mpi_take(&argc, argv, &ranks);
	if (result != EXIT_DONE)
		return (int)result;
	page = take_web(&argc, argv);
	if (page != NULL && ranks > 0)
		return command_fail("run", EXIT_BAD_REQUEST,
			"--web: a run by --mpi is not shown while it goes on; 'weft web "
			"RESULT.json' shows its result");
	if (page != NULL)
		return run_with_page(argc, argv, page);
	if (ranks > 0)
		return run_mpi(argc, argv, ranks);
	argv[0] = name;
	program_path_exec(name, argv);
	argv[0] = program;
	return command_fail("run", EXIT_NOT_ABLE, "cannot start weft-fabric: %s", strerror(errno));
}
