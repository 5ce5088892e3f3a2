/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "lab_snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/lab/lab.h"
#include "experiment/lab/lab_config.h"
#include "os/atomic_file.h"
#include "os/private_dir.h"
#include "topo/topology.h"

#define SOURCE_MARK "# started from "

#define KEYS_MAX 160

/* The first difference between two lab files, both written by lab_config_explain(). */

struct difference {
	char path[KEYS_MAX]; /* path of keys: "traffic.0.load" */
	char *text;
	size_t size;
	const char *const *but; /* top-level keys that are not compared; NULL ends the list */
};

static const char *value_of(const struct yaml_tree_node *node)
{
	if (node == NULL)
		return "nothing";
	if (node->kind == YAML_TREE_SCALAR)
		return node->text;
	return node->kind == YAML_TREE_MAP ? "a map" : "a list";
}

static bool differs(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	snprintf(at->text, at->size, "%s: %s in the file, %s in the lab", at->path, value_of(file),
		value_of(lab));
	return true;
}

static bool compare(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab);

static bool compare_below(struct difference *at, const char *key, const struct yaml_tree_node *file,
	const struct yaml_tree_node *lab)
{
	size_t length = strlen(at->path);
	bool found;

	for (const char *const *but = at->but; length == 0 && *but != NULL; but++)
		if (strcmp(*but, key) == 0)
			return false;
	snprintf(at->path + length, KEYS_MAX - length, "%s%s", length > 0 ? "." : "", key);
	found = file == NULL || lab == NULL ? differs(at, file, lab) : compare(at, file, lab);
	at->path[length] = '\0';
	return found;
}

static bool compare_maps(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	for (const struct yaml_tree_node *node = file->first; node != NULL; node = node->next)
		if (compare_below(at, node->key, node, yaml_tree_get(lab, node->key)))
			return true;
	for (const struct yaml_tree_node *node = lab->first; node != NULL; node = node->next)
		if (yaml_tree_get(file, node->key) == NULL &&
			compare_below(at, node->key, NULL, node))
			return true;
	return false;
}

static bool compare_lists(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	const struct yaml_tree_node *one = file->first, *other = lab->first;
	char key[16];

	for (unsigned i = 0; one != NULL || other != NULL; i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (compare_below(at, key, one, other))
			return true;
		one = one->next;
		other = other->next;
	}
	return false;
}

static bool compare(
	struct difference *at, const struct yaml_tree_node *file, const struct yaml_tree_node *lab)
{
	if (file->kind != lab->kind)
		return differs(at, file, lab);
	switch (file->kind) {
	case YAML_TREE_MAP:
		return compare_maps(at, file, lab);
	case YAML_TREE_SEQUENCE:
		return compare_lists(at, file, lab);
	default:
		return strcmp(file->text, lab->text) != 0 && differs(at, file, lab);
	}
}

/* Writes "traffic.0.load: 6% in the file, 2% in the lab"; "" if there is no difference. */
static void lab_difference_find(const struct yaml_tree_node *file, const struct yaml_tree_node *lab,
	const char *const *but, char *text, size_t size)
{
	struct difference at = {.path = "", .text = text, .size = size, .but = but};

	text[0] = '\0';
	compare(&at, file, lab);
}

static void kept_path(const char *dir, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/" LAB_KEPT_FILE, dir);
}

/* --- writing --- */

/* Returns 0 or -ENOMEM. */
static int include_topology(const struct lab *lab)
{
	struct run_config_topology *topology = &lab->config->run.topology;

	if (topology->spec == NULL || topology_is_generated(topology->spec))
		return 0;
	topology->in_place = topology_copy(lab->topology);
	if (topology->in_place == NULL)
		return -ENOMEM;
	free(topology->spec);
	topology->spec = NULL;
	return 0;
}

char *lab_snapshot_text(const struct lab *lab, size_t *length)
{
	char *text = NULL;
	FILE *memory = include_topology(lab) == 0 ? open_memstream(&text, length) : NULL;
	bool good;

	if (memory == NULL)
		return NULL;
	good = lab_config_explain(lab->config, memory) == 0;
	if (fclose(memory) == 0 && good)
		return text;
	free(text);
	return NULL;
}

int lab_snapshot_write(const struct lab *lab, struct error *error)
{
	char path[PATH_MAX], *text;
	struct atomic_file file = {.path = path};
	size_t length;
	int result;

	kept_path(lab->plan->run_dir, path);
	text = lab_snapshot_text(lab, &length);
	if (text == NULL)
		return error_set(error, ENOMEM, "out of memory");
	result = atomic_file_open(&file, error);
	if (result == 0) {
		fprintf(file.file, SOURCE_MARK "%s\n", lab->path);
		if (lab->dilated)
			fprintf(file.file, LAB_FORM_DILATED "%" PRIu32 "\n",
				lab->config->run.dilation);
		fputs(text, file.file);
		result = atomic_file_close(&file, error);
	}
	free(text);
	return result;
}

