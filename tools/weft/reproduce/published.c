/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "published.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 8u /* at least; the words are one more */

static const char header[] = "quantity,case,network,algorithm,over,min,max,mean";

/* Cuts a line into its cells; those that it lacks are empty. False: too few or too many. */
static bool split(char *line, char *cell[COLUMNS + 1])
{
	static char empty[] = "";
	unsigned count = 0;

	line[strcspn(line, "\r\n")] = '\0';
	cell[COLUMNS] = empty;
	while (line != NULL && count <= COLUMNS)
		cell[count++] = strsep(&line, ",");
	return line == NULL && count >= COLUMNS;
}

static bool read_quantity(const char *text, struct published_row *row)
{
	static const char *const names[] = {
#define X(id, name) name,
		PUBLISHED_QUANTITIES(X)
#undef X
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool numbered = strchr(names[i], '%') != NULL;

		row->quantity = (enum published_quantity)i;
		if (numbered ? sscanf(text, names[i], &row->limit) == 1
			     : strcmp(text, names[i]) == 0)
			return row->quantity != PUBLISHED_AFTER || row->limit <= 1000;
	}
	return false;
}

static bool read_number(const char *text, double *value)
{
	char *end;

	*value = NAN;
	if (text[0] == '\0')
		return true;
	*value = strtod(text, &end);
	return *end == '\0' && isfinite(*value);
}

/* Some quantities need another algorithm, some must not have one, and for a transient both are
 * allowed. */
static bool over_fits(const struct published_row *row)
{
	if (published_is_transient(row))
		return true;
	return row->has_over ==
	       (row->quantity <= PUBLISHED_PERCENT || row->quantity == PUBLISHED_SLOWDOWN);
}

/* False: there is something wrong with it. */
static bool read_row(
	char *cell[COLUMNS + 1], const struct experiment *experiment, struct published_row *row)
{
	*row = (struct published_row){
		.case_at = experiment_find(&experiment->cases, cell[1]),
		.network = experiment_find(&experiment->networks, cell[2]),
		.algorithm = experiment_find(&experiment->algorithms, cell[3]),
		.has_over = cell[4][0] != '\0',
	};
	if (!read_quantity(cell[0], row) || !read_number(cell[5], &row->min) ||
		!read_number(cell[6], &row->max) || !read_number(cell[7], &row->mean) ||
		strlen(cell[COLUMNS]) >= sizeof(row->words))
		return false;
	strcpy(row->words, cell[COLUMNS]);
	row->over = experiment_find(
		row->quantity == PUBLISHED_SLOWDOWN ? &experiment->cases : &experiment->algorithms,
		cell[4]);
	return over_fits(row);
}

static bool is_wanted(const struct published_row *row, const struct experiment *experiment)
{
	unsigned overs = row->quantity == PUBLISHED_SLOWDOWN ? experiment->cases.count
							     : experiment->algorithms.count;

	return row->case_at < experiment->cases.count &&
	       row->network < experiment->networks.count &&
	       row->algorithm < experiment->algorithms.count &&
	       (!row->has_over || row->over < overs);
}

static int add(struct published *published, const struct published_row *row)
{
	struct published_row *more =
		realloc(published->row, (published->rows + 1) * sizeof(more[0]));

	if (more == NULL)
		return -ENOMEM;
	published->row = more;
	published->row[published->rows++] = *row;
	return 0;
}

static int read_lines(struct published *published, const struct experiment *experiment, FILE *in,
	struct fault *fault)
{
	char line[512], *cell[COLUMNS + 1];
	unsigned number = 0;
	bool begun = false;
	int result = 0;

	while (result == 0 && fgets(line, sizeof(line), in) != NULL) {
		struct published_row row;

		number++;
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!begun && strncmp(line, header, strlen(header)) != 0)
			return fault_set(fault, EINVAL, "%s:%u: expected '%s'",
				experiment->published, number, header);
		if (begun && (!split(line, cell) || !read_row(cell, experiment, &row)))
			return fault_set(fault, EINVAL, "%s:%u: expected a row of '%s'",
				experiment->published, number, header);
		if (begun && is_wanted(&row, experiment))
			result = add(published, &row);
		begun = true;
	}
	return result == 0 ? 0 : fault_set(fault, ENOMEM, "no memory");
}

int published_load(
	struct published *published, const struct experiment *experiment, struct fault *fault)
{
	FILE *in = fopen(experiment->published, "r");
	int result;

	*published = (struct published){NULL, 0};
	if (in == NULL)
		return fault_set(fault, errno, "%s: %s", experiment->published, strerror(errno));
	result = read_lines(published, experiment, in, fault);
	fclose(in);
	if (result == 0 && published->rows == 0 && !experiment_wants_all(experiment))
		result = fault_set(fault, EINVAL, "%s: no row of what the experiment has",
			experiment->published);
	return result;
}

void published_fini(struct published *published)
{
	free(published->row);
	published->row = NULL;
}
