/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft run: runs an experiment from a run file with weft-fabric. --explain needs no weft-fabric.
 * With --web, the page is served during the run. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/name_table.h"
#include "base/quantity.h"
#include "common/child_process.h"
#include "common/commands.h"
#include "experiment/lab/config_keys.h"
#include "experiment/run/run_config.h"
#include "setup/credit_cover.h"
#include "web/cmd_web.h"

#define RUN_MPI_RANKS_MAX 256u

/* --- on several processes: --mpi N --- */

#define OPTION       "--mpi"
#define OWN_WORDS    16
#define NOT_STARTED  127
#define SIGNAL_CODES 128 /* higher exit codes are 128 plus a signal number, as in shells */

static enum weft_exit run_mpi_take(int *argc, char **argv, unsigned *ranks)
{
	size_t length = strlen(OPTION);
	const char *text = NULL;
	uint64_t number = 0;
	int kept = 1;

	for (int i = 1; i < *argc; i++) {
		if (strncmp(argv[i], OPTION "=", length + 1) == 0)
			text = argv[i] + length + 1;
		else if (strcmp(argv[i], OPTION) == 0)
			text = i + 1 < *argc ? argv[++i] : "";
		else
			argv[kept++] = argv[i];
	}
	argv[kept] = NULL;
	*argc = kept;
	*ranks = 0;
	if (text == NULL)
		return EXIT_DONE;
	if (!quantity_number(text, 1, RUN_MPI_RANKS_MAX, &number))
		return command_fail("run", EXIT_BAD_REQUEST,
			"--mpi '%s': expected a number of processes from 1 to %u", text,
			RUN_MPI_RANKS_MAX);
	*ranks = (unsigned)number;
	return EXIT_DONE;
}

/* Builds the command line of mpirun. There may be more ranks than cores, and their threads may use
 * any core. */
static char **words_of(int argc, char **argv, const char *program, const char *number)
{
	const char *const own[] = {"mpirun", "--quiet", "--oversubscribe", "--bind-to", "none",
		"-n", number, geteuid() == 0 ? "--allow-run-as-root" : NULL};
	char **words = calloc((size_t)argc + OWN_WORDS, sizeof(*words));
	unsigned count = 0;

	if (words == NULL)
		return NULL;
	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i] != NULL)
			words[count++] = (char *)own[i];
	words[count++] = (char *)program;
	words[count++] = (char *)OPTION;
	for (int i = 1; i < argc; i++)
		words[count++] = argv[i];
	return words;
}

/* In the child. Signals from the terminal go to this program, which forwards them. A background
 * process must not read from the terminal. */
static void become_mpirun(char **words, pid_t parent, const sigset_t *mask)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	child_become(parent, mask);
	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	execvp(words[0], words);
	_exit(NOT_STARTED);
}

/* Waits for mpirun to end. Returns its status, or -1 if unknown. mpirun forwards SIGUSR1 to the
 * ranks, which then end the run; after SIGTERM they would have only two seconds. */
static int wait_for(pid_t pid, const sigset_t *signals, bool *asked)
{
	const struct timespec second = {.tv_sec = 1};
	int status = 0;
	pid_t ended;

	*asked = false;
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		int number = sigtimedwait(signals, NULL, &second);

		if (number <= 0 || number == SIGCHLD)
			continue;
		kill(pid, *asked ? SIGTERM : SIGUSR1);
		*asked = true;
	}
	return ended == pid ? status : -1;
}

