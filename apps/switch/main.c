/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft-switch: emulated switches on DPDK ports. EAL's options precede '--', its own follow it. */

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>

#include "eal.h"
#include "lab_process.h"
#include "options.h"
#include "privileges.h"
#include "program.h"
#include "sandbox.h"
#include "standalone.h"
#include "terminal_guard.h"

static int fail(int result, const struct fault *fault)
{
	fprintf(stderr, "weft-switch: %s\n", fault->text);
	return fault_exit_code(result);
}

static int report(const struct standalone *standalone)
{
	const char *wrong = standalone_check(standalone);

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

/* DPDK's ports are of any kind here. */
static int confine(const struct switch_options *options, struct fault *fault)
{
	const struct sandbox_options sandbox = {.program = "weft-switch"};
	int result = privileges_keep(PRIVILEGE(CAP_NET_ADMIN) | PRIVILEGE(CAP_NET_RAW) |
					     PRIVILEGE(CAP_SYS_RAWIO) | PRIVILEGE(CAP_IPC_LOCK),
		fault);

	return result == 0 && options->sandbox ? sandbox_enter(&sandbox, fault) : result;
}

static int run(const struct switch_options *options, int argc, char **argv, const atomic_bool *stop)
{
	struct fault fault;
	struct standalone *standalone = standalone_create(options, argc, argv, &fault);
	int result;

	if (standalone == NULL)
		return fail(-errno, &fault);
	result = confine(options, &fault);
	if (result == 0)
		result = standalone_run(standalone, stop, &fault);
	result = result < 0 ? fail(result, &fault) : report(standalone);
	standalone_destroy(standalone);
	return result;
}

/* As a part of a lab: --lab FILE --switch NAME… */
static int run_lab(int argc, char **argv)
{
	static struct lab_process_options options;

	lab_process_parse(&options, LAB_ROLE_SWITCHES, argc, argv);
	return (int)lab_process_main(&options);
}

int main(int argc, char **argv)
{
	static struct terminal_guard guard;
	struct switch_options options;
	struct eal_options eal;
	const atomic_bool *stop;
	struct fault fault;
	int result;

	terminal_guard(&guard);
	if (lab_process_asked_for(argc, argv))
		return run_lab(argc, argv);
	switch_options_parse(&options, argc, argv);
	stop = program_catch_signals();
	eal = (struct eal_options){.lcores = options.lcores,
		.lcore_cpus = options.lcore_cpus,
		.memory_mib = standalone_memory_mib(&options, argc, argv)};
	result = eal_start(argc, argv, &eal, &fault);
	if (result < 0)
		return fail(result, &fault);
	result = run(&options, argc, argv, stop);
	eal_stop();
	return result;
}
