/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name_table.h"
#include "common/commands.h"
#include "os/terminal.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
	{"demo", cmd_python, "a two-minute tour that needs no root and ends with a picture"},
	{"audit", cmd_audit, "check captures against the rules of the fabric"},
	{"capture", cmd_capture, "extract the packets of TAPs from a capture"},
	{"goal", cmd_goal, "generate and check GOAL schedules"},
	{"lab", cmd_lab, "run a fabric that stays up: up, status, web, run, exec, down ..."},
	{"port", cmd_port, "manage PCI network interfaces: list, bind, release, check"},
	{"route", cmd_route, "compute, verify and show routes"},
	{"topo", cmd_topo, "generate, check and draw topologies"},
	{"twin", cmd_twin, "show what the cables and routes of a real network allow"},
	{"run", cmd_run, "run a fabric and measure it"},
	{"sweep", cmd_python, "run a file with several values of its keys and several seeds"},
	{"plot", cmd_python, "draw sweeps and results"},
	{"reproduce", cmd_python, "rerun a figure or table of a paper and compare the values"},
	{"why", cmd_why, "show where captured packets spent their time, and why they waited"},
	{"web", cmd_web, "show a result in a browser: loads, latencies by switch, series"},
	{"complete", cmd_complete, "list the words that commands and files accept, for shells"},
	{"words", cmd_complete, NULL}, /* the former name of complete */
	{"answer", cmd_answer, NULL},  /* for the Python package, not for users */
	{NULL, NULL, NULL},
};

static const char clocks[] =
	"The same switches and hosts run on either clock ('clock' in the run file):\n"
	"\n"
	"  virtual  Simulation: time advances from event to event. No root, up to 65,536\n"
	"           hosts, identical results for the same file and seed. For papers.\n"
	"           Only on this clock: wormhole switching, switch.routing-delay,\n"
	"           --workers, --mpi.\n"
	"  real     Emulation: poll loops move real frames. Tens of switches, limited by\n"
	"           the cores. For ping, iperf3, MPI, captures and failures.\n"
	"           Only on this clock: edges (TAPs), the mapper, labs, --dilation.\n"
	"\n"
	"  weft run FILE --clock virtual     overrides the file\n";

static const char files[] =
	"Files are YAML. The first key names the kind:\n"
	"\n"
	"  weft: run/1       an experiment           weft run, sweep     weft-run(5)\n"
	"  weft: lab/1       a fabric that stays up  weft lab            weft-lab(5)\n"
	"  weft: topology/1  switches, hosts, links  all commands        weft-topology(5)\n"
	"  weft: cases/1     named settings          weft sweep --cases  weft-result(5)\n"
	"\n"
	"Quantities need units: 100Gbps, 30ns, 64KiB, 80%. A topology may also be a\n"
	"generator, such as 'rlft:ports=8,stages=2' ('weft topo gen --help' lists them).\n"
	"\n"
	"  weft run --explain FILE                      every key with its value\n"
	"  weft run FILE --set traffic.0.load=40%       changes a key\n"
	"  weft complete keys                           all keys\n";

static const char experiments[] =
	"From one run to a figure, without root:\n"
	"\n"
	"  weft run FILE                                              one run\n"
	"  weft sweep FILE --vary traffic.0.load=10%:90%:10% --seeds 1:5 -o DIR\n"
	"  weft plot DIR --kind latency-throughput -o FIGURE.png\n"
	"  weft reproduce table-6                                     a published table\n"
	"\n"
	"In Python: import weft; weft.run(...), weft.sweep(...), weft.read(DIR).frame\n";

static const char up[] = "A lab is a fabric on the real clock that runs until it is taken down:\n"
			 "\n"
			 "  weft lab up LAB.yaml              start it\n"
			 "  weft lab status LAB               processes, links, counters\n"
			 "  weft lab web LAB                  a page that draws it\n"
			 "  weft lab exec LAB h0 -- ping h3   a program in a host (root; 'edges')\n"
			 "  weft lab link LAB s0:2 down       cut a cable\n"
			 "  weft lab run LAB --duration 2s    send the traffic of the file\n"
			 "  weft lab down LAB                 end it\n"
			 "\n"
			 "Without 'edges', as in topo/lab-two-leaves.yaml, a lab needs no root.\n";

static const char exits[] =
	"  0    success\n"
	"  1    completed with a bad result: frames lost, a deadlock, differences\n"
	"  2    invalid request: a file, a key, an option\n"
	"  3    not possible on this machine: memory, privileges or a package are missing\n"
	"  130  ended by Ctrl-C\n"
	"\n"
	"'weft COMMAND --help' explains exit code 1 for each command.\n";

/* The topics of 'weft help TOPIC': what a newcomer needs before reading a manual page. */
static const struct help_topic {
	const char *name;
	const char *title; /* a few words, for the list of topics */
	const char *text;
} help_topics[] = {
	{"clocks", "virtual or real, and what each is for", clocks},
	{"files", "kinds of file, units, keys", files},
	{"experiments", "from a run to a figure", experiments},
	{"labs", "a fabric that stays up", up},
	{"exit", "exit codes", exits},
	{NULL, NULL, NULL},
};

