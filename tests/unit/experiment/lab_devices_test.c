/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "unit.h"

#include <unistd.h>

#include "base/rng.h"
#include "experiment/lab/lab.h"

#define LEAVES 6
#define HOSTS  12

static char folder[64], file[128];
static const char *form;

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/weft-devices-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/a.yaml", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char devices[128];

	snprintf(devices, sizeof(devices), "%s/" LAB_DEVICES_FILE, folder);
	unlink(devices);
	unlink(file);
	return rmdir(folder);
}

/* A spine, and the chosen leaves and hosts. Host i is at leaf i / 2. */
static void write_lab(const bool *leaf, const bool *host)
{
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	fprintf(out, "weft: lab/1\nname: drawn\nprocesses: %s\ntopology:\n  switches:\n", form);
	for (unsigned i = 0; i < LEAVES; i++)
		if (leaf[i])
			fprintf(out, "    - {name: leaf%u, ports: 4}\n", i);
	fputs("    - {name: spine, ports: 8}\n  hosts:\n", out);
	for (unsigned i = 0; i < HOSTS; i++)
		if (leaf[i / 2] && host[i])
			fprintf(out, "    - {name: h%u}\n", i);
	fputs("  links:\n", out);
	for (unsigned i = 0; i < LEAVES; i++)
		if (leaf[i])
			fprintf(out, "    - {a: leaf%u:3, b: spine:%u}\n", i, i);
	for (unsigned i = 0; i < HOSTS; i++)
		if (leaf[i / 2] && host[i])
			fprintf(out, "    - {a: h%u:0, b: leaf%u:%u}\n", i, i / 2, i % 2);
	assert_int_equal(fclose(out), 0);
}

static void draw(struct rng *rng, bool *leaf, bool *host)
{
	for (unsigned i = 0; i < LEAVES; i++)
		leaf[i] = rng_below(rng, 2) != 0;
	for (unsigned i = 0; i < HOSTS; i++)
		host[i] = rng_below(rng, 3) != 0;
	leaf[0] = host[0] = true;
	write_lab(leaf, host);
}

static void open_first(struct lab *lab)
{
	struct error error = {""};

	if (lab_open(lab, file, folder, &error) < 0)
		fail_msg("%s", error.text);
}

/* As 'weft lab apply' does. */
static void change(struct lab *lab)
{
	struct lab_devices devices;
	struct error error = {""};
	struct lab next;

	if (lab_open_change(&next, file, lab, 77, &error) < 0)
		fail_msg("%s", error.text);
	assert_int_equal(lab_devices_of(&devices, &next, 77), 0);
	assert_int_equal(lab_devices_write(&devices, folder, &error), 0);
	lab_devices_free(&devices);
	lab_close(lab);
	*lab = next;
}

static const struct topology_device *device_of(const struct lab *lab, const char *name)
{
	int32_t at = topology_find_host(lab->topology, name);

	if (at >= 0)
		return &lab->topology->host_at[at];
	at = topology_find_switch(lab->topology, name);
	return at >= 0 ? &lab->topology->switch_at[at] : NULL;
}

/* Compares a device before and after a change. */
static void check_device(const struct lab *before, const struct lab *after, const char *name,
	int32_t (*find)(const struct topology *, const char *), bool present)
{
	int32_t number = find(before->topology, name);
	int was = lab_plan_find(before->plan, name), is = lab_plan_find(after->plan, name);
	const struct topology_device *device = device_of(after, name);

	assert_int_equal(device != NULL && !device->absent, present);
	if (number >= 0)
		assert_int_equal(find(after->topology, name), number);
	if (present && was >= 0 && !device_of(before, name)->absent)
		assert_string_equal(after->plan->process[is].name, before->plan->process[was].name);
	if (present)
		assert_true(is >= 0);
}

static void check_change(
	const struct lab *before, const struct lab *after, const bool *leaf, const bool *host)
{
	char name[16];

	for (unsigned i = 0; i < LEAVES; i++) {
		snprintf(name, sizeof(name), "leaf%u", i);
		check_device(before, after, name, topology_find_switch, leaf[i]);
	}
	for (unsigned i = 0; i < HOSTS; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		check_device(before, after, name, topology_find_host, leaf[i / 2] && host[i]);
	}
}

static void check_form(const struct lab *lab)
{
	for (unsigned i = 0; i < lab->plan->processes; i++)
		assert_int_equal(
			lab->plan->process[i].role == LAB_ROLE_WHOLE, strcmp(form, "one") == 0);
	for (uint32_t i = 0; i < lab->topology->links; i++)
		assert_int_equal(lab->plan->link[i].kind == LAB_LINK_MEMORY,
			lab->plan->link[i].process[0] == lab->plan->link[i].process[1]);
}

static void check_drawn_changes(void)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		bool leaf[LEAVES], host[HOSTS];
		char path[128];
		struct rng rng;
		struct lab lab;

		rng_init(&rng, seed, 0, 0);
		draw(&rng, leaf, host);
		open_first(&lab);
		for (unsigned step = 0; step < 8; step++) {
			OWNED(lab) before, again;

			open_first(&before);
			draw(&rng, leaf, host);
			change(&lab);
			check_change(&before, &lab, leaf, host);
			check_form(&lab);
			/* Every program that opens the file gets the same numbers and the same
			 * plan. */
			open_first(&again);
			check_change(&lab, &again, leaf, host);
			assert_int_equal(again.fabric, 77);
			assert_int_equal(again.plan->processes, lab.plan->processes);
		}
		lab_close(&lab);
		snprintf(path, sizeof(path), "%s/" LAB_DEVICES_FILE, folder);
		unlink(path);
	}
}

UNIT_WITH(devices_keep_their_numbers_and_processes_across_drawn_changes, make_folder, remove_folder)
{
	form = "each";
	check_drawn_changes();
}

UNIT_WITH(so_do_those_of_a_lab_of_one_process, make_folder, remove_folder)
{
	form = "one";
	check_drawn_changes();
}
