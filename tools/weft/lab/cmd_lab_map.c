/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft lab map: prints the topology that the mapper found, and how it differs from the file's. */

#include "cmd_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/output_file.h"
#include "lab_mapping.h"
#include "lab_state.h"
#include "mapper/fabric_map.h"
#include "topo/cmd_topo.h"
#include "topo/formats/topology_format.h"
#include "topo/topology.h"
#include "topo/topology_hosts.h"

#define COMMAND "lab map"

/* --- asking --- */

/* Returns the merged mapping of all processes that answer, and the number of those that do not. */
static json_t *ask_all(const struct lab_state *state, unsigned *silent)
{
	json_t *mapping = lab_mapping_create();

	for (unsigned i = 0; i < state->processes; i++) {
		const struct lab_record *record = &state->process[i];
		struct error error;

		if (lab_record_alive(record) &&
			lab_mapping_add(mapping, record, state->dir, &error) < 0) {
			fprintf(stderr, "weft " COMMAND ": %s\n", error.text);
			(*silent)++;
		}
	}
	return mapping;
}

/* Returns the map of a mapper without neighbours. A topology file cannot express it. */
static struct topology *map_of_one(const char *host, struct error *error)
{
	struct topology *alone = topology_create("", 0, 1);

	if (alone == NULL) {
		error_set(error, ENOMEM, "out of memory");
		return NULL;
	}
	snprintf(alone->host_at[0].name, TOPOLOGY_NAME_MAX, "%s", host);
	alone->host_at[0].cut_off = true;
	if (topology_finish(alone, host, error) == 0)
		return alone;
	topology_destroy(alone);
	return NULL;
}

static struct topology *ask_map(
	const struct lab *lab, const struct lab_state *state, const char *host, struct error *error)
{
	const struct lab_record *record = lab_record_of(lab, state, host);
	char text[TOPOLOGY_NAME_MAX + 16], path[LAB_CONTROL_PATH];
	struct topology *found = NULL;
	struct lab_connection connection;

	if (record == NULL) {
		error_set(
			error, ENODEV, "%s: the process of this device was not started here", host);
		return NULL;
	}
	if (lab_connect(&connection, record, error) < 0)
		return NULL;
	snprintf(text, sizeof(text), "mapper map %s", host);
	if (lab_control_file(&connection, record, state->dir, text, path, error) == 0) {
		found = topology_load(path, error);
		if (found != NULL && found->hosts == 0) {
			topology_destroy(found);
			found = map_of_one(host, error);
		}
		if (found != NULL)
			snprintf(found->name, sizeof(found->name), "%s", lab->plan->lab);
		unlink(path);
	}
	lab_disconnect(&connection);
	return found;
}

/* --- writing --- */

enum form { TOPOLOGY_FILE, GRAPHVIZ, DOCUMENT };

/* Chooses the format from the options or the file's suffix. Returns 0, or -EINVAL with error
 * set. */
static int choose_form(const struct lab_arguments *arguments, enum form *form, struct error *error)
{
	static const struct {
		const char *ending;
		enum form form;
	} known[] = {{".yaml", TOPOLOGY_FILE}, {".yml", TOPOLOGY_FILE}, {".json", DOCUMENT},
		{".dot", GRAPHVIZ}, {".gv", GRAPHVIZ}};
	const char *path = arguments->output != NULL ? arguments->output : "";
	const char *slash = strrchr(path, '/');
	const char *ending = strrchr(slash != NULL ? slash : path, '.');

	if (arguments->json && arguments->dot)
		return error_set(error, EINVAL, "--dot and --json cannot be combined");
	*form = arguments->json ? DOCUMENT : arguments->dot ? GRAPHVIZ : TOPOLOGY_FILE;
	if (*form != TOPOLOGY_FILE || ending == NULL)
		return 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(ending, known[i].ending) == 0) {
			*form = known[i].form;
			return 0;
		}
	return error_set(
		error, EINVAL, "-o %s: the file must end in .yaml, .yml, .json, .dot or .gv", path);
}

