/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#pragma once

/* The mechanisms of source_control.h, for configurations: identifier, and word in run files. */

#define SOURCE_CONTROLS(X)  \
	X(NONE, "none")     \
	X(IBA_CC, "iba-cc") \
	X(DCQCN, "dcqcn")   \
	X(DRB_CN, "drb-cn") \
	X(DRB, "drb")       \
	X(PR_DRB, "pr-drb") \
	X(DRB_CC, "drb-cc")

#define X(id, text) SOURCE_CONTROL_##id,
enum source_control_kind { SOURCE_CONTROLS(X) };
#undef X
