/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Wide tables in Markdown: a line for each subject ("UD_ITB / UD"), a column for each network. If
 * there are more networks than columns, the last word of a network's name ("hot-spot 16") is its
 * column, and the words before it are part of the line's subject. */

#include <math.h>
#include <string.h>

#include "comparison.h"
#include "comparison_cells.h"

#define COLUMNS_MIN 2u
#define COLUMNS_MAX 4u

struct columns {
	const char *name[EXPERIMENT_LIST_MAX];
	unsigned count;
};

/* The part of a network's name that names its column. */
static const char *column_name(const struct experiment *experiment, unsigned network)
{
	const char *name = experiment->networks.at[network].name;
	const char *space = strrchr(name, ' ');

	if (experiment->networks.count <= COLUMNS_MAX || space == NULL)
		return name;
	return space + 1;
}

/* The length of the part before it, which names the line. */
static size_t line_length(const struct experiment *experiment, unsigned network)
{
	const char *name = experiment->networks.at[network].name;
	const char *column = column_name(experiment, network);

	return column == name ? 0 : (size_t)(column - name) - 1;
}

/* Whether both belong to one table. */
static bool same_quantity(const struct published_row *a, const struct published_row *b)
{
	return a->quantity == b->quantity && a->limit == b->limit;
}

/* Whether both belong to one line. */
static bool same_line(const struct experiment *experiment, const struct published_row *a,
	const struct published_row *b)
{
	size_t length = line_length(experiment, a->network);

	return same_quantity(a, b) && a->case_at == b->case_at && a->algorithm == b->algorithm &&
	       a->over == b->over && length == line_length(experiment, b->network) &&
	       strncmp(experiment->networks.at[a->network].name,
		       experiment->networks.at[b->network].name, length) == 0;
}

/* Bounds and readings have a column of their own, so they cannot share a line. A row without a
 * number is in the line of those that have one. */
static bool fits(
	const struct comparison *comparison, const struct experiment *experiment, unsigned at)
{
	const struct published_row *row = comparison->row[at].published;

	if (published_is_claim(row) || published_is_reading(row))
		return false;
	for (unsigned i = 0; i < comparison->rows; i++)
		if (published_is_number(comparison->row[i].published) &&
			same_line(experiment, row, comparison->row[i].published))
			return true;
	return false;
}

static void add_column(struct columns *columns, const char *name)
{
	for (unsigned i = 0; i < columns->count; i++)
		if (strcmp(columns->name[i], name) == 0)
			return;
	columns->name[columns->count++] = name;
}

/* The columns of a row's table, in the order of the networks. */
static void columns_of(const struct comparison *comparison, const struct experiment *experiment,
	unsigned at, struct columns *columns)
{
	const struct published_row *row = comparison->row[at].published;

	columns->count = 0;
	for (unsigned network = 0; network < experiment->networks.count; network++)
		for (unsigned i = 0; i < comparison->rows; i++) {
			const struct published_row *other = comparison->row[i].published;

			if (other->network == network && same_quantity(row, other) &&
				fits(comparison, experiment, i))
				add_column(columns, column_name(experiment, network));
		}
}

bool comparison_is_wide(
	const struct comparison *comparison, const struct experiment *experiment, unsigned row)
{
	struct columns columns;

	if (!fits(comparison, experiment, row))
		return false;
	columns_of(comparison, experiment, row, &columns);
	return columns.count >= COLUMNS_MIN && columns.count <= COLUMNS_MAX;
}

