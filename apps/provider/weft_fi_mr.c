/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdlib.h>

#include "weft_fi.h"

/* Memory registration: programs may use it, but the provider does not need it. */

static int close_mr(struct fid *fid)
{
	free(fid);
	return 0;
}

static struct fi_ops mr_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_mr,
	.bind = weft_fi_no_bind,
	.control = weft_fi_no_control,
	.ops_open = weft_fi_no_ops};

static int open_mr(uint64_t access, uint64_t key, void *context, struct fid_mr **opened)
{
	struct fid_mr *mr;

	if (access & (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE))
		return -FI_ENOSYS;
	mr = calloc(1, sizeof(*mr));
	if (mr == NULL)
		return -FI_ENOMEM;
	mr->fid.fclass = FI_CLASS_MR;
	mr->fid.context = context;
	mr->fid.ops = &mr_fid_ops;
	mr->key = key;
	*opened = mr;
	return 0;
}

static int reg(struct fid *fid, const void *buffer, size_t bytes, uint64_t access, uint64_t offset,
	uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	return open_mr(access, key, context, mr);
}

static int regv(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access,
	uint64_t offset, uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
	return open_mr(access, key, context, mr);
}

static int regattr(
	struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **mr)
{
	return open_mr(attr->access, attr->requested_key, attr->context, mr);
}

struct fi_ops_mr weft_fi_mr_ops = {
	.size = sizeof(struct fi_ops_mr), .reg = reg, .regv = regv, .regattr = regattr};
