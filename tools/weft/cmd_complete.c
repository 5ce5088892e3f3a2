/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft complete (formerly weft words): prints the words that commands and files accept, one per
 * line, for shells and scripts. */

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/name_table.h"
#include "common/commands.h"
#include "experiment/lab/config_keys.h"
#include "lab/cmd_lab.h"
#include "lab/lab_snapshot.h"
#include "route/route_algorithm.h"
#include "topo/generator.h"

#define NAME     "complete"
#define PORT_MAX (TOPOLOGY_NAME_MAX + 8)

static const char usage[] =
	"usage: weft complete kinds|algorithms|keys|labs\n"
	"       weft complete schema|table FILE[.SECTION]\n"
	"       weft complete ports|hosts [LAB]\n"
	"\n"
	"Prints words that commands and files accept, one per line, for command-line\n"
	"completion.\n"
	"  kinds       kinds of topologies\n"
	"  algorithms  routing algorithms\n"
	"  keys        keys of run, lab and topology files, with the accepted words, if\n"
	"              any: FILE KEY [WORD]...\n"
	"  schema      the JSON Schema of a run, lab or topology file\n"
	"  table       the keys of such a file or of one of its sections, as a Markdown\n"
	"              table\n"
	"  labs        labs of this user that are up\n"
	"  ports       ports with a cable in these labs, or in the named lab\n"
	"  hosts       hosts of these labs, or of the named lab\n"
	"Exit: 0 success, 2 invalid request, 3 not possible on this machine.\n";

struct request {
	const char *lab; /* NULL: all labs */
	bool names;      /* print only lab names */
	bool hosts;
};

static void print_list(const struct name_table *list)
{
	for (unsigned i = 0; i < list->count; i++)
		puts(name_table_name(list->entry[i]));
}

static void print_ports(const struct topology *topology)
{
	char name[PORT_MAX];

	for (uint32_t i = 0; i < topology->links; i++) {
		topology_port_name(topology, topology->link_at[i].a, name, sizeof(name));
		puts(name);
		topology_port_name(topology, topology->link_at[i].b, name, sizeof(name));
		puts(name);
	}
}

/* Prints nothing for a lab whose file cannot be read. */
static void print_devices(const struct request *request, const char *name, const char *dir)
{
	char path[PATH_MAX];
	struct error ignored;
	struct lab lab;

	if (request->lab != NULL && strcmp(request->lab, name) != 0)
		return;
	snprintf(path, sizeof(path), "%s/" LAB_KEPT_FILE, dir);
	if (lab_open(&lab, path, dir, &ignored) < 0)
		return;
	if (!request->hosts)
		print_ports(lab.topology);
	for (uint32_t i = 0; request->hosts && i < lab.topology->hosts; i++)
		if (!lab.topology->host_at[i].absent)
			puts(lab.topology->host_at[i].name);
	lab_close(&lab);
}

static void print_lab(const struct request *request, const char *name, const char *dir)
{
	if (request->names)
		puts(name);
	else
		print_devices(request, name, dir);
}

/* If the console is itself one of the machines, the lab is also in the other list. */
static int visit_lab(void *context, const char *name, const char *dir,
	const struct lab_state *state, struct error *error)
{
	char here[PATH_MAX];

	if (state == NULL)
		snprintf(here, sizeof(here), "%.*s", (int)(strlen(dir) - strlen(LAB_CONSOLE_END)),
			dir);
	if (state != NULL || !lab_state_exists(here))
		print_lab(context, name, dir);
	return 0;
}

static int print_of_labs(struct request *request)
{
	struct error error;
	int result = lab_list_each(false, visit_lab, request, &error);

	if (result == 0)
		result = lab_list_each(true, visit_lab, request, &error);
	return result == 0 ? EXIT_DONE : command_error(NAME, result, &error);
}

static int print_schema(const char *file)
{
	json_t *schema = config_keys_schema(file);

	if (schema == NULL)
		return command_fail(
			NAME, EXIT_BAD_REQUEST, "'%s': expected run, lab or topology", file);
	json_dumpf(schema, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(schema);
	return EXIT_DONE;
}

/* "run" or "run.switch" */
static int print_table(const char *name)
{
	const char *dot = strchrnul(name, '.');
	struct error error;
	char file[16];
	int result;

	snprintf(file, sizeof(file), "%.*s", (int)(dot - name), name);
	result = config_keys_table(file, dot + (*dot == '.'), stdout, &error);
	return result == 0 ? EXIT_DONE : command_error(NAME, result, &error);
}

int cmd_complete(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct request request = {.lab = argc > 2 ? argv[2] : NULL};

	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	request.hosts = strcmp(what, "hosts") == 0;
	if (argc <= 3 && (request.hosts || strcmp(what, "ports") == 0))
		return print_of_labs(&request);
	if (argc == 3 && strcmp(what, "schema") == 0)
		return print_schema(argv[2]);
	if (argc == 3 && strcmp(what, "table") == 0)
		return print_table(argv[2]);
	if (argc != 2)
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"expected kinds, algorithms, keys, schema FILE, table FILE, labs, ports [LAB] or "
			"hosts [LAB]");
	if (strcmp(what, "kinds") == 0)
		print_list(&generators);
	else if (strcmp(what, "algorithms") == 0)
		print_list(&route_algorithms);
	else if (strcmp(what, "keys") == 0)
		config_keys_print(stdout);
	else if (strcmp(what, "labs") == 0)
		request.names = true;
	else
		return command_fail(NAME, EXIT_BAD_REQUEST,
			"'%s': expected kinds, algorithms, keys, schema, table, labs, ports or hosts",
			what);
	return request.names ? print_of_labs(&request) : EXIT_DONE;
}
