# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The comparisons, and the times that routing was designed for."""

TABLES = "--tables"
PER_SWITCH = "--granularity=switch"
MINHOP, UD, DMODK = ("minhop", TABLES), ("ud", TABLES), ("dmodk", TABLES)
ITB = ("ud-itb", "random-itb", "bmin-itb")


class Pair:
    """An engine of OpenSM and Weft's answer to the same question. 'rooted': the engine gets the
    root, without which it cannot start here; it is asked without first."""

    def __init__(self, engine, ours, rooted=False):
        self.engine, self.ours, self.rooted = engine, ours, rooted

    @property
    def engine_name(self):
        return self.engine + (" + root" if self.rooted else "")

    @property
    def ours_name(self):
        kind = "tables" if TABLES in self.ours else \
            "routes of switches" if PER_SWITCH in self.ours else "routes of hosts"
        return f"{self.ours[0]}, {kind}"


class Topology:
    def __init__(self, title, spec, pairs, rounds):
        self.title, self.spec, self.pairs, self.rounds = title, spec, pairs, rounds


# In a fat tree up/down is shortest and free of deadlocks, which is what lash and dfsssp are for
# elsewhere: tables there, too.
FAT_TREE = [Pair("minhop", MINHOP), Pair("updn", UD), Pair("ftree", DMODK), Pair("dfsssp", UD),
            Pair("lash", UD)]
# Elsewhere the tables of up/down are free of deadlocks too, but not all shortest; both is what the
# routes with ITBs are, which are source routes. lash chooses a route for two switches, dfsssp one
# for each host.
ANY = [Pair("minhop", MINHOP), Pair("updn", UD), Pair("updn", UD, rooted=True), Pair("ftree", UD),
       Pair("lash", UD), Pair("dfsssp", UD),
       *(Pair("lash", (name, PER_SWITCH)) for name in ITB),
       *(Pair("dfsssp", (name,)) for name in ITB)]

TOPOLOGIES = [
    Topology("fat tree, 432 hosts", "rlft:ports=12,stages=3", FAT_TREE, 7),
    Topology("fat tree, 3,456 hosts", "rlft:ports=24,stages=3", FAT_TREE, 3),
    Topology("fat tree, 11,664 hosts", "rlft:ports=36,stages=3", FAT_TREE, 3),
    Topology("torus 8x8, 512 hosts", "torus:dims=8x8,hosts=8", ANY, 7),
    *(Topology(f"irregular, {n} switches, {4 * n} hosts", f"irregular:switches={n},hosts=4,seed=1",
               ANY, 7) for n in (16, 32, 64)),
]
SLOW = {"fat tree, 11,664 hosts"}  # left out by --quick


class Cost:
    """A target of the design (seconds): computing, or verifying what was computed."""

    def __init__(self, title, spec, ours, target, verify=False):
        self.title, self.spec, self.ours = title, spec, ours
        self.target, self.verify = target, verify


SMALL, LARGE = "irregular:switches=64,hosts=4,seed=1", "irregular:switches=512,hosts=4,seed=1"
BALANCED = ("bmin-itb", "b33-itb", "b50-itb", "b66-itb", "bmax-itb")
COSTS = [
    Cost("fat tree, 11,664 hosts", "rlft:ports=36,stages=3", DMODK, 0.5),
    *(Cost("irregular, 64 switches", SMALL, (name,), 0.2) for name in BALANCED),
    Cost("irregular, 64 switches", SMALL, ("smart",), 20),
    Cost("irregular, 64 switches", SMALL, ("bsmart-itb",), 20),
    *(Cost("irregular, 512 switches", LARGE, (name,), 10) for name in BALANCED),
    Cost("fat tree, 3,456 hosts, verify", "rlft:ports=24,stages=3", DMODK, 2, verify=True),
    Cost("fat tree, 3,456 hosts, verify", "rlft:ports=24,stages=3", ("ud", "--binary"), 2,
         verify=True),
]
