/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_fi.h"

/* Address vectors. */

static int insert(struct fid_av *fid, const void *addresses, size_t count, fi_addr_t *fi_addr,
	uint64_t flags, void *context)
{
	struct weft_fi_av *av = (void *)fid;
	size_t inserted = 0;

	pthread_mutex_lock(&av->domain->lock);
	for (; inserted < count; inserted++) {
		if (av->count == av->room) {
			size_t room = av->room == 0 ? 64 : 2 * av->room;
			void *grown = realloc(av->address, room * sizeof(*av->address));

			if (grown == NULL)
				break;
			av->address = grown;
			av->room = room;
		}
		memcpy(&av->address[av->count], (const struct weft_address *)addresses + inserted,
			sizeof(*av->address));
		if (fi_addr != NULL)
			fi_addr[inserted] = av->count;
		av->count++;
	}
	pthread_mutex_unlock(&av->domain->lock);
	return (int)inserted;
}

NOT_SUPPORTED(int, no_service, struct fid_av *av, const char *node, const char *service,
	fi_addr_t *fi_addr, uint64_t flags, void *context)
NOT_SUPPORTED(int, no_symmetric, struct fid_av *av, const char *node, size_t nodes,
	const char *service, size_t services, fi_addr_t *fi_addr, uint64_t flags, void *context)

/* Invalidates addresses. The indices of other entries stay valid. */
static int take_out(struct fid_av *fid, fi_addr_t *fi_addr, size_t count, uint64_t flags)
{
	struct weft_fi_av *av = (void *)fid;

	pthread_mutex_lock(&av->domain->lock);
	for (size_t i = 0; i < count; i++)
		if (fi_addr[i] < av->count)
			av->address[fi_addr[i]] = (struct weft_address){UINT16_MAX, UINT16_MAX, 0};
	pthread_mutex_unlock(&av->domain->lock);
	return 0;
}

static int look_up(struct fid_av *fid, fi_addr_t fi_addr, void *address, size_t *bytes)
{
	struct weft_fi_av *av = (void *)fid;
	size_t room = *bytes;
	int result = -FI_EINVAL;

	pthread_mutex_lock(&av->domain->lock);
	if (fi_addr < av->count) {
		*bytes = sizeof(struct weft_address);
		memcpy(address, &av->address[fi_addr], room < *bytes ? room : *bytes);
		result = 0;
	}
	pthread_mutex_unlock(&av->domain->lock);
	return result;
}

static const char *write_address(
	struct fid_av *av, const void *address, char *buffer, size_t *bytes)
{
	struct weft_address at;
	int length;

	memcpy(&at, address, sizeof(at));
	length = snprintf(buffer, *bytes, "weft://%u/%u/%u", at.host, at.endpoint, at.life);
	*bytes = (size_t)length + 1;
	return buffer;
}

static struct fi_ops_av av_ops = {.size = sizeof(struct fi_ops_av),
	.insert = insert,
	.insertsvc = no_service,
	.insertsym = no_symmetric,
	.remove = take_out,
	.lookup = look_up,
	.straddr = write_address};

static int close_av(struct fid *fid)
{
	free(((struct weft_fi_av *)fid)->address);
	free(fid);
	return 0;
}

static struct fi_ops av_fid_ops = {.size = sizeof(struct fi_ops),
	.close = close_av,
	.bind = weft_fi_no_bind,
	.control = weft_fi_no_control,
	.ops_open = weft_fi_no_ops};

int weft_fi_av_open(
	struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **opened, void *context)
{
	struct weft_fi_av *av;

	if (attr->name != NULL || attr->rx_ctx_bits > 0 || (attr->flags & FI_EVENT))
		return -FI_ENOSYS;
	av = calloc(1, sizeof(*av));
	if (av == NULL)
		return -FI_ENOMEM;
	if (attr->type == FI_AV_UNSPEC)
		attr->type = FI_AV_MAP;
	av->domain = (void *)domain;
	av->fid.fid.fclass = FI_CLASS_AV;
	av->fid.fid.context = context;
	av->fid.fid.ops = &av_fid_ops;
	av->fid.ops = &av_ops;
	*opened = &av->fid;
	return 0;
}

fi_addr_t weft_fi_av_find(const struct weft_fi_av *av, const struct weft_address *address)
{
	for (size_t i = 0; av != NULL && i < av->count; i++)
		if (memcmp(&av->address[i], address, sizeof(*address)) == 0)
			return i;
	return FI_ADDR_NOTAVAIL;
}

/* Memory registration, which programs may use but the provider does not need. */

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