/* 'asked': a signal requested the end. If it killed ranks, it came early or repeatedly. */
static int code_of(int status, bool asked)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_CODES + WTERMSIG(status);

	if (code <= EXIT_NOT_ABLE)
		return code;
	if (asked && code > SIGNAL_CODES)
		return EXIT_INTERRUPTED;
	if (code == NOT_STARTED)
		return command_fail(
			"run", EXIT_NOT_ABLE, "--mpi: cannot start mpirun; install openmpi-bin");
	if (code > SIGNAL_CODES && code < SIGNAL_CODES + NSIG)
		return command_fail("run", EXIT_NOT_ABLE,
			"--mpi: signal %d (%s) ended a process, so mpirun ended the remaining processes",
			code - SIGNAL_CODES, strsignal(code - SIGNAL_CODES));
	return command_fail("run", EXIT_NOT_ABLE,
		"--mpi: mpirun ended with exit code %d; without --quiet, mpirun prints the reason",
		code);
}

static int start(char **words)
{
	pid_t parent = getpid(), pid;
	sigset_t signals, before;
	bool asked;
	int status;

	child_signals_block(&signals, &before);
	pid = fork();
	if (pid == 0)
		become_mpirun(words, parent, &before);
	if (pid < 0)
		return command_fail("run", EXIT_NOT_ABLE, "--mpi: %s", strerror(errno));
	status = wait_for(pid, &signals, &asked);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (status < 0)
		return command_fail(
			"run", EXIT_NOT_ABLE, "--mpi: cannot determine the exit status of mpirun");
	return code_of(status, asked);
}

static int run_mpi(int argc, char **argv, unsigned ranks)
{
	char program[PATH_MAX], number[16], **words;
	int code;

	program_path_find("weft-fabric", program, sizeof(program));
	if (!program_path_exists(program))
		return command_fail("run", EXIT_NOT_ABLE, "--mpi: cannot start weft-fabric: %s",
			strerror(ENOENT));
	snprintf(number, sizeof(number), "%u", ranks);
	words = words_of(argc, argv, program, number);
	if (words == NULL)
		return command_fail("run", EXIT_NOT_ABLE, "out of memory");
	code = start(words);
	free(words);
	return code;
}

/* --- the run --- */

#define EXPLAIN_SETS_MAX 64u
#define WORDS_COLUMN     21
#define LINE_COLUMNS     80

static const char usage[] =
	"usage: weft run RUN.yaml [--set KEY=VALUE]... [--json FILE] [--csv FILE]\n"
	"                         [--flows FILE] [--pcap PORT=FILE]... [--snaplen BYTES]\n"
	"                         [--filter EXPRESSION] [--where WORDS]\n"
	"                         [--rotate SIZE|TIME[,FILES]] [--lcores N] [--quiet]\n"
	"                         [--clock real|virtual] [--dilation N|auto]\n"
	"                         [--workers N] [--mpi N]\n"
	"       weft run --web[=ADDRESS:PORT] RUN.yaml [the same options]\n"
	"       weft run --explain RUN.yaml [--set KEY=VALUE]... [--clock real|virtual]\n"
	"                         [--dilation N|auto]\n"
	"\n"
	"Runs a fabric and prints the measurements. If FILE is '-', standard output is\n"
	"used.\n"
	"  --set KEY=VALUE   change a key of the run file: switch.buffer=64KiB,\n"
	"                    traffic[0].load=40%\n"
	"  --clock CLOCK     use real or virtual, regardless of the file\n"
	"  --dilation N      slow the real clock down by a factor of N; auto: until the\n"
	"                    loops keep up\n"
	"  --json, --csv     write the result, or its samples, to a file; --quiet: no\n"
	"                    table, no progress\n"
	"  --flows FILE      write a line for each flow of pattern flows: times and\n"
	"                    slowdown\n"
	"  --pcap PORT=FILE  capture a port such as s0:1, or all, into a pcapng file\n"
	"  --filter, --where capture only some frames, selected by their TAP packet\n"
	"                    (pcap-filter(7)) or by words such as vc=1,2 kind=data,credit\n"
	"                    src=h0 dst=h3 dropped\n"
	"  --snaplen BYTES   truncate captured frames to this length (default: whole\n"
	"                    frames)\n"
	"  --rotate LIMIT    start a new file after 100MB or 60s; with ',FILES', keep\n"
	"                    only the last FILES\n"
	"  --lcores N        poll loops of a run on the real clock (default: 1)\n"
	"  --workers N       threads of a run on the virtual clock; the result is the\n"
	"                    same\n"
	"  --mpi N           processes, started with mpirun, with --workers threads each;\n"
	"                    the result is the same\n"
	"  --web             serve a page of the run in progress, then of its result\n"
	"                    until Ctrl-C\n"
	"  --explain         print the complete configuration with every default, and run\n"
	"                    nothing\n"
	"Exit: 0 success, 1 frames were lost, duplicated, out of order or too late (key\n"
	"      fidelity), the fabric deadlocked, nothing was measured, or the run is\n"
	"      incomplete, for example because a loop stalled; 2 invalid request, 3 not\n"
	"      possible on this machine, 130 ended early by Ctrl-C or a signal, with the\n"
	"      result so far.\n"
	"\n"
	"Words of run files:\n";

