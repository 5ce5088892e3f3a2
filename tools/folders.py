# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The graph of folders, from the #include lines, and the graph of calls between modules. tools/lint checks
both and prints them (--folders, --calls)."""
import collections
import os
import re
import sys

# Bottom to top. A folder includes its own headers, and those of layers below or of its own layer. The
# subdir() lines of the layer's meson.build give the order inside a layer.
LAYERS = ("lib", "pipelines", "apps", "tools/weft")
# The tools use files, plans and results, never a driver.
DRIVERS = ("pipelines/poll", "pipelines/real", "pipelines/virtual", "pipelines/wormhole", "pipelines/process",
           "lib/port/eal", "lib/port/port")
FILES_MAX = 40
CALL_CYCLE_MAX = 6  # modules, within one folder


def layer_of(folder):
    return next((n for n, layer in enumerate(LAYERS) if folder == layer or folder.startswith(layer + "/")), None)


def sources(names):
    return [n for n in names if n.endswith((".c", ".h")) and layer_of(os.path.dirname(n)) is not None]


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
        self.sources = sources(names)
        self.edges = collections.defaultdict(list) # (folder, folder): [(file, line, header)]
        self.bare = [] # includes of another folder's header without its folder
        headers = collections.defaultdict(list)
        for name in self.sources:
            if name.endswith(".h"):
                headers[os.path.basename(name)].append(name)
        for name in self.sources:
            for number, line in enumerate(read(name).split("\n"), 1):
                found = re.match(r'#include "(?:([\w/]+)/)?([\w.]+)"', line)
                if found and found[2] in headers:
                    self.add(name, number, found[1], headers[found[2]])

    def add(self, name, number, room, candidates):
        folder = os.path.dirname(name)
        own = [c for c in candidates if os.path.dirname(c) == folder]
        if room is None and not own:
            self.bare.append((name, number, candidates[0]))
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
    for name, number, header in graph.bare:
        yield f"{name}:{number}: an include without its folder: {header}"
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


# A definition as clang-format writes it, a declaration in a header, and a word that may be a function.
DEFINITION = re.compile(r"^(static |INLINE )?(?!typedef\b)(?:\w+[ *]+)+(\w+)\([^;{}]*\)\s*\{", re.M)
DECLARATION = re.compile(r"^[a-z][^{}#;]*;", re.M)
WORD = re.compile(r"(?<![.\w])(?<!->)(?<!struct )(?<!enum )[a-z]\w+(\()?")
VARIABLE = re.compile(r"(?<=\w[ *])([a-z]\w+)(?= *[;,=)\[])")


def module_of(name):
    """A header and its .c file are one module: lib/switch/voq of lib/switch/voq.h."""
    return name.rsplit(".", 1)[0]


class Calls:
    """Which module uses which functions of another one: calls, and functions in tables and arguments.
    'clean' blanks the comments and strings of C text."""

    def __init__(self, names, read, clean):
        texts = {n: clean(read(n)) for n in sources(names)}
        self.owners = collections.defaultdict(set)
        for name, text in texts.items():
            for static, function in DEFINITION.findall(text):
                if function != "main" and (not static or name.endswith(".h")):
                    self.owners[function].add(module_of(name))
        self.edges = collections.defaultdict(lambda: collections.defaultdict(set)) # module: {module: functions}
        for name, text in texts.items():
            self.add(module_of(name), DECLARATION.sub("", text) if name.endswith(".h") else text)

    def add(self, module, text):
        own = {function for static, function in DEFINITION.findall(text)}
        variables = set(VARIABLE.findall(text))
        for found in WORD.finditer(text):
            function = found[0].rstrip("(")
            if function not in own and (found[1] or function not in variables):
                for owner in self.owners.get(function, set()) - {module}:
                    self.edges[module][owner].add(function)

    def cycles(self):
        """Sets of modules that call each other, the largest first (Tarjan's algorithm)."""
        index, low, stack, found = {}, {}, [], []

        def walk(module):
            index[module] = low[module] = len(index)
            stack.append(module)
            for other in sorted(self.edges.get(module, ())):
                if other not in index:
                    walk(other)
                if other in stack:
                    low[module] = min(low[module], low[other])
            if low[module] == index[module]:
                at = stack.index(module)
                found.append(sorted(stack[at:]))
                del stack[at:]

        sys.setrecursionlimit(10000)
        for module in sorted(self.edges):
            if module not in index:
                walk(module)
        return sorted((c for c in found if len(c) > 1), key=len, reverse=True)


def cycle_folders(cycle):
    return sorted({os.path.dirname(module) for module in cycle})


def check_calls(names, read, clean):
    for cycle in Calls(names, read, clean).cycles():
        where = cycle_folders(cycle)
        most = CALL_CYCLE_MAX if len(where) == 1 else 0
        if len(cycle) > most:
            yield f"{cycle[0]}.c:1: {len(cycle)} modules call each other, at most {most}: {' '.join(cycle)}"


def show_calls(names, read, clean):
    """Each cycle of modules, with the functions that each one uses of the others."""
    calls = Calls(names, read, clean)
    for cycle in calls.cycles():
        print(f"{len(cycle)} in {', '.join(cycle_folders(cycle))}")
        for module in cycle:
            for other in sorted(calls.edges[module].keys() & set(cycle)):
                print(f"    {module} -> {other}: {' '.join(sorted(calls.edges[module][other]))}")