/* --- comparing --- */

int lab_snapshot_check(const struct lab *lab, struct error *error)
{
	static const char *const none[] = {NULL};

	return lab_snapshot_check_but(lab, none, error);
}

int lab_snapshot_check_but(const struct lab *lab, const char *const *but, struct error *error)
{
	char path[PATH_MAX], difference[256] = "", *text;
	struct yaml_tree *kept, *given;
	size_t length;

	kept_path(lab->plan->run_dir, path);
	if (access(path, F_OK) != 0)
		return 0;
	text = lab_snapshot_text(lab, &length);
	if (text == NULL)
		return error_set(error, ENOMEM, "out of memory");
	given = yaml_tree_parse(text, length, lab->path, error);
	kept = given != NULL ? yaml_tree_load(path, error) : NULL;
	if (kept != NULL)
		lab_difference_find(yaml_tree_root(given), yaml_tree_root(kept), but, difference,
			sizeof(difference));
	yaml_tree_destroy(kept);
	yaml_tree_destroy(given);
	free(text);
	if (kept == NULL)
		return -EINVAL;
	if (difference[0] == '\0')
		return 0;
	return error_set(error, EINVAL,
		"%s: lab %s was started with a different file: %s. To apply this file, run 'weft lab up --restart %s'; to use the lab as it is, give the name %s instead of the file",
		lab->path, lab->plan->lab, difference, lab->path, lab->plan->lab);
}

/* --- finding --- */

void lab_snapshot_source(const char *dir, char *path, size_t size)
{
	char name[PATH_MAX], line[PATH_MAX] = "";
	FILE *file;

	path[0] = '\0';
	kept_path(dir, name);
	file = fopen(name, "re");
	if (file == NULL)
		return;
	if (fgets(line, sizeof(line), file) != NULL &&
		strncmp(line, SOURCE_MARK, strlen(SOURCE_MARK)) == 0) {
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, size, "%s", line + strlen(SOURCE_MARK));
	}
	fclose(file);
}

/* For paths in the lab folder: lab names do not contain dots. */
static bool has_console_end(const char *dir)
{
	size_t length = strlen(dir), end = strlen(LAB_CONSOLE_END);

	return length > end && strcmp(dir + length - end, LAB_CONSOLE_END) == 0;
}

bool lab_snapshot_is_console(const char *dir)
{
	struct lab_config *config = NULL;
	struct error ignored;
	char path[PATH_MAX];
	bool console;

	kept_path(dir, path);
	if (private_dir_check(dir, NULL) == 0 && !lab_state_exists(dir) && access(path, F_OK) == 0)
		config = lab_config_load(path, NULL, 0, &ignored);
	console = config != NULL && config->machines.count > 0;
	lab_config_destroy(config);
	return console;
}

/* Like realpath(), but the file need not exist. */
static bool make_absolute(const char *file, char out[PATH_MAX])
{
	char folder[PATH_MAX], name[PATH_MAX], whole[PATH_MAX];
	int length;

	snprintf(folder, sizeof(folder), "%s", file);
	snprintf(name, sizeof(name), "%s", file);
	if (realpath(dirname(folder), whole) == NULL)
		return false;
	length = snprintf(out, PATH_MAX, "%s/%s", whole, basename(name));
	return length < PATH_MAX;
}

int lab_snapshot_check_source(const struct lab *lab, struct error *error)
{
	char given[PATH_MAX], source[PATH_MAX];

	lab_snapshot_source(lab->plan->run_dir, source, sizeof(source));
	if (source[0] == '\0' || !make_absolute(lab->path, given) || strcmp(source, given) == 0 ||
		lab_snapshot_check(lab, error) == 0)
		return 0;
	return error_set(error, EINVAL,
		"%s: lab %s was started from %s; to take it down, give its name instead of the file",
		lab->path, lab->plan->lab, source);
}

/* Finds the lab that was started from a file that no longer exists. */
static bool find_by_source(const char *file, struct lab_target *target)
{
	char labs[RUNTIME_DIR_MAX], wanted[PATH_MAX], source[PATH_MAX], dir[sizeof(target->dir)];
	struct dirent *entry;
	bool found = false;
	DIR *folder;

	runtime_dir_labs(labs);
	folder = make_absolute(file, wanted) ? opendir(labs) : NULL;
	while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.' || snprintf(dir, sizeof(dir), "%s/%s", labs,
						       entry->d_name) >= (int)sizeof(dir))
			continue;
		lab_snapshot_source(dir, source, sizeof(source));
		found = strcmp(source, wanted) == 0;
	}
	if (found) {
		snprintf(target->dir, sizeof(target->dir), "%s", dir);
		target->console = has_console_end(dir);
	}
	if (folder != NULL)
		closedir(folder);
	return found;
}