struct run_request {
	const char *file, *clock, *dilation, *json, *set[EXPLAIN_SETS_MAX];
	const char *ignored; /* an option without effect on the configuration */
	bool flag;           /* the same */
	unsigned sets;
};

static bool take_set(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct run_request *request = member;

	snprintf(expected, COMMAND_EXPECTED_MAX, "at most %u of them", EXPLAIN_SETS_MAX);
	if (request->sets == EXPLAIN_SETS_MAX)
		return false;
	request->set[request->sets++] = value;
	return true;
}

#define S struct run_request
static const struct command_option run_options[] = {
	{"explain", 0, OPTION_SET(S, flag)},
	{"set", 0, OPTION_WHOLE, .take = take_set},
	{"clock", 0, OPTION_TEXT(S, clock)},
	{"dilation", 0, OPTION_TEXT(S, dilation)},
	{"json", 0, OPTION_TEXT(S, json)},
	{"csv", 0, OPTION_TEXT(S, ignored)},
	{"flows", 0, OPTION_TEXT(S, ignored)},
	{"pcap", 0, OPTION_TEXT(S, ignored)},
	{"snaplen", 0, OPTION_TEXT(S, ignored)},
	{"rotate", 0, OPTION_TEXT(S, ignored)},
	{"filter", 0, OPTION_TEXT(S, ignored)},
	{"where", 0, OPTION_TEXT(S, ignored)},
	{"lcores", 0, OPTION_TEXT(S, ignored)},
	{"workers", 0, OPTION_TEXT(S, ignored)},
	{"mpi", 0, OPTION_TEXT(S, ignored)},
	{"live", 0, OPTION_TEXT(S, ignored)},
	{"quiet", 'q', OPTION_SET(S, flag)},
	{NULL},
};
#undef S

/* Copies the key of run files whose last part has this name, such as traffic[0].load. */
static bool find_key(const char *name, char *key, size_t size)
{
	char *text = NULL, *rest, *line, *dot, *list;
	size_t length;
	FILE *keys = open_memstream(&text, &length);
	bool found = false;

	if (keys == NULL)
		return false;
	config_keys_print(keys);
	if (fclose(keys) != 0 || text == NULL)
		return false;
	rest = text;
	while (!found && (line = strsep(&rest, "\n")) != NULL) {
		char *word = strsep(&line, " ");

		word = strcmp(word, "run") == 0 ? strsep(&line, " ") : NULL;
		dot = word != NULL ? strrchr(word, '.') : NULL;
		found = word != NULL && strcmp(dot != NULL ? dot + 1 : word, name) == 0;
		list = found ? strstr(word, "[]") : NULL;
		if (found && list != NULL)
			snprintf(key, size, "%.*s[0]%s", (int)(list - word), word, list + 2);
		else if (found)
			snprintf(key, size, "%s", word);
	}
	free(text);
	return found;
}

