/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "help_topics.h"

#include <stddef.h>
#include <string.h>

static const char clocks[] =
	"The same switches and hosts run on either clock; 'clock' in the run file chooses.\n"
	"\n"
	"  virtual  Simulation: time advances from event to event. Up to 65,536 hosts, no root,\n"
	"           and the same file and seed give the same bytes. For curves and papers.\n"
	"           Only here: wormhole switching, switch.routing-delay, --workers, --mpi.\n"
	"  real     Emulation: poll loops move real frames. Tens of switches, limited by the\n"
	"           cores. For ping, iperf3, MPI, captures and failures.\n"
	"           Only here: edges (TAPs), the mapper, labs, --dilation.\n"
	"\n"
	"  weft run FILE --clock virtual     overrides the file\n";

static const char files[] =
	"Files are YAML. The first key names the kind:\n"
	"\n"
	"  weft: run/1        an experiment              weft run, weft sweep     weft-run(5)\n"
	"  weft: lab/1        a fabric that stays up     weft lab                 weft-lab(5)\n"
	"  weft: topology/1   switches, hosts, links     all commands             weft-topology(5)\n"
	"  weft: cases/1      named settings             weft sweep --cases       weft-result(5)\n"
	"\n"
	"Quantities need units: 100Gbps, 30ns, 64KiB, 80%. A topology may also be a generator in\n"
	"one line, such as 'rlft:ports=8,stages=2' ('weft topo gen --help' lists them).\n"
	"\n"
	"  weft run --explain FILE                      every key with its value\n"
	"  weft run FILE --set traffic.0.load=40%       changes a key\n"
	"  weft complete keys                           all keys\n";

static const char experiments[] =
	"From one run to a figure, without root:\n"
	"\n"
	"  weft run FILE                                              one run\n"
	"  weft sweep FILE --vary traffic.0.load=10%:90%:10% --seeds 1:5 -o DIR\n"
	"  weft plot DIR --kind latency-throughput -o FIGURE.png\n"
	"  weft reproduce table-6                                     a published table\n"
	"\n"
	"In Python: import weft; weft.run(...), weft.sweep(...), weft.read(DIR).frame\n";

static const char up[] =
	"A lab is a fabric on the real clock that runs until it is taken down:\n"
	"\n"
	"  weft lab up LAB.yaml              start it\n"
	"  weft lab status LAB               processes, links, counters\n"
	"  weft lab web LAB                  a page that draws it\n"
	"  weft lab exec LAB h0 -- ping h3   a program in a host ('edges' in the file; root)\n"
	"  weft lab link LAB s0:2 down       cut a cable\n"
	"  weft lab run LAB --duration 2s    send the traffic of the file\n"
	"  weft lab down LAB                 end it\n"
	"\n"
	"An example without edges: topo/lab-two-leaves.yaml. TAPs, veth pairs and NICs need root.\n";

static const char exits[] =
	"  0    done\n"
	"  1    done, and the answer is bad: frames lost, a deadlock, differences\n"
	"  2    the request is wrong: a file, a key, an option\n"
	"  3    this machine cannot do it: no memory, no privilege, no package\n"
	"  130  ended by Ctrl-C\n"
	"\n"
	"'weft COMMAND --help' has the meaning of 1 for each command.\n";

const struct help_topic help_topics[] = {
	{"clocks", "virtual or real: what each is for", clocks},
	{"files", "kinds of file, units, keys", files},
	{"experiments", "from a run to a figure", experiments},
	{"labs", "a fabric that stays up", up},
	{"exit", "exit codes", exits},
	{NULL, NULL, NULL},
};

const struct help_topic *help_topic_find(const char *name)
{
	for (const struct help_topic *topic = help_topics; topic->name != NULL; topic++)
		if (strcmp(topic->name, name) == 0)
			return topic;
	return NULL;
}
