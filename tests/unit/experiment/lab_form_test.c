/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "experiment/lab/lab.h"
#include "os/program_threads.h"

/* Sixteen switches, and their hosts in a separate process, which makes seventeen processes. */
#define HEAD "weft: lab/1\ncores: 1\ntopology: \"torus:dims=4x4,hosts=1\"\n"

static char folder[64], file[128];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/weft-form-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/a.yaml", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char kept[128];

	snprintf(kept, sizeof(kept), "%s/" LAB_KEPT_FILE, folder);
	unlink(kept);
	unlink(file);
	return rmdir(folder);
}

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static unsigned processes_of(const char *text, bool fresh)
{
	struct error error = {""};
	OWNED(lab) lab;
	unsigned processes;

	write_text(file, text);
	if ((fresh ? lab_open_new : lab_open)(&lab, file, folder, &error) < 0)
		fail_msg("%s", error.text);
	processes = lab.plan->processes;
	assert_int_equal(lab.config->processes, lab.plan->process[0].role == LAB_ROLE_WHOLE
							? LAB_CONFIG_PROCESSES_ONE
							: LAB_CONFIG_PROCESSES_EACH);
	return processes;
}

#define CLAIM(function) UNIT_WITH(function, make_folder, remove_folder)

CLAIM(a_file_that_says_nothing_is_one_process_where_several_are_too_many)
{
	assert_int_equal(processes_of(HEAD, true), 1);
}

CLAIM(two_loops_to_a_cpu_are_not_too_many)
{
	assert_false(lab_form_is_crowded(4, 2));
	assert_true(lab_form_is_crowded(5, 2));
}

CLAIM(each_means_several_however_many_they_are)
{
	assert_int_equal(processes_of(HEAD "processes: each\n", true), 17);
}

CLAIM(one_means_one_even_for_a_few)
{
	assert_int_equal(processes_of("weft: lab/1\ntopology: \"full:switches=2,hosts=1\"\n"
				      "processes: one\n",
				 true),
		1);
}

CLAIM(groups_and_other_links_are_several_processes)
{
	assert_int_equal(processes_of(HEAD "groups: [[s0, s1]]\n", true), 16);
	assert_int_equal(processes_of(HEAD "links: veth\n", true), 17);
	assert_int_equal(processes_of(HEAD "links: memif\n", true), 17);
	assert_int_equal(processes_of(HEAD "lcores: 2\n", true), 17);
}

/* A command may run on other CPUs than the command that started the lab. */
CLAIM(a_lab_that_is_up_keeps_its_form)
{
	char kept[128];

	snprintf(kept, sizeof(kept), "%s/" LAB_KEPT_FILE, folder);
	write_text(kept, "weft: lab/1\nprocesses: each\n");
	assert_int_equal(processes_of(HEAD, false), 17);
	assert_int_equal(processes_of(HEAD, true), 1);
	write_text(kept, "weft: lab/1\nprocesses: one\n");
	assert_int_equal(
		processes_of("weft: lab/1\ntopology: \"full:switches=2,hosts=1\"\n", false), 1);
}

static uint32_t dilation_of(const char *text, bool fresh)
{
	struct error error = {""};
	OWNED(lab) lab;
	uint32_t dilation;

	write_text(file, text);
	if ((fresh ? lab_open_new : lab_open)(&lab, file, folder, &error) < 0)
		fail_msg("%s", error.text);
	dilation = lab.config->run.dilation;
	return dilation;
}

/* The file's dilation is compared with it, so a different one in the file is detected. */
CLAIM(a_lab_that_is_up_keeps_a_dilation_that_its_file_lacks)
{
	bool dilated;
	char kept[128];

	snprintf(kept, sizeof(kept), "%s/" LAB_KEPT_FILE, folder);
	assert_int_equal(lab_form_dilation(folder, &dilated), 0);
	write_text(kept, "# started from x\n" LAB_FORM_DILATED "10\nweft: lab/1\ndilation: 10\n");
	assert_int_equal(dilation_of(HEAD, false), 10);
	assert_int_equal(dilation_of(HEAD "dilation: 5\n", false), 10);
	assert_int_equal(dilation_of(HEAD, true), 1);
	write_text(kept, "# started from x\nweft: lab/1\ndilation: 10\n");
	assert_int_equal(dilation_of(HEAD "dilation: 5\n", false), 5);
	assert_int_equal(lab_form_dilation(folder, &dilated), 10);
	assert_false(dilated);
}

CLAIM(a_lab_has_no_more_cpus_than_its_cores)
{
	const struct lab_config none = {.cores = 0}, one = {.cores = 1}, many = {.cores = 1024};

	assert_int_equal(
		lab_cpus(&(struct lab){.config = (struct lab_config *)&none}), cpu_count());
	assert_int_equal(lab_cpus(&(struct lab){.config = (struct lab_config *)&one}), 1);
	assert_int_equal(
		lab_cpus(&(struct lab){.config = (struct lab_config *)&many}), cpu_count());
}
