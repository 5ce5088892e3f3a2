/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Where 'weft topo' writes topologies. */

#include "cmd_topo.h"

#include <string.h>
#include <unistd.h>

static bool to_file(const struct topology_output *output)
{
	return output->path != NULL && strcmp(output->path, "-") != 0;
}

int cmd_topo_output_open(struct topology_output *output)
{
	output->file = to_file(output) ? fopen(output->path, "w") : stdout;
	if (output->file != NULL)
		return EXIT_DONE;
	return command_fail(
		output->name, fault_exit_code(-errno), "%s: %s", output->path, strerror(errno));
}

int cmd_topo_output_close(struct topology_output *output)
{
	bool bad = fflush(output->file) != 0 || ferror(output->file);

	if (to_file(output) && fclose(output->file) != 0)
		bad = true;
	if (!bad)
		return EXIT_DONE;
	return command_fail(output->name, EXIT_NOT_ABLE, "%s: cannot be written",
		to_file(output) ? output->path : "standard output");
}

void cmd_topo_output_discard(struct topology_output *output)
{
	if (!to_file(output))
		return;
	fclose(output->file);
	unlink(output->path);
}
