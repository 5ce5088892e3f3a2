/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "smart_plan.h"

#include <coin/Clp_C_Interface.h>
#include <math.h>

/* Columns: the largest load L, and for each path the part of its pair's traffic on it. Rows: for
 * each arc, the parts on it times its cost, minus L, are at most 0; for each pair, its parts add up
 * to its traffic. The objective is L plus the mean load of all arcs: a detour must lower L by more
 * than it raises the mean. Among paths of one length the mean is constant, and only L matters. All
 * traffic on one path with a large enough L is feasible, and no value is negative, so an optimum
 * always exists.
 *
 * Pairs with a single path leave nothing to decide. Unless their prices are needed, they are
 * constants in the rows of the arcs. */

/* Clp's method numbers (ClpSolve.hpp). For smart on an irregular network of 64 switches, the 27
 * programs without prices take 1.4 s with the primal and 2.3 s with the dual simplex, and the 10
 * with prices 1.3 and 0.8 s. Without presolve, they take 3.4 and 3.0 s with the dual. */
enum { BY_DUAL = 0, BY_PRIMAL = 1 };
enum { PRESOLVE_ON = 0 };
/* Special option that prevents Clp from catching SIGINT. */
enum { INTERRUPTS = 2, INTERRUPTS_OFF = 1 };

struct program {
	const struct smart_paths *paths;
	const struct route_graph *graph;
	uint32_t arcs, rows, columns;
	uint32_t *path;   /* by column: its path */
	bool prices;      /* compute prices: pairs with a single path also have rows */
	double link_cost; /* cost of one host pair on one arc */
	CoinBigIndex *start;
	int *index;
	double *value;
	CoinBigIndex used;
	double *column_lower, *column_upper, *objective, *row_lower, *row_upper;
	struct arrays arrays;
};

static uint32_t paths_of(const struct smart_paths *paths, uint32_t pair)
{
	return paths->pair[pair + 1].first_path - paths->pair[pair].first_path;
}

static double traffic_of(const struct smart_paths *paths, uint32_t pair)
{
	return (double)paths->pair[pair].routes * paths->pair[pair].weight;
}

static bool program_allocate(struct program *program)
{
	const struct smart_paths *paths = program->paths;
	size_t elements = program->arcs + paths->paths, columns = paths->paths + 1u;
	size_t rows = program->arcs + paths->pairs + 1u;

	if (paths->paths > 0)
		elements += paths->first_arc[paths->paths];
	ARRAYS_ADD(program, path, columns);
	ARRAYS_ADD(program, start, columns + 1);
	ARRAYS_ADD(program, index, elements + 1);
	ARRAYS_ADD(program, value, elements + 1);
	ARRAYS_ADD(program, column_lower, columns);
	ARRAYS_ADD(program, column_upper, columns);
	ARRAYS_ADD(program, objective, columns);
	ARRAYS_ADD(program, row_lower, rows);
	ARRAYS_ADD(program, row_upper, rows);
	return !program->arrays.failed;
}

static void add_element(struct program *program, uint32_t row, double value)
{
	program->index[program->used] = (int)row;
	program->value[program->used++] = value;
}

static void end_column(struct program *program, uint32_t path, double objective)
{
	program->path[program->columns] = path;
	program->objective[program->columns] = objective;
	program->column_upper[program->columns] = HUGE_VAL;
	program->start[++program->columns] = program->used;
}

static void write_arcs(struct program *program)
{
	for (uint32_t arc = 0; arc < program->arcs; arc++) {
		program->row_lower[arc] = -HUGE_VAL;
		add_element(program, arc, -1);
	}
	program->rows = program->arcs;
	end_column(program, 0, 1);
}

/* Returns the cost of an arc, relative to the fastest arcs. */
static double cost_of(const struct program *program, uint32_t arc)
{
	return (double)program->graph->arc[arc].cost / program->graph->cost_fastest;
}