/* Users expect an option for a key of the run file. */
static int check_options(int argc, char **argv)
{
	char name[OPTION_NAME_MAX], hint[OPTION_HINT_MAX], key[OPTION_NAME_MAX];
	int first = 0;

	/* Arguments before '--' are for the EAL. */
	for (int i = 1; i < argc && first == 0; i++)
		first = strcmp(argv[i], "--") == 0 ? i : 0;
	if (!command_find_unknown(run_options, argc - first, argv + first, name, hint))
		return EXIT_DONE;
	if (find_key(name, key, sizeof(key)))
		return command_fail("run", EXIT_BAD_REQUEST,
			"unrecognized option '--%s'; use --set %s=VALUE", name, key);
	return command_fail("run", EXIT_BAD_REQUEST, "unrecognized option '--%s'%s", name, hint);
}

/* Parses all options of a run, so that --explain can be added to any command. */
static int parse(struct run_request *request, int argc, char **argv)
{
	int result = check_options(argc, argv);

	if (result == EXIT_DONE)
		result = command_options("run", run_options, request, &argc, &argv);

	if (result != EXIT_DONE)
		return result;
	if (argc > 1)
		return command_fail("run", EXIT_BAD_REQUEST,
			"only one run file is allowed; found a second: '%s'", argv[1]);
	if (argc == 0)
		return command_fail("run", EXIT_BAD_REQUEST, "a run file is required");
	request->file = argv[0];
	return EXIT_DONE;
}

/* Returns NULL after printing the reason. */
static struct run_config *load(const struct run_request *request, int *code)
{
	struct run_config *config;
	struct error error;

	config = run_config_load(request->file, request->set, request->sets, &error);
	if (config == NULL) {
		*code = command_error("run", -errno, &error);
		return NULL;
	}
	if ((request->clock == NULL || run_config_set_clock(config, request->clock, &error) == 0) &&
		(request->dilation == NULL ||
			run_config_set_dilation(config, request->dilation, &error) == 0))
		return config;
	run_config_destroy(config);
	*code = command_fail("run", EXIT_BAD_REQUEST, "%s", error.text);
	return NULL;
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
		struct error error;
		struct topology *topology;

		run_config_explain(config, stdout);
		/* Written as comments, so that the output is a valid run file. A missing topology
		 * is reported elsewhere. */
		topology = run_config_open_topology(config, &error);
		if (topology != NULL)
			credit_cover_report(config, topology, credit_cover_warn, NULL);
		topology_destroy(topology);
	}
	run_config_destroy(config);
	return result;
}

/* Prints "  KEY  word word". Further words are aligned in the same column. */
static void print_words(const struct run_words *key, FILE *out)
{
	int column = fprintf(out, "  %-*s", WORDS_COLUMN - 2, key->key);

	for (unsigned i = 0; i < key->list->count; i++) {
		const char *word = name_table_name(key->list->entry[i]);

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

/* Removes the option from the arguments. Returns its address, "" for --web alone, or NULL if the
 * option is not given. */
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

/* Arguments before '--' are for the EAL. */
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
			"run", EXIT_BAD_REQUEST, "--web requires a file after --json, not '-'");
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
	setenv("WEFT_COMMAND", "weft run", 1);
	result = run_mpi_take(&argc, argv, &ranks);
	if (result != EXIT_DONE)
		return (int)result;
	page = take_web(&argc, argv);
	result = check_options(argc, argv);
	if (result != EXIT_DONE)
		return (int)result;
	if (page != NULL && ranks > 0)
		return command_fail("run", EXIT_BAD_REQUEST,
			"--web cannot be combined with --mpi; 'weft web RESULT.json' shows the result");
	if (page != NULL)
		return run_with_page(argc, argv, page);
	if (ranks > 0)
		return run_mpi(argc, argv, ranks);
	argv[0] = name;
	program_path_exec(name, argv);
	argv[0] = program;
	return command_fail("run", EXIT_NOT_ABLE, "cannot start weft-fabric: %s", strerror(errno));
}
