/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "reproduce_figure.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"

#define SAID_MAX 1024
#define COMMAND  "figure" /* of the Python package; its messages start with "weft figure: " */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void add_interval(json_t *list, const struct confidence *of)
{
	json_array_append_new(list, number(of->mean));
	json_array_append_new(list, number(of->half_width));
}

/* [x, half width, y, half width, y2, half width, hollow] */
static json_t *point_json(const struct figure_point *point)
{
	json_t *list = json_array();

	add_interval(list, &point->x);
	add_interval(list, &point->y);
	add_interval(list, &point->y2);
	json_array_append_new(list, json_boolean(point->hollow));
	return list;
}

static json_t *curves_json(const struct figure *figure)
{
	json_t *curves = json_array();

	for (unsigned i = 0; i < figure->curves; i++) {
		const struct figure_curve *curve = &figure->curve[i];
		json_t *points = json_array();

		for (unsigned j = 0; j < curve->points; j++)
			json_array_append_new(points, point_json(&curve->point[j]));
		json_array_append_new(
			curves, json_pack("{s:s,s:o}", "label", curve->label, "points", points));
	}
	return curves;
}

static json_t *figure_json(const struct figure *figure)
{
	static const char *const kinds[] = {
#define X(id, name) name,
		FIGURE_KINDS(X)
#undef X
	};
	json_t *groups = json_array();

	for (unsigned i = 0; i < figure->groups; i++)
		json_array_append_new(groups, json_string(figure->group[i]));
	return json_pack("{s:s,s:b,s:f,s:b,s:o,s:s,s:s,s:o}", "kind", kinds[figure->kind],
		"normalised", figure->normalised, "bits_per_us", figure->bits_per_us, "intervals",
		figure->intervals, "groups", groups, "quantity",
		figure->quantity != NULL ? figure->quantity : "", "network", figure->network,
		"curves", curves_json(figure));
}

/* The process that draws what 'document' has; its messages go into 'said'. */
static pid_t start_drawing(int document, int said, const char *output)
{
	char command[] = COMMAND, *name = strdup(output), *words[] = {command, name, NULL};
	pid_t pid = name != NULL ? fork() : -1;

	if (pid == 0) {
		dup2(document, STDIN_FILENO);
		dup2(said, STDERR_FILENO);
		_exit(cmd_python(2, words));
	}
	free(name);
	return pid;
}

/* The message of the process, without its prefix. */
static int check_drawing(int status, int said, struct fault *fault)
{
	static const char prefix[] = "weft " COMMAND ": ";
	char text[SAID_MAX] = "", *start = text;
	int code;

	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE)
		return 0;
	if (pread(said, text, sizeof(text) - 1, 0) < 0)
		text[0] = '\0';
	if (strncmp(text, prefix, strlen(prefix)) == 0)
		start += strlen(prefix);
	start[strcspn(start, "\n")] = '\0';
	code = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_REQUEST ? EINVAL : EIO;
	return fault_set(fault, code, "%s",
		start[0] != '\0' ? start : "the process that draws the figures failed");
}

static int draw(const json_t *document, const char *output, int in, int said, struct fault *fault)
{
	struct sigaction before, usual = {.sa_handler = SIG_DFL};
	int status = 0, result;
	pid_t pid;

	if (in < 0 || said < 0 || json_dumpfd(document, in, JSON_COMPACT) < 0 ||
		lseek(in, 0, SEEK_SET) < 0)
		return fault_set(fault, ENOMEM, "%s: no memory to draw in", output);
	sigaction(SIGCHLD, &usual, &before); /* a parent may have left it ignored */
	pid = start_drawing(in, said, output);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		result = fault_set(fault, errno, "%s: %s", output, strerror(errno));
	else
		result = check_drawing(status, said, fault);
	sigaction(SIGCHLD, &before, NULL);
	return result;
}

int figure_draw(const struct figure *figure, const char *output, struct fault *fault)
{
	json_t *document = figure_json(figure);
	int in = memfd_create("weft-figure", 0), said = memfd_create("weft-figure-said", 0);
	int result = draw(document, output, in, said, fault);

	if (in >= 0)
		close(in);
	if (said >= 0)
		close(said);
	json_decref(document);
	return result;
}

void figure_fini(struct figure *figure)
{
	for (unsigned i = 0; i < figure->curves; i++)
		free(figure->curve[i].point);
	free(figure->curve);
}
