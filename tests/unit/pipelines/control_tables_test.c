/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026, the Weft developers */

/* Images as devices use them: for all hosts of the process's topology, whether discovered or
 * not. */

#include "mapping/control_plane_private.h"

#include "mapper/table_image.h"
#include "queuing/queuing.h"
#include "route/route_algorithm.h"
#include "unit.h"

#define FOUND 6 /* hosts of the map; two of the file, with the highest numbers, are missing */
#define FILED 8

UNIT_TEST(a_scheme_has_a_queue_for_hosts_that_were_not_found)
{
	OWNED(topology) *topology = topology_generate("ring:switches=3,hosts=2", NULL);
	OWNED(queuing) *queuing = queuing_create(topology, &queuing_vftree, 3, &(struct error){""});
	const struct table_image_source source = {topology, .queuing = queuing};
	struct host_tables *tables;
	struct table_image image;
	uint16_t reached;

	assert_int_equal(topology->hosts, FOUND);
	assert_int_equal(table_image_of_host(&image, &source, 0), 0);
	tables = control_host_tables(image.bytes, FILED, &reached);
	assert_non_null(tables);
	assert_int_equal(tables->queuing->hosts, FILED);
	for (uint32_t to = 1; to < FOUND; to++)
		assert_int_equal(queuing_sl(tables->queuing, 0, to), queuing_sl(queuing, 0, to));
	for (uint32_t to = FOUND; to < FILED; to++)
		assert_true(queuing_sl(tables->queuing, 0, to) < queuing->queues);
	host_tables_destroy(tables);
	free(image.bytes);
}

/* Selectors that combine sets, such as three-sets, read it there. */
UNIT_TEST(routes_tell_the_sets_that_they_belong_to)
{
	const struct route_algorithm *all[] = {
		route_algorithm_find("ud"), route_algorithm_find("ud-itb")};
	OWNED(topology) *topology = topology_generate("torus:dims=3x3,hosts=1", NULL);
	OWNED(route_set) *set = route_merge_compute(topology, all, 2,
		&(struct route_options){.alternatives = 1}, NULL, &(struct error){""});
	const uint8_t *parts = route_set_parts(set, 4);
	struct host_tables *tables;
	struct table_image image;
	uint16_t reached;

	assert_int_equal(
		table_image_of_host(&image, &(struct table_image_source){topology, .set = set}, 4),
		0);
	tables = control_host_tables(image.bytes, (uint16_t)topology->hosts, &reached);
	assert_non_null(tables);
	assert_int_equal(reached, topology->hosts - 1);
	assert_memory_equal(tables->routes->sets, parts, topology->hosts * NIC_ROUTES_MAX);
	host_tables_destroy(tables);
	free(image.bytes);
}
