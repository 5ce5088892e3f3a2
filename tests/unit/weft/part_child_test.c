/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Commands with many words, such as a capture of all ports. The command is this program itself, and
 * its exit code shows whether it received all of them. */

#include "console/part_child.h"

#include <fcntl.h>
#include <unistd.h>

#include "unit.h"

#define PORTS 3000

UNIT_TEST(a_command_gets_all_its_words_however_many)
{
	static const char *const first[] = {"count", "--", NULL};
	json_t *ports = json_array(), *answer;
	struct error error = {""};
	const char **words;
	int input[2];

	/* The end of the input would also end the command. */
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	for (unsigned i = 0; i < PORTS; i++)
		json_array_append_new(ports, json_sprintf("s%u:0", i));
	words = part_child_words(first, ports);
	assert_non_null(words);
	answer = part_child_run(words, NULL, &error);
	assert_non_null(answer);
	assert_int_equal(json_integer_value(json_object_get(answer, "code")), 0);
	json_decref(answer);
	free(words);
	json_decref(ports);
	close(input[0]);
	close(input[1]);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "count") == 0)
		return argc == 3 + PORTS && strcmp(argv[argc - 1], "s2999:0") == 0 ? 0 : 1;
	return unit_run(NULL, NULL);
}
