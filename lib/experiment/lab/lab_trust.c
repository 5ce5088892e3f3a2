/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_trust.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "os/atomic_file.h"
#include "os/private_dir.h"

static bool is_named(const struct lab_trust *trust, const char *path)
{
	for (unsigned i = 0; i < trust->count; i++)
		if (same_file(trust->file[i], path))
			return true;
	return false;
}

/* The file of the topology, which may be the lab file itself; NULL: it is generated. */
static const char *topology_file(const struct lab *lab)
{
	const char *spec = lab->config->run.topology.spec;

	if (spec == NULL)
		return lab->config->run.origin;
	return topology_is_generated(spec) ? NULL : spec;
}

/* 'place' is the position of 'what' in the file 'path'; NULL: unknown. */
static int check_file(const struct lab_trust *trust, const char *path,
	const struct run_config_place *place, const char *what, struct error *error)
{
	struct error why;

	if (is_named(trust, path) || private_file_check(path, &why) == 0)
		return 0;
	return error_at(error, place != NULL && place->line == 0 ? place->option : path,
		place != NULL ? place->line : 0, place != NULL ? place->column : 0,
		"%s can make DPDK run code and write files, and %s; expected a file that only "
		"you or root can change, or '--trust %s' if you trust it",
		what, why.text, path);
}

static int check_eal(const struct lab *lab, const struct lab_trust *trust, struct error *error)
{
	const struct lab_config_words *eal = &lab->config->eal;

	if (eal->count == 0)
		return 0;
	return check_file(trust, lab->config->run.origin, &eal->place, "'eal'", error);
}

/* The ports of machines are in the lab file. */
static int check_machines(
	const struct lab *lab, const struct lab_trust *trust, uint32_t *ports, struct error *error)
{
	const struct lab_config_machine_list *machines = &lab->config->machines;

	*ports = 0;
	for (uint32_t i = 0; i < machines->count; i++)
		*ports += machines->at[i].ports;
	if (*ports == 0)
		return 0;
	return check_file(trust, lab->config->run.origin, &machines->at[0].place,
		"'ports' of 'machines'", error);
}

/* A port that the lab file also names has the same device there. */
static int check_ports(const struct lab *lab, const struct lab_trust *trust, struct error *error)
{
	const struct topology *topology = lab->topology;
	const char *path = topology_file(lab);
	char port[TOPOLOGY_NAME_MAX + 8], what[TOPOLOGY_NAME_MAX + 32];
	uint32_t of_machines;
	int result = check_machines(lab, trust, &of_machines, error);

	if (result < 0 || topology->bindings <= of_machines || path == NULL)
		return result;
	topology_port_name(topology, topology->binding_at[0].port, port, sizeof(port));
	snprintf(what, sizeof(what), "'ports' (%s and others)", port);
	if (topology->bindings == 1)
		snprintf(what, sizeof(what), "'ports' (%s)", port);
	return check_file(trust, path, NULL, what, error);
}

int lab_trust_check(const struct lab *lab, const struct lab_trust *trust, struct error *error)
{
	const char *path = topology_file(lab);
	int result;

	for (unsigned i = 0; i < trust->count; i++)
		if (!same_file(trust->file[i], lab->path) &&
			(path == NULL || !same_file(trust->file[i], path)))
			return error_set(error, EINVAL,
				"--trust %s: expected the lab file %s or the file of its topology",
				trust->file[i], lab->path);
	result = check_eal(lab, trust, error);
	return result == 0 ? check_ports(lab, trust, error) : result;
}