/* Returns the differences, one per line. Returns NULL if out of memory. */
static char *compare(
	const struct topology *found, const struct topology *expected, unsigned *differences)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (out == NULL)
		return NULL;
	*differences = miscabling_report(found, expected, out);
	if (fclose(out) != 0)
		return NULL;
	return text;
}

static json_t *lines_json(char *text)
{
	json_t *list = json_array();
	char *line, *rest = text;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			json_array_append_new(list, json_string(line));
	return list;
}

static enum weft_exit fail_to_write(struct output_file *output)
{
	int cause = errno;

	output_file_discard(output);
	return command_fail(COMMAND, EXIT_NOT_ABLE, "%s: cannot be written: %s",
		output->path != NULL ? output->path : "standard output", strerror(cause));
}

static int write_document(json_t *json, FILE *out)
{
	int result = json_dumpf(json, out, JSON_INDENT(2));

	fputc('\n', out);
	json_decref(json);
	return result;
}

static int write_json(
	const struct topology *found, const json_t *leader, char *differences, FILE *out)
{
	json_t *json = json_pack("{s:O,s:b,s:O,s:o,s:o}", "mapper", json_object_get(leader, "host"),
		"mapper_elsewhere", 0, "epoch", json_object_get(leader, "epoch"), "differences",
		lines_json(differences), "topology", cmd_topo_json(found));

	return write_document(json, out);
}

/* Call if the map is on another machine: writes what is known on this one. */
static enum weft_exit write_lead(const struct lab_arguments *arguments, const struct lab_lead *lead)
{
	struct output_file output = {.command = COMMAND, .path = arguments->output};
	enum weft_exit result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	if (write_document(
		    json_pack("{s:s,s:b,s:I,s:n,s:n}", "mapper", lead->host, "mapper_elsewhere", 1,
			    "epoch", lead->epoch, "differences", "topology"),
		    output.file) == 0)
		return output_file_close(&output);
	return fail_to_write(&output);
}

/* A later reader would mistake the default rates for those of the fabric. */
static int write_topology(const struct lab *lab, const struct topology *found, FILE *out)
{
	struct error error;
	struct topology *attached = topology_attached(found, &error);
	int result;

	if (attached == NULL)
		return -ENOMEM;
	fprintf(out,
		"# Discovered by the mapper of lab %s. Rates and delays cannot be discovered, so these are the defaults.\n",
		lab->plan->lab);
	result = topology_write(attached, out);
	topology_destroy(attached);
	return result;
}

static enum weft_exit write_map(const struct lab_arguments *arguments, enum form form,
	const struct lab *lab, const struct topology *found, const json_t *leader,
	char *differences)
{
	struct output_file output = {.command = COMMAND, .path = arguments->output};
	struct error error;
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	if (form == DOCUMENT)
		result = write_json(found, leader, differences, output.file);
	else if (form == GRAPHVIZ)
		result = format_dot.write(found, output.file, &error);
	else
		result = write_topology(lab, found, output.file);
	if (result == 0)
		return output_file_close(&output);
	return fail_to_write(&output);
}

/* --- the whole --- */

static struct topology *open_expected(const struct lab *lab, struct error *error)
{
	const char *expect = lab->config->run.mapper.expect;

	return expect != NULL ? topology_open(expect, error) : topology_copy(lab->topology);
}

static const char *expectation(const struct lab *lab)
{
	const char *expect = lab->config->run.mapper.expect;

	return expect != NULL ? expect : lab->path;
}

static enum weft_exit write_checked(const struct lab_arguments *arguments, enum form form,
	const struct lab *lab, const struct topology *found, const json_t *leader)
{
	struct error error = {"out of memory"};
	struct topology *expected = open_expected(lab, &error);
	unsigned differences = 0;
	char *text = expected != NULL ? compare(found, expected, &differences) : NULL;
	enum weft_exit result;

	if (text == NULL)
		result = command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);
	else {
		if (differences > 0)
			fprintf(stderr,
				"weft " COMMAND ": %u difference%s from what %s expects:\n%s",
				differences, differences == 1 ? "" : "s", expectation(lab), text);
		result = write_map(arguments, form, lab, found, leader, text);
	}
	free(text);
	topology_destroy(expected);
	return result == EXIT_DONE && differences > 0 ? EXIT_BAD_ANSWER : result;
}

