/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "common/commands.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/name_table.h"
#include "help_topics.h"
#include "os/tty_escape.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
	{"demo", cmd_python, "a tour of two minutes, without root, that ends with a picture"},
	{"audit", cmd_audit, "check captures against the rules of the fabric"},
	{"capture", cmd_capture, "extract the packets of TAPs from a capture"},
	{"goal", cmd_goal, "make and check schedules in GOAL"},
	{"lab", cmd_lab, "a lab of real processes: up, status, top, web, run, exec, down and more"},
	{"port", cmd_port, "network interfaces on PCI: list, bind, release, check"},
	{"route", cmd_route, "compute, verify and show routes"},
	{"topo", cmd_topo, "generate, check and draw topologies"},
	{"twin", cmd_twin, "what the cables and routes of a real network allow, from its listing"},
	{"run", cmd_run, "run a fabric and measure it"},
	{"sweep", cmd_python, "run it over values of its keys and over seeds"},
	{"plot", cmd_python, "draw sweeps and results"},
	{"reproduce", cmd_python, "a figure or table of a paper: published, ours, ratio"},
	{"why", cmd_why, "where the time of captured packets went, and what caused the waits"},
	{"web", cmd_web, "a page that draws a result: loads, latencies by switch, series"},
	{"complete", cmd_complete, "the words that commands and files take, for shells"},
	{"words", cmd_complete, NULL}, /* the former name of complete */
	{"answer", cmd_answer, NULL},  /* for the Python package, not for people */
	{NULL, NULL, NULL},
};

static void print_usage(FILE *out)
{
	fputs("Weft emulates lossless HPC interconnects. New here? Try 'weft demo'.\n\n"
	      "usage: weft COMMAND [ARGUMENT]...\n\n",
		out);
	for (const struct command *command = commands; command->help != NULL; command++)
		fprintf(out, "  %-10s %s\n", command->name, command->help);
	fputs("\n'weft help COMMAND [PART]' and weft(1) explain more. Topics of 'weft help':\n",
		out);
	for (const struct help_topic *topic = help_topics; topic->name != NULL; topic++)
		fprintf(out, "    %-12s %s\n", topic->name, topic->title);
}

/* Checks that the output was written: a full disk or a closed output is an error. */
static int check_output(const char *name, int result)
{
	bool bad = ferror(stdout) != 0;

	errno = 0;
	bad = fflush(stdout) != 0 || bad;
	if (!bad || (result != EXIT_DONE && result != EXIT_BAD_ANSWER))
		return result;
	return (int)command_fail(name, EXIT_NOT_ABLE, "standard output: cannot be written%s%s",
		errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
}

/* Words of another program, as after 'weft lab exec LAB HOST', may be -h as well. */
#define HELP_WORDS 4

/* -h after the command, its part or their first argument is --help. */
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

/* 'weft help COMMAND WORD...' is 'weft COMMAND WORD... --help'; 'weft help TOPIC' prints a text. */
static int help(int argc, char **argv)
{
	const struct help_topic *topic;

	if (argc < 3 || strcmp(argv[2], "--help") == 0) {
		print_usage(stdout);
		return check_output("help", EXIT_DONE);
	}
	topic = help_topic_find(argv[2]);
	if (topic != NULL) {
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
	/* A parent may have ignored it. Then nothing would tell how our children have ended. */
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
