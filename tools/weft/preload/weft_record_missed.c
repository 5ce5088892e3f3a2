/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_record.h"

/* Records the name and jumps to the function, whatever its arguments are. */
#if defined(__x86_64__)
/* clang-format off */
#define NOT_RECORDED(X)                                                                  \
	X(Allgatherv) X(Alltoallw) X(Exscan) X(Fetch_and_op) X(Gatherv) X(Get)           \
	X(Accumulate) X(Iallgather) X(Iallreduce) X(Ialltoall) X(Ibarrier) X(Ibcast)     \
	X(Igather) X(Imrecv) X(Ireduce) X(Iscatter) X(Mrecv) X(Neighbor_allgather)       \
	X(Neighbor_alltoall) X(Put) X(Reduce_scatter) X(Reduce_scatter_block)            \
	X(Recv_init) X(Scan) X(Scatterv) X(Send_init) X(Sendrecv_replace) X(Testsome)
/* clang-format on */
#define X(name)                                                               \
	__attribute__((used)) unsigned char missed_##name;                    \
	__asm__(".globl MPI_" #name "\n.type MPI_" #name ", @function\n"      \
		"MPI_" #name ": movq missed_" #name "@GOTPCREL(%rip), %rax\n" \
		"movb $1, (%rax)\n jmp PMPI_" #name "@PLT\n");
NOT_RECORDED(X)
#undef X
#endif

void record_name_missed(int rank)
{
#if defined(__x86_64__)
#define X(name)                                                                \
	if (missed_##name)                                                     \
		fprintf(stderr,                                                \
			"weft lab mpirun: rank %d: MPI_" #name                 \
			" is not recorded, the schedule lacks its messages\n", \
			rank);
	NOT_RECORDED(X)
#undef X
#endif
}
