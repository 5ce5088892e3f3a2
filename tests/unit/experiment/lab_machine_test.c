/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* The file that lists the processes of a lab that share a machine, and thus a clock. */

#include "experiment/lab/lab_plan.h"

#include <unistd.h>

#include "unit.h"

#define PROCESSES 4 /* leaf switches s0 and s1, root s2, all hosts */

struct bench {
	char folder[32];
	struct topology *network;
	struct lab_plan *plan;
	struct error error;
};

static void begin(struct bench *bench)
{
	struct lab_plan_request request = {
		.lab = "demo", .kind = LAB_LINK_MEMIF, .frame_bytes = 4238};

	*bench = (struct bench){.folder = "/tmp/weft-machine-XXXXXX"};
	assert_non_null(mkdtemp(bench->folder));
	bench->network = topology_generate("full:switches=3,hosts=1", &bench->error);
	request.topology = bench->network;
	request.run_dir = bench->folder;
	bench->plan = lab_plan_create(&request, &bench->error);
	assert_non_null(bench->plan);
	assert_int_equal(bench->plan->processes, PROCESSES);
}

static void end(struct bench *bench)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/machine", bench->folder);
	unlink(path);
	assert_int_equal(rmdir(bench->folder), 0);
	lab_plan_destroy(bench->plan);
	topology_destroy(bench->network);
}

UNIT_TEST(the_processes_that_were_written_are_read)
{
	const bool written[PROCESSES] = {true, false, false, true};
	bool here[PROCESSES] = {false, true, true, false};
	struct bench bench;

	begin(&bench);
	assert_int_equal(lab_machine_write(bench.plan, written, &bench.error), 0);
	assert_int_equal(lab_machine_read(bench.plan, here, &bench.error), 0);
	assert_memory_equal(here, written, sizeof(here));
	end(&bench);
}

UNIT_TEST(without_the_file_all_processes_share_a_machine)
{
	const bool all[PROCESSES] = {true, true, true, true};
	bool here[PROCESSES] = {false};
	struct bench bench;

	begin(&bench);
	assert_int_equal(lab_machine_read(bench.plan, here, &bench.error), 0);
	assert_memory_equal(here, all, sizeof(here));
	end(&bench);
}

UNIT_TEST(a_name_that_is_no_process_is_refused)
{
	bool here[PROCESSES];
	struct bench bench;
	char path[64];
	FILE *file;

	begin(&bench);
	snprintf(path, sizeof(path), "%s/machine", bench.folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("s0\ns9\n", file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(lab_machine_read(bench.plan, here, &bench.error), -EINVAL);
	assert_non_null(strstr(bench.error.text, "'s9' is not a process of lab demo"));
	end(&bench);
}