static void print_usage(FILE *out)
{
	fputs("Weft emulates lossless HPC interconnects. New here? Try 'weft demo'.\n\n"
	      "usage: weft COMMAND [ARGUMENT]...\n\n",
		out);
	for (const struct command *command = commands; command->help != NULL; command++)
		fprintf(out, "  %-10s %s\n", command->name, command->help);
	fputs("\nSee 'weft help COMMAND [PART]' and weft(1) for details. Other help topics:\n",
		out);
	for (const struct help_topic *topic = help_topics; topic->name != NULL; topic++)
		fprintf(out, "    %-12s %s\n", topic->name, topic->title);
}

/* Debian's interpreter has the required modules; PATH may start with a different one. */
static const char *const interpreters[] = {"/usr/bin/python3", "python3"};

#define MAIN "/weft/__main__.py"

/* Passes the path of this executable to the Python package, which runs it. */
static void set_program(void)
{
	char program[PATH_MAX] = "";

	if (readlink("/proc/self/exe", program, sizeof(program) - 1) > 0)
		setenv("WEFT", program, 1);
}

/* An interpreter locates its library from the name with which it is started. Returns if it cannot
 * be started. */
static void start(const char *interpreter, char **words)
{
	words[0] = (char *)interpreter;
	execvp(interpreter, words);
}

int cmd_python(int argc, char **argv)
{
	const char *wanted = getenv("WEFT_PYTHON");
	char script[] = PYTHON_SOURCE MAIN, installed[] = PYTHON_INSTALLED MAIN;
	char isolated[] = "-I", **words;

	words = calloc((size_t)argc + 4, sizeof(*words));
	if (words == NULL)
		return (int)command_fail(argv[0], EXIT_NOT_ABLE, "out of memory");
	words[1] = isolated; /* modules in the working directory are not imported */
	words[2] = access(script, R_OK) == 0 ? script : installed;
	memcpy(words + 3, argv, (size_t)argc * sizeof(*words));
	if (access(words[2], R_OK) < 0)
		return (int)command_fail(argv[0], EXIT_NOT_ABLE,
			"cannot find %s; install the python3-weft package", words[2]);
	set_program();
	if (wanted != NULL)
		start(wanted, words);
	for (size_t i = 0; wanted == NULL && i < sizeof(interpreters) / sizeof(interpreters[0]);
		i++)
		start(interpreters[i], words);
	return (int)command_fail(argv[0], EXIT_NOT_ABLE, "cannot start %s: %s",
		wanted != NULL ? wanted : "python3", strerror(errno));
}

/* Checks that the output was written: a full disk or a closed output is an error. */
static int check_output(const char *name, int result)
{
	bool bad = ferror(stdout) != 0;

	errno = 0;
	bad = fflush(stdout) != 0 || bad;
	if (!bad || result == EXIT_BAD_REQUEST || result == EXIT_NOT_ABLE)
		return result;
	return (int)command_fail(name, EXIT_NOT_ABLE, "standard output: cannot be written%s%s",
		errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
}

/* Arguments of other programs, as after 'weft lab exec LAB HOST', may also contain -h. */
#define HELP_WORDS 4

/* Replaces -h by --help after the command or subcommand, or as the first argument of either. */
static void expand_help(int argc, char **argv)
{
	for (int i = 1; i < argc && i <= HELP_WORDS && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "-h") == 0)
			argv[i] = (char *)"--help";
}

static int run_command(int argc, char **argv)
{
	struct did_you_mean nearest;

	for (const struct command *command = commands; command->name != NULL; command++)
		if (strcmp(command->name, argv[0]) == 0)
			return check_output(command->name, command->run(argc, argv));
	did_you_mean_init(&nearest, argv[0]);
	for (const struct command *command = commands; command->help != NULL; command++)
		did_you_mean_offer(&nearest, command->name);
	fprintf(stderr, "weft: no command '%s'%s%s; 'weft help' lists them\n", argv[0],
		nearest.best != NULL ? ", nearest is " : "",
		nearest.best != NULL ? nearest.best : "");
	return EXIT_BAD_REQUEST;
}

/* 'weft help COMMAND WORD...' means 'weft COMMAND WORD... --help'; 'weft help TOPIC' prints a
 * text. */
static int help(int argc, char **argv)
{
	if (argc < 3 || strcmp(argv[2], "--help") == 0) {
		print_usage(stdout);
		return check_output("help", EXIT_DONE);
	}
	for (const struct help_topic *topic = help_topics; topic->name != NULL; topic++)
		if (strcmp(topic->name, argv[2]) == 0) {
			fputs(topic->text, stdout);
			return check_output("help", EXIT_DONE);
		}
	argv++;
	argc--;
	for (int i = 0; i + 1 < argc; i++)
		argv[i] = argv[i + 1];
	argv[argc - 1] = (char *)"--help";
	return run_command(argc, argv);
}

int main(int argc, char **argv)
{
	static struct tty_escape guard;

	tty_escape(&guard);
	/* If the parent ignored SIGCHLD, the exit status of children would be lost. */
	signal(SIGCHLD, SIG_DFL);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_BAD_REQUEST;
	}
	expand_help(argc, argv);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
		return help(strcmp(argv[1], "help") == 0 ? argc : 1, argv);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("weft %s\n", WEFT_VERSION);
		return check_output("version", EXIT_DONE);
	}
	return run_command(argc - 1, argv + 1);
}