static bool find_folder(const char *name, const char *end, struct lab_target *target)
{
	char labs[RUNTIME_DIR_MAX];

	runtime_dir_labs(labs);
	return snprintf(target->dir, sizeof(target->dir), "%s/%s%s", labs, name, end) <
		       (int)sizeof(target->dir) &&
	       access(target->dir, F_OK) == 0;
}

/* Finds a lab by name. The console may also be one of the machines. */
static bool find_by_name(const struct lab_arguments *arguments, struct lab_target *target)
{
	const char *name = arguments->file;

	if (arguments->run_dir != NULL) {
		snprintf(target->dir, sizeof(target->dir), "%s", arguments->run_dir);
		target->console =
			arguments->machine == NULL && lab_snapshot_is_console(target->dir);
		return access(target->dir, F_OK) == 0;
	}
	if (strchr(name, '/') != NULL || name[0] == '.')
		return false;
	target->console = arguments->machine == NULL && find_folder(name, LAB_CONSOLE_END, target);
	return target->console || find_folder(name, "", target);
}

/* Unambiguous: a file, or a topology generator with options. */
static bool is_file(const char *name)
{
	struct stat status;

	if (stat(name, &status) == 0)
		return !S_ISDIR(status.st_mode);
	return topology_is_generated(name) && strchr(name, ':') != NULL;
}

int lab_snapshot_find(
	const struct lab_arguments *arguments, struct lab_target *target, struct error *error)
{
	const char *file = arguments->file, *run_dir = arguments->run_dir;
	/* A folder, or a topology kind such as 'ring', may have the same name as a lab. */
	bool known = access(file, F_OK) == 0 || topology_is_generated(file), found;

	*target = (struct lab_target){0};
	found = !is_file(file) && !(known && run_dir != NULL) && find_by_name(arguments, target);
	target->by_name = found || !known;
	if (!target->by_name) {
		snprintf(target->file, sizeof(target->file), "%s", file);
		snprintf(target->dir, sizeof(target->dir), "%s", run_dir != NULL ? run_dir : "");
		return 0;
	}
	if (!found && !find_by_source(file, target))
		return error_set(error, ENOENT,
			"%s: no such lab file, and no lab with that name is up ('weft lab list' lists the labs)",
			file);
	if (private_dir_check(target->dir, error) < 0)
		return -EPERM;
	snprintf(target->file, sizeof(target->file), "%s/" LAB_KEPT_FILE, target->dir);
	return 0;
}

static int check_machine(
	const struct lab_arguments *arguments, const struct lab *lab, struct error *error)
{
	if (arguments->machine == NULL || lab_machine_find(lab->config, arguments->machine) >= 0)
		return 0;
	return error_set(error, EINVAL, "--machine %s: no such machine in %s", arguments->machine,
		lab->path);
}

int lab_snapshot_open(const struct lab_arguments *arguments, struct lab *lab,
	struct lab_target *target, struct error *error)
{
	int result = lab_snapshot_find(arguments, target, error);
	char labs[RUNTIME_DIR_MAX];

	if (result < 0)
		return result;
	result = lab_open(lab, target->file, target->dir[0] != '\0' ? target->dir : NULL, error);
	if (result < 0)
		return result;
	result = check_machine(arguments, lab, error);
	if (result < 0) {
		lab_close(lab);
		return result;
	}
	if (target->by_name || arguments->machine != NULL || lab->config->machines.count == 0)
		return 0;
	target->console = true;
	if (arguments->run_dir != NULL)
		return 0;
	runtime_dir_labs(labs);
	snprintf(
		target->dir, sizeof(target->dir), "%s/%s" LAB_CONSOLE_END, labs, lab->config->name);
	lab_close(lab);
	return lab_open(lab, target->file, target->dir, error);
}

void lab_snapshot_expect_file(const struct lab_arguments *arguments, struct error *error)
{
	struct lab_target target;
	char source[PATH_MAX] = "";

	if (lab_snapshot_find(arguments, &target, NULL) == 0 && target.by_name)
		lab_snapshot_source(target.dir, source, sizeof(source));
	if (source[0] != '\0')
		error_set(error, ENOENT,
			"%s: this is the name of a lab that is up; use its lab file, %s",
			arguments->file, source);
}