/* "1.42 (1.27..1.56) → 1.51 ± 0.05 (1.06)". */
static void print_cell(
	const struct comparison_row *row, const struct experiment *experiment, FILE *out)
{
	const char *bold = row->checked && !row->within ? "**" : "";
	struct comparison_cells cells;

	comparison_cells(row, experiment, &cells);
	fprintf(out, " %s →", published_is_number(row->published) ? cells.theirs : "–");
	if (row->instances > 0)
		fprintf(out, " %s%s%s", cells.mean, cells.spread[0] != '\0' ? " ± " : "",
			cells.spread);
	if (row->instances > 0 && published_is_number(row->published))
		fprintf(out, " (%s%s%s)", bold, cells.ratio, bold);
	if (!comparison_is_whole(row))
		fprintf(out, " **%s**", cells.match);
}

/* The row of this line in that column, or NULL. */
static const struct comparison_row *find(const struct comparison *comparison,
	const struct experiment *experiment, unsigned line, const char *column)
{
	for (unsigned i = 0; i < comparison->rows; i++) {
		const struct comparison_row *row = &comparison->row[i];

		if (same_line(experiment, comparison->row[line].published, row->published) &&
			fits(comparison, experiment, i) &&
			strcmp(column_name(experiment, row->published->network), column) == 0)
			return row;
	}
	return NULL;
}

static void print_line(const struct comparison *comparison, const struct experiment *experiment,
	unsigned at, const struct columns *columns, FILE *out)
{
	const struct published_row *published = comparison->row[at].published;
	const char *case_name = experiment->cases.at[published->case_at].name;
	int length = (int)line_length(experiment, published->network);
	char subject[3 * CELL];

	comparison_subject(published, experiment, subject);
	fprintf(out, "| %s%s%.*s%s%s |", subject, length > 0 ? ", " : "", length,
		experiment->networks.at[published->network].name, case_name[0] != '\0' ? ", " : "",
		case_name);
	for (unsigned i = 0; i < columns->count; i++) {
		const struct comparison_row *row =
			find(comparison, experiment, at, columns->name[i]);

		if (row != NULL)
			print_cell(row, experiment, out);
		fputs(" |", out);
	}
	fputc('\n', out);
}

/* Whether an earlier row is of the same line, or of the same table. */
static bool is_repeated(const struct comparison *comparison, const struct experiment *experiment,
	unsigned at, bool whole_table)
{
	const struct published_row *row = comparison->row[at].published;

	for (unsigned i = 0; i < at; i++) {
		const struct published_row *before = comparison->row[i].published;
		bool same = whole_table ? same_quantity(before, row)
					: same_line(experiment, before, row);

		if (same && fits(comparison, experiment, i))
			return true;
	}
	return false;
}

static void print_table(const struct comparison *comparison, const struct experiment *experiment,
	unsigned at, FILE *out)
{
	struct columns columns;
	char quantity[96];

	columns_of(comparison, experiment, at, &columns);
	comparison_quantity(comparison->row[at].published, experiment, quantity);
	fprintf(out, "\n| %s |", quantity);
	for (unsigned i = 0; i < columns.count; i++)
		fprintf(out, " %s |", columns.name[i]);
	fputs("\n|---|", out);
	for (unsigned i = 0; i < columns.count; i++)
		fputs("---|", out);
	fputc('\n', out);
	for (unsigned i = at; i < comparison->rows; i++)
		if (same_quantity(comparison->row[at].published, comparison->row[i].published) &&
			fits(comparison, experiment, i) &&
			!is_repeated(comparison, experiment, i, false))
			print_line(comparison, experiment, i, &columns, out);
}

void comparison_wide(
	const struct comparison *comparison, const struct experiment *experiment, FILE *out)
{
	bool any = false;

	for (unsigned i = 0; i < comparison->rows; i++) {
		if (!comparison_is_wide(comparison, experiment, i) ||
			is_repeated(comparison, experiment, i, true))
			continue;
		if (!any)
			fprintf(out,
				"Cells: published mean (least..greatest) → ours ± half of its 95 %% "
				"interval (ratio, bold if it differs from 1 by more than %.4g %%).\n",
				experiment->tolerance_ppm / 1e4);
		any = true;
		print_table(comparison, experiment, i, out);
	}
}