/* Returns the map of the leader; with planes, the merged maps of all leaders. */
static struct topology *ask_maps(const struct lab *lab, const struct lab_state *state,
	const json_t *mapping, const json_t *leader, struct error *error)
{
	struct topology *found = ask_map(lab, state, lab_text(leader, "host"), error);
	json_t *mapper;

	for (size_t i = 0;
		(mapper = json_array_get(json_object_get(mapping, "mappers"), i)) != NULL; i++) {
		struct topology *further, *all;

		if (found == NULL || !topology_has_rails(lab->topology) || mapper == leader ||
			!lab_mapping_leads(mapper))
			continue;
		further = ask_map(lab, state, lab_text(mapper, "host"), error);
		all = further != NULL ? topology_join(found, further, error) : NULL;
		topology_destroy(further);
		topology_destroy(found);
		found = all;
	}
	return found;
}

static enum weft_exit show_found(const struct lab_arguments *arguments, enum form form,
	const struct lab *lab, const struct lab_state *state, const json_t *mapping,
	const json_t *leader)
{
	struct error error;
	struct topology *found = ask_maps(lab, state, mapping, leader, &error);
	enum weft_exit result = found != NULL
					? write_checked(arguments, form, lab, found, leader)
					: command_fail(COMMAND, EXIT_NOT_ABLE, "%s", error.text);

	topology_destroy(found);
	return result;
}

/* No mapper leads here. */
static enum weft_exit show_lead(const struct lab_arguments *arguments, enum form form,
	const struct lab *lab, const struct lab_state *state, const json_t *mapping)
{
	json_t *elsewhere = lab_elsewhere(lab->plan, state);
	struct lab_lead lead = lab_mapping_lead(mapping, elsewhere);
	enum weft_exit result = EXIT_DONE;
	struct error why;

	json_decref(elsewhere);
	if (!lab_lead_lives(&lead, &why) && lead.host == NULL)
		return command_fail(
			COMMAND, EXIT_BAD_ANSWER, "%s in lab %s", why.text, lab->plan->lab);
	if (form == DOCUMENT)
		result = write_lead(arguments, &lead);
	if (result != EXIT_DONE)
		return result;
	if (lead.silent)
		return command_fail(COMMAND, EXIT_BAD_ANSWER, "%s", why.text);
	return command_fail(COMMAND, EXIT_BAD_ANSWER,
		"mapper %s on another machine leads lab %s in epoch %lld and has the map; run 'weft lab map' there",
		lead.host, lab->plan->lab, (long long)lead.epoch);
}

static enum weft_exit show_map(
	const struct lab_arguments *arguments, const struct lab *lab, const struct lab_state *state)
{
	enum weft_exit result;
	struct error error;
	unsigned silent = 0;
	json_t *mapping;
	enum form form;

	choose_form(arguments, &form, &error);
	if (lab->config->run.mapper.routes == RUN_ROUTES_STATIC)
		return command_fail(COMMAND, EXIT_BAD_REQUEST,
			"%s: the lab's routes are static, so no mapper is running; use 'mapper: "
			"{routes: mapper}'",
			lab->path);
	mapping = ask_all(state, &silent);
	if (lab_mapping_leader(mapping) != NULL)
		result = show_found(
			arguments, form, lab, state, mapping, lab_mapping_leader(mapping));
	else if (silent > 0)
		result = command_fail(COMMAND, EXIT_NOT_ABLE,
			"no mapper leads among the processes of lab %s that answer",
			lab->plan->lab);
	else
		result = show_lead(arguments, form, lab, state, mapping);
	json_decref(mapping);
	return result;
}

enum weft_exit cmd_lab_map(const struct lab_arguments *arguments)
{
	struct error error;
	enum form form;

	if (choose_form(arguments, &form, &error) < 0)
		return command_fail(COMMAND, EXIT_BAD_REQUEST, "%s", error.text);
	return lab_with_running(arguments, COMMAND, show_map);
}
