/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include "weft_fi.h"

/* Calls that objects do not support. */

int weft_fi_no_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
	return -FI_ENOSYS;
}

int weft_fi_no_control(struct fid *fid, int command, void *argument)
{
	return -FI_ENOSYS;
}

int weft_fi_no_ops(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	return -FI_ENOSYS;
}