static void write_pair(struct program *program, uint32_t pair)
{
	const struct smart_paths *paths = program->paths;
	double traffic = traffic_of(paths, pair);
	bool single = paths_of(paths, pair) == 1 && !program->prices;

	for (uint32_t p = paths->pair[pair].first_path; p < paths->pair[pair + 1].first_path; p++) {
		for (uint32_t i = paths->first_arc[p]; i < paths->first_arc[p + 1]; i++) {
			if (single)
				program->row_upper[paths->arc[i]] -=
					traffic * cost_of(program, paths->arc[i]);
			else
				add_element(
					program, paths->arc[i], cost_of(program, paths->arc[i]));
		}
		if (single)
			return;
		add_element(program, program->rows, 1);
		end_column(program, p,
			program->link_cost * (paths->first_arc[p + 1] - paths->first_arc[p]));
	}
	program->row_lower[program->rows] = program->row_upper[program->rows] = traffic;
	program->rows++;
}

static void read_prices(
	const struct program *program, const double *dual, struct smart_prices *prices)
{
	for (uint32_t arc = 0; arc < program->arcs; arc++)
		prices->arc[arc] = program->link_cost + fmax(-dual[arc], 0) * cost_of(program, arc);
	for (uint32_t pair = 0; pair < program->paths->pairs; pair++)
		prices->pair[pair] = dual[program->arcs + pair];
}

static int solve(const struct program *program, double *flow, struct smart_prices *prices,
	struct error *error)
{
	Clp_Simplex *model = Clp_newModel();
	Clp_Solve *how = ClpSolve_new();
	const double *solution;
	int result = 0;

	if (model == NULL || how == NULL) {
		result = error_set(error, ENOMEM, "not enough memory for the linear program");
		goto out;
	}
	Clp_setLogLevel(model, 0);
	ClpSolve_setSpecialOption(how, INTERRUPTS, INTERRUPTS_OFF, 0);
	Clp_loadProblem(model, (int)program->columns, (int)program->rows, program->start,
		program->index, program->value, program->column_lower, program->column_upper,
		program->objective, program->row_lower, program->row_upper);
	ClpSolve_setSolveType(how, prices == NULL ? BY_PRIMAL : BY_DUAL, -1);
	ClpSolve_setPresolveType(how, PRESOLVE_ON, -1);
	Clp_initialSolveWithOptions(model, how);
	if (Clp_status(model) != 0)
		result = error_set(error, EIO,
			"the balancing linear program (%u columns, %u rows) was not solved: Clp "
			"returned status %d instead of 0",
			program->columns, program->rows, Clp_status(model));
	solution = Clp_getColSolution(model);
	for (uint32_t column = 1; column < program->columns && result == 0; column++)
		flow[program->path[column]] = fmax(solution[column], 0);
	if (prices != NULL && result == 0)
		read_prices(program, Clp_getRowPrice(model), prices);
out:
	if (how != NULL)
		ClpSolve_delete(how);
	if (model != NULL)
		Clp_deleteModel(model);
	return result;
}

int smart_lp_balance(const struct smart_paths *paths, const struct route_graph *graph, double *flow,
	struct smart_prices *prices, struct error *error)
{
	uint32_t arcs = graph->arcs;
	struct program program = {
		.paths = paths, .graph = graph, .arcs = arcs, .prices = prices != NULL};
	int result;

	if (!program_allocate(&program)) {
		arrays_free(&program.arrays);
		return error_set(error, ENOMEM, "not enough memory for the linear program");
	}
	if (arcs > 0)
		program.link_cost = 1.0 / arcs;
	write_arcs(&program);
	for (uint32_t pair = 0; pair < paths->pairs; pair++) {
		write_pair(&program, pair);
		if (paths_of(paths, pair) == 1)
			flow[paths->pair[pair].first_path] = traffic_of(paths, pair);
	}
	result = program.columns > 1 ? solve(&program, flow, prices, error) : 0;
	arrays_free(&program.arrays);
	return result;
}
