/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* weft goal: generates and checks GOAL schedules. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "common/commands.h"
#include "common/output_file.h"
#include "goal/goal.h"
#include "goal/goal_generate.h"
#include "goal/goal_replay.h"

static const char usage[] =
	"usage: weft goal gen KIND --ranks N --bytes SIZE [--rounds N] [--calc TIME]\n"
	"                     [--grid RxC[xL]] [--periodic] [--group N]\n"
	"                     [--microbatches N] [--gradient SIZE] [--matrix FILE]\n"
	"                     [-o FILE]\n"
	"       weft goal check FILE\n"
	"\n"
	"  gen    writes a schedule, by default to standard output:\n"
	"         allreduce  recursive doubling (also allreduce-recursive-doubling)\n"
	"         allreduce-ring, allreduce-rabenseifner, allreduce-tree\n"
	"                    an allreduce of a vector of SIZE with the named method\n"
	"         allreduce-two-level  rings in and across groups of --group ranks\n"
	"         allgather, reduce-scatter  around a ring\n"
	"         bcast      a binomial tree from rank 0\n"
	"         alltoall   (also all-to-all) pairwise exchange, ranks - 1 steps\n"
	"         alltoallv  (also all-to-allv) as alltoall, with the lengths in\n"
	"                    --matrix: lines SRC DST BYTES\n"
	"         pipeline   --microbatches through the ranks, forwards and backwards\n"
	"         training   a training step on --grid DxTxP of data, tensor and pipeline\n"
	"                    ranks, with a reduction of --gradient at the end\n"
	"         transpose  of a matrix on a grid of ranks, as in PTRANS; the grid is\n"
	"                    --grid 18x24, or by default as close to a square as possible\n"
	"         ring       to the next rank, from the previous one\n"
	"         halo       with all neighbours on a grid of ranks, such as --grid 8x8\n"
	"                    or 4x4x4; with --periodic, the ends of a dimension are\n"
	"                    neighbours\n"
	"         sweep      a wave over a grid, from the first corner to the last and\n"
	"                    back\n"
	"         multigrid  a halo on increasingly coarse grids and back\n"
	"  check  checks that a schedule is valid and ends on a network without delay\n"
	"SIZE is the length of each message, such as 64KiB or 65536. TIME is the time to\n"
	"compute before each round, such as 10us.\n"
	"Exit: 0 success, 1 the schedule does not end, 2 invalid request or file, 3 not\n"
	"possible on this machine.\n";

struct request {
	struct goal_generate_config config;
	const char *matrix; /* file; NULL: none */
	const char *out;    /* NULL or "-": standard output */
};

static bool take_bytes(void *bytes, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	snprintf(expected, COMMAND_EXPECTED_MAX, "%s", quantity_expected(QUANTITY_SIZE));
	return quantity_number(value, 0, UINT64_MAX, bytes) ||
	       quantity_parse(QUANTITY_SIZE, value, bytes) == 0;
}

static bool take_calc(void *calc_ns, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	uint64_t ps;

	strcpy(expected, "a time in whole nanoseconds, such as 10us");
	if (quantity_parse(QUANTITY_TIME, value, &ps) < 0 || ps % 1000 != 0)
		return false;
	*(uint64_t *)calc_ns = ps / 1000;
	return true;
}

/* "18x24": rows and columns; "4x4x4": layers too. */
static bool take_grid(void *member, const char *value, char expected[COMMAND_EXPECTED_MAX])
{
	struct goal_generate_config *config = member;
	uint32_t *const size[] = {&config->rows, &config->columns, &config->layers};
	char part[16];
	unsigned count = 0;
	const char *at = value, *end = value;

	for (; count < 3 && *end != '\0'; count++, at = end + 1) {
		uint64_t number;

		end = at + strcspn(at, "x");
		snprintf(part, sizeof(part), "%.*s", (int)(end - at), at);
		if (end - at >= (int)sizeof(part) || !quantity_number(part, 1, UINT16_MAX, &number))
			break;
		*size[count] = (uint32_t)number;
	}
	strcpy(expected, "rows and columns, such as 18x24 or 4x4x4");
	return count >= 2 && *end == '\0';
}

static int refuse_kinds(void)
{
	char list[512] = "";
	size_t used = 0;

	for (unsigned i = 0; goal_generate_kind(i) != NULL && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
			i > 0 ? ", " : "", goal_generate_kind(i));
	return command_fail("goal gen", EXIT_BAD_REQUEST, "expected one of %s", list);
}

