# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The graph of folders, from the #include lines. tools/lint checks it and prints it (--folders)."""
import collections
import os
import re

# Bottom to top. A folder includes its own headers, and those of layers below or of its own layer. The
# subdir() lines of the layer's meson.build give the order inside a layer.
LAYERS = ("lib", "pipelines", "apps", "tools/weft")
# The tools use files, plans and results, never a driver.
DRIVERS = ("pipelines/poll", "pipelines/real", "pipelines/virtual", "pipelines/wormhole", "pipelines/lab",
           "lib/port/eal", "lib/port/port")
FILES_MAX = 40


def layer_of(folder):
    return next((n for n, layer in enumerate(LAYERS) if folder == layer or folder.startswith(layer + "/")), None)


def room_of(folder):
    """lib/route of lib/route/search: the part that the lists of lib and pipelines order."""
    return "/".join(folder.split("/")[:2])


def orders(names, read):
    """Place of each folder in the subdir() list of its layer."""
    place = {}
    for layer in ("lib", "pipelines"):
        if layer + "/meson.build" not in names:
            continue
        for number, name in enumerate(re.findall(r"^subdir\('(\w+)'\)", read(layer + "/meson.build"), re.M)):
            place[f"{layer}/{name}"] = number
    return place


class Graph:
    def __init__(self, names, read):
        self.sources = [n for n in names if n.endswith((".c", ".h")) and layer_of(os.path.dirname(n)) is not None]
        self.edges = collections.defaultdict(list) # (folder, folder): [(file, line, header)]
        headers = collections.defaultdict(list)
        for name in self.sources:
            if name.endswith(".h"):
                headers[os.path.basename(name)].append(name)
        for name in self.sources:
            for number, line in enumerate(read(name).split("\n"), 1):
                found = re.match(r'#include "([\w.]+)"', line)
                if found and found[1] in headers:
                    self.add(name, number, headers[found[1]])

    def add(self, name, number, candidates):
        folder = os.path.dirname(name)
        own = [c for c in candidates if os.path.dirname(c) == folder]
        header = (own or candidates)[0]
        self.edges[folder, os.path.dirname(header)].append((name, number, header))

    def folders(self):
        return sorted({os.path.dirname(n) for n in self.sources})

    def below(self, folder):
        return sorted(b for a, b in self.edges if a == folder and b != folder)

    def circle(self):
        """Folders that lead back to the first one, or []."""
        state, way = {}, []

        def walk(folder):
            state[folder] = 1
            way.append(folder)
            for other in self.below(folder):
                if state.get(other) == 1:
                    return way[way.index(other):] + [other]
                found = walk(other) if other not in state else []
                if found:
                    return found
            way.pop()
            state[folder] = 2
            return []
        return next(filter(None, (walk(f) for f in self.folders() if f not in state)), [])


def upward(folder, other, place):
    a, b = layer_of(folder), layer_of(other)
    if a != b:
        return a < b
    a, b = room_of(folder), room_of(other)
    return place.get(a, 0) < place.get(b, 0)


def check(names, read):
    graph, place = Graph(names, read), orders(names, read)
    for (folder, other), lines in sorted(graph.edges.items()):
        for name, number, header in lines:
            if folder != other and upward(folder, other, place):
                yield f"{name}:{number}: includes upward: {header}"
            if folder != other and header.endswith("_private.h"):
                yield f"{name}:{number}: {header} is private to its folder"
            if folder.startswith("tools/weft") and header.startswith(DRIVERS):
                yield f"{name}:{number}: the tools stand on no driver: {header}"
    circle = graph.circle()
    if circle:
        yield f"{circle[0]}:1: folders include each other: {' -> '.join(circle)}"
    for folder in graph.folders():
        count = sum(os.path.dirname(n) == folder and n.endswith(".c") for n in graph.sources)
        if count > FILES_MAX:
            yield f"{folder}:1: {count} .c files, at most {FILES_MAX} make a room"
    for name in graph.sources:
        if os.path.dirname(name) in ("lib", "pipelines"):
            yield f"{name}:1: {os.path.dirname(name)}/ holds folders only"


def show(names, read):
    """Bottom to top: each folder after all that it includes."""
    graph, done = Graph(names, read), []
    while len(done) < len(graph.folders()):
        ready = [f for f in graph.folders() if f not in done and set(graph.below(f)) <= set(done)]
        if not ready:
            print("a circle: " + " -> ".join(graph.circle()))
            return
        for folder in sorted(ready, key=lambda f: (layer_of(f), f)):
            count = sum(os.path.dirname(n) == folder and n.endswith(".c") for n in graph.sources)
            print(f"{folder} ({count}): {' '.join(graph.below(folder)) or '-'}")
            done.append(folder)
