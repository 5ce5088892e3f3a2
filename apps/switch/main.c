/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-switch: emulated switches on DPDK ports. EAL's options stand before '--', ours after it. */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "eal.h"
#include "lab_mode.h"
#include "options.h"
#include "result.h"
#include "standalone.h"

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	(void)number;
	stop = 1;
}

/* A second signal ends the program the hard way. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int fail(int result, const struct fault *fault)
{
	fprintf(stderr, "weft-switch: %s\n", fault->text);
	return fault_exit_code(result);
}

/* Ours are what follows "--", or all of them. */
static void parse_options(struct switch_options *options, int argc, char **argv)
{
	char *separator;
	int first = 0;

	for (int i = 1; i < argc && first == 0; i++)
		if (strcmp(argv[i], "--") == 0)
			first = i;
	if (first == 0) {
		switch_options_parse(options, argc, argv);
		return;
	}
	separator = argv[first];
	argv[first] = argv[0];
	switch_options_parse(options, argc - first, argv + first);
	argv[first] = separator;
}

static int report(const struct standalone *standalone)
{
	const char *wrong = switch_check(standalone->sw);

	if (standalone->options->json && result_print_json(standalone, stdout) < 0) {
		fprintf(stderr, "weft-switch: the result cannot be written\n");
		return EXIT_NOT_ABLE;
	}
	if (!standalone->options->json)
		result_print(standalone, stdout);
	if (wrong == NULL)
		return EXIT_DONE;
	fprintf(stderr, "weft-switch: %s: %s\n", standalone->options->name, wrong);
	return EXIT_BAD_ANSWER;
}

static int run(const struct switch_options *options, int argc, char **argv)
{
	struct fault fault;
	struct standalone *standalone = standalone_create(options, argc, argv, &fault);
	int result;

	if (standalone == NULL)
		return fail(-errno, &fault);
	result = standalone_run(standalone, &stop, &fault);
	result = result < 0 ? fail(result, &fault) : report(standalone);
	standalone_destroy(standalone);
	return result;
}

int main(int argc, char **argv)
{
	const struct eal_options eal = {.lcores = 1, .memory_mib = 1024};
	struct switch_options options;
	struct fault fault;
	int result;

	if (lab_mode_asked_for(argc, argv))
		return lab_mode_main(argc, argv);
	parse_options(&options, argc, argv);
	catch_signals();
	result = eal_start(argc, argv, &eal, &fault);
	if (result < 0)
		return fail(result, &fault);
	result = run(&options, argc, argv);
	eal_stop();
	return result;
}