static int parse(struct request *request, int argc, char **argv)
{
#define S struct request
	static const struct command_option options[] = {
		{"ranks", 0, OPTION_NUMBER(S, config.ranks), 0, UINT32_MAX},
		{"bytes", 0, OPTION_MEMBER(S, config.bytes), .take = take_bytes},
		{"rounds", 0, OPTION_NUMBER(S, config.rounds), 0, UINT32_MAX},
		{"calc", 0, OPTION_MEMBER(S, config.calc_ns), .take = take_calc},
		{"grid", 0, OPTION_MEMBER(S, config), .take = take_grid},
		{"periodic", 0, OPTION_SET(S, config.periodic)},
		{"group", 0, OPTION_NUMBER(S, config.group), 0, UINT32_MAX},
		{"microbatches", 0, OPTION_NUMBER(S, config.microbatches), 0, UINT32_MAX},
		{"gradient", 0, OPTION_MEMBER(S, config.gradient_bytes), .take = take_bytes},
		{"matrix", 0, OPTION_TEXT(S, matrix)},
		COMMAND_OUTPUT(S, out),
		{NULL},
	};
#undef S
	int result = command_options("goal gen", options, request, &argc, &argv);

	if (result != EXIT_DONE)
		return result;
	if (argc != 1)
		return refuse_kinds();
	request->config.kind = argv[0];
	if (request->config.bytes == UINT64_MAX && request->matrix != NULL)
		request->config.bytes = 0; /* the matrix defines all lengths */
	if (request->config.ranks == 0 || request->config.bytes == UINT64_MAX)
		return command_fail("goal gen", EXIT_BAD_REQUEST, "%s is missing",
			request->config.ranks == 0 ? "--ranks" : "--bytes");
	return EXIT_DONE;
}

static int write_schedule(const struct request *request)
{
	struct output_file output = {.command = "goal gen", .path = request->out};
	struct error error;
	int result = output_file_open(&output);

	if (result != EXIT_DONE)
		return result;
	result = goal_generate(&request->config, output.file, &error);
	if (result == 0)
		return output_file_close(&output);
	output_file_discard(&output);
	return command_error("goal gen", result, &error);
}

static int gen(int argc, char **argv)
{
	struct request request = {.config = {.bytes = UINT64_MAX, .rounds = 1}};
	int result = parse(&request, argc, argv);
	uint64_t *matrix = NULL;
	struct error error;

	if (result != EXIT_DONE)
		return result;
	if (request.matrix != NULL)
		result = goal_matrix_load(request.matrix, request.config.ranks, &matrix, &error);
	request.config.matrix = matrix;
	if (result == 0)
		result = write_schedule(&request);
	else
		result = command_error("goal gen", result, &error);
	free(matrix);
	return result;
}

struct summary {
	uint64_t count[3]; /* indexed by enum goal_kind */
	uint64_t bytes;
	uint32_t idle; /* ranks without operations */
};

static void summarise(const struct goal *goal, struct summary *summary)
{
	*summary = (struct summary){.bytes = 0};
	for (uint32_t op = 0; op < goal->ops; op++) {
		summary->count[goal->op[op].kind]++;
		if (goal->op[op].kind == GOAL_SEND)
			summary->bytes += goal->op[op].amount;
	}
	for (uint32_t rank = 0; rank < goal->ranks; rank++)
		summary->idle += goal->rank[rank].count == 0;
}

static void print_count(uint64_t count, const char *what)
{
	printf("%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void print_summary(
	const struct goal *goal, const struct summary *summary, weft_time ended, const char *path)
{
	printf("%s: ", path);
	print_count(goal->ranks, "rank");
	if (summary->idle > 0)
		printf(" (%" PRIu32 " without operations)", summary->idle);
	fputs(", ", stdout);
	print_count(summary->count[GOAL_SEND], "send");
	fputs(" of ", stdout);
	print_count(summary->bytes, "byte");
	fputs(" in total, ", stdout);
	print_count(summary->count[GOAL_RECV], "recv");
	fputs(", ", stdout);
	print_count(summary->count[GOAL_CALC], "calc");
	printf(", %" PRIu32 " %s; %" PRIu64 " ns on a network without delay\n", goal->edges,
		goal->edges == 1 ? "dependency" : "dependencies", ps_to_ns(ended));
	if (goal->nic_line != 0)
		printf("line %" PRIu32 ": 'nic' is ignored, because each host has one interface\n",
			goal->nic_line);
}

static int check_ends(const struct goal *goal, const char *path)
{
	const struct goal_replay_config config = {.goal = goal, .spills = true};
	struct goal_replay *replay = goal_replay_create(&config);
	struct summary summary;
	struct error error;
	int result;

	if (replay == NULL)
		return command_fail("goal check", EXIT_NOT_ABLE, "%s: out of memory", path);
	goal_replay_alone(replay);
	result = goal_replay_diagnose(replay, &error);
	summarise(goal, &summary);
	if (result == 0)
		print_summary(goal, &summary, goal_replay_ended(replay), path);
	goal_replay_destroy(replay);
	return result == 0
		       ? EXIT_DONE
		       : command_fail("goal check", EXIT_BAD_ANSWER, "%s: %s", path, error.text);
}

static int check(int argc, char **argv)
{
	struct error error;
	struct goal *goal;
	int result;

	if (argc != 2)
		return command_fail("goal check", EXIT_BAD_REQUEST, "exactly one file is required");
	goal = goal_load(argv[1], &error);
	if (goal == NULL)
		return command_error("goal check", -errno, &error);
	result = check_ends(goal, argv[1]);
	goal_destroy(goal);
	return result;
}

int cmd_goal(int argc, char **argv)
{
	if (command_help(argc, argv, usage))
		return EXIT_DONE;
	if (argc >= 2 && strcmp(argv[1], "gen") == 0)
		return gen(argc - 1, argv + 1);
	if (argc >= 2 && strcmp(argv[1], "check") == 0)
		return check(argc - 1, argv + 1);
	return command_fail(
		"goal", EXIT_BAD_REQUEST, "expected gen or check; see 'weft goal --help'");
}
