#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
"""The commands that README.md and the pages of docs print do what the pages promise.

usage: page_commands_test.py BUILD [--needs MARK]... [--whole] [--page NAME]...

Each block of commands runs as it stands on the page, in a folder that has topo, tools and tests; blocks of one page share
it. Where a page prints what a command of "$ " prints, both must be the same; "…" stands for any text. A comment before a
block says what it needs: <!-- run: MARK, …; OPTION; … -->, one of

  root     privileges: namespaces, TAPs            lab       a lab LAB, of the file LAB.yaml, that is up; privileges
  nics     network cards                            machines  several machines
  slurm    a cluster                                packages  changes what is installed
  desktop  a terminal or screen with somebody at it long      minutes; run by hand with --needs long
  tree     the build tree's own tests and benches

and the options

  short WORDS   words that the suite puts behind each 'weft run', sweep, reproduce and lab run, so that it takes no minutes; not with --whole
  exit N        the exit code of the last command
  vary          numbers before s, ms, us, MiB are other ones each time
  file NAME     the block is no command but this file, for the blocks after it

Without a mark a block needs nothing, and always runs. All blocks, also those that do not run here, are read: options
must be in the command's help, keys of --set and --vary in the list of keys, files of the tree there.
"""
import argparse
import os
import pathlib
import re
import resource
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
MARKS = ("root", "lab", "nics", "machines", "slurm", "packages", "desktop", "long", "tree")
OPTIONS = ("short", "exit", "vary", "file")
WORDS = ("apt", "ansible-playbook", "dpkg-buildpackage", "echo", "export", "for", "git", "ip", "make", "meson", "modprobe", "mpicc",
         "mpirun", "ninja", "openssl", "set", "sudo", "systemctl", "tshark", "wireshark", "weft", "weft-fabric", "weft-nic", "weft-switch")
PROMPT = re.compile(r"(?:([A-Z])[$#]|[$]) ")
NUMBER = re.compile(r"\d+(?:\.\d+)? (?=(?:s|ms|us|ns|MiB)\b)")
TIMEOUT = 300


class Block:
    def __init__(self, page, line, lines, mark):
        self.page, self.line, self.mark = page, line, mark
        while lines and not lines[-1].strip():
            lines.pop()
        indent = min((len(text) - len(text.lstrip()) for text in lines if text.strip()), default=0)
        self.lines = [text[indent:] for text in lines]
        self.needs, self.options = set(), {}

    def __str__(self):
        return f"{self.page}:{self.line}"

    def parse_mark(self):
        """Raises ValueError."""
        needs, *options = (part.strip() for part in (self.mark or "").split(";"))
        self.needs = {word.strip() for word in needs.split(",") if word.strip()}
        if self.needs - set(MARKS):
            raise ValueError(f"unknown mark '{' '.join(sorted(self.needs - set(MARKS)))}', expected some of {', '.join(MARKS)}")
        for option in options:
            name, _, value = option.partition(" ")
            if name not in OPTIONS:
                raise ValueError(f"unknown option '{name}' of a mark, expected {', '.join(OPTIONS)}")
            self.options[name] = value

    def steps(self):
        """[(command, expected output or None)], empty: no commands."""
        if any(PROMPT.match(line) for line in self.lines):
            steps = []
            for line in self.lines:
                if PROMPT.match(line):
                    steps.append([PROMPT.sub("", line, count=1), []])
                elif steps and steps[-1][0].endswith("\\"):
                    steps[-1][0] += "\n" + line
                elif steps:
                    steps[-1][1].append(line)
            return [(command, "\n".join(output)) for command, output in steps]
        return [("\n".join(self.lines), None)] if self.lines and is_command(self.lines[0]) else []


def is_command(line):
    words = [word for word in line.lstrip("(").split() if not re.match(r"[A-Z_]+=", word)]
    if not words or any(word.endswith(":") for word in words[:3]):
        return False
    path = TOP / words[0]
    return words[0] in WORDS or words[0] == "umask" or words[0].startswith("build/") or (
        "/" in words[0] and path.is_file() and os.access(path, os.X_OK))


def blocks_of(page):
    """Indented and fenced blocks of a page; a mark is the comment on the last line before one."""
    block, start, fence, blank, mark, blocks = [], 0, False, True, None, []

    def end():
        if block:
            blocks.append(Block(page.name, start, list(block), mark))
            block.clear()
            return None
        return mark

    for number, line in enumerate(page.read_text().split("\n"), 1):
        comment = re.fullmatch(r"\s*<!-- run: (.*) -->", line)
        if line.lstrip().startswith("```"):
            mark, fence, start = end(), not fence, number + 1
        elif fence or (re.match(r" {4,}|\t", line) and (block or blank)) or (block and not line.strip()):
            start = start if block else number
            block.append(line)
        else:
            mark = end()
            if line.strip():
                mark = comment[1] if comment else None
        blank = not line.strip() or comment is not None
    end()
    return blocks


class Reader:
    """Checks commands without running them."""

    def __init__(self, weft):
        self.weft, self.helps = weft, {}
        keys = subprocess.run([weft, "complete", "keys"], capture_output=True, text=True, check=True).stdout
        self.keys = {line.split()[1] for line in keys.splitlines()}

    def help_of(self, words):
        name = tuple(word for word in words[:2] if re.fullmatch("[a-z]+", word))
        if name not in self.helps:
            done = subprocess.run([self.weft, *name[:1], "--help"], capture_output=True, text=True, check=False, timeout=240)
            if len(words) > 1 and re.fullmatch("[a-z]+", words[1]):
                part = subprocess.run([self.weft, *name, "--help"], capture_output=True, text=True, check=False, timeout=240)
                done.stdout += part.stdout
            man = TOP / "docs/man" / f"weft-{name[0]}.1" if name else TOP / "docs/man/weft.1"
            self.helps[name] = done.stdout + done.stderr + (man.read_text().replace("\\-", "-") if man.exists() else "")
        return self.helps[name]

    def complaints(self, command):
        for line in command.replace("\\\n", " ").split("\n"):
            for part in re.split(r"\s\|\s|;\s|&&|\sdo\s", re.sub(r"(^|\s)#.*", "", line)):
                try:
                    words = shlex.split(part.rstrip("&) ").lstrip("( "))
                except ValueError as error:
                    yield f"{part}: {error}"
                    continue
                yield from self.of_words([word.strip("[]") for word in words if word != "sudo"])

    def of_words(self, words):
        for word in words:
            if re.match(r"(topo|tools|tests|docs)/[\w./-]+$", word) and not (TOP / word).exists():
                yield f"{word} is not in the tree"
        if not words or os.path.basename(words[0]) != "weft":
            return
        words = words[1:words.index("--")] if "--" in words else words[1:]
        text = self.help_of(words)
        for at, word in enumerate(words):
            name = word.split("=")[0]
            if name.startswith("--") and not re.search(rf"{re.escape(name)}(?![\w-])", text):
                yield f"weft {' '.join(words[:2])}: {name} is not in its help"
            if name in ("--set", "--vary") and at + 1 < len(words) and words[0] != "lab":
                key = re.sub(r"(?:\[|\.)\d+\]?", "[]", words[at + 1].split("=")[0])
                if key not in self.keys and key != "KEY" and not any(known.startswith(key) for known in self.keys):
                    yield f"{name} {words[at + 1]}: no such key"
        if words[:1] == ["reproduce"] and len(words) > 1 and re.match("[a-z]", words[1]) and \
                not any(f"\n  {words[1]}:\n" in path.read_text() for path in (TOP / "topo/reproduce").glob("*.yaml")):
            yield f"weft reproduce {words[1]}: no such experiment"


def same(expected, got, vary):
    """'…' stands for any text, alone on a line for any lines."""
    def norm(text):
        lines = [line.rstrip() for line in text.strip("\n").split("\n")]
        text = "\n".join(lines)
        return re.sub(r" +", " ", NUMBER.sub("N ", text)) if vary else text

    pattern = re.escape(norm(expected)).replace("\\\n", "\n")
    pattern = re.sub(r"(?m)^(?:…|\\\.\\\.\\\.)$", r"(?:.*\\n?)*?", pattern).replace("…", ".*")
    return re.fullmatch(pattern.replace("(?:.*\\n?)*?\n", "(?:.*\\n)*?"), norm(got)) is not None


def add_words(command, words):
    """Adds the words after each 'weft' command of a script."""
    lines = []
    for line in command.replace("\\\n", " ").split("\n"):
        code, space, comment = re.match(r"(.*?)(\s*)((?:\s#.*)?)$", line).groups()
        lines.append(f"{code} {words}{space}{comment}" if re.match(r"\s*(build/tools/weft/)?weft (run|sweep|reproduce|lab run) ", code) else line)
    return "\n".join(lines)


def apart(needs):
    """Again with namespaces of its own, so that nothing is left on the machine: what was started ends with it."""
    if not set(needs) & {"root", "lab"} or os.environ.get("WEFT_PAGES_APART"):
        return
    if os.geteuid() != 0 or subprocess.run(["unshare", "-nmp", "--fork", "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        print("no privileges, or no namespaces")
        sys.exit(77)
    script = "mount -t tmpfs tmpfs /run && mkdir -p /run/netns /run/lock && ip link set lo up && exec \"$@\""
    os.environ["WEFT_PAGES_APART"] = "1"
    os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script, "sh",
                          sys.executable, *sys.argv])


def prepare_lab(folder, block, environment):
    """LAB is up, unless the block starts it; slowed down, so that a busy machine is fast enough."""
    text = (TOP / "topo/lab-two-leaves.yaml").read_text().replace("name: two-leaves", "name: LAB")
    (folder / "LAB.yaml").write_text(text.replace("topology: two-leaves", "topology: topo/two-leaves"))
    (folder / "RUN.yaml").write_text("weft: run/1\ntopology: \"rlft:ports=4,stages=2\"\nclock: real\n"
                                     "traffic: [{pattern: uniform, load: 1%}]\nmeasure: {duration: 20ms}\n")
    starts = block.lines[0].startswith("weft lab up")
    for words in (["down", "LAB.yaml"], *([] if starts else [["up", "--dilation", "20", "LAB.yaml"]])):
        done = subprocess.run(["weft", "lab", *words], cwd=folder, env=environment, check=False, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TIMEOUT)
        if words[0] == "up" and done.returncode != 0:
            return [f"no lab for it: {done.stderr}"]
    return []


def run(block, folder, environment, whole):
    """A list of complaints."""
    said = prepare_lab(folder, block, environment) if "lab" in block.needs else []
    if said:
        return said
    for command, expected in block.steps():
        script = command.replace("/tmp/", f"{folder}/tmp-")
        if "short" in block.options and not whole:
            script = add_words(script, block.options["short"])
        try:
            # As on a terminal, where lines of both outputs come in their order.
            done = subprocess.run(["stdbuf", "-oL", "bash", *([] if "exit" in block.options else ["-e"]), "-c", script], cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT * (10 if whole else 1), check=False)
        except subprocess.TimeoutExpired:
            return [f"'{command}' did not end"]
        last = command == block.steps()[-1][0]
        wanted = int(block.options.get("exit", 0)) if last else None
        if expected is None or "exit" in block.options:
            if wanted is not None and done.returncode != wanted:
                return [f"'{command}' ended with {done.returncode}, expected {wanted}: {done.stdout[-1500:]}"]
        if expected and not ("short" in block.options and not whole) and not same(expected, done.stdout, "vary" in block.options):
            return [f"'{command}' prints something else than the page:\n{done.stdout}"]
    return []


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--needs", action="append", default=[], choices=MARKS)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--page", action="append", default=[])
    parser.add_argument("--pages", type=pathlib.Path, default=None)  # for a test of this program
    options = parser.parse_args()
    apart(options.needs)
    build = options.build.resolve()
    pages = [page for page in ([TOP / "README.md", *sorted((TOP / "docs").rglob("*.md"))] if options.pages is None
                               else sorted(options.pages.glob("*.md"))) if not options.page or page.name in options.page]
    reader = Reader(build / "tools/weft/weft")
    path = ":".join(str(build / part) for part in ("tools/weft", "apps/fabric", "apps/switch", "apps/nic"))
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
    bad = ran = seen = 0
    for page in pages:
        with tempfile.TemporaryDirectory(prefix="weft-pages-") as name:
            folder = pathlib.Path(name)
            for part in ("topo", "tools", "tests", "docs"):
                (folder / part).symlink_to(TOP / part)
            (folder / "build").symlink_to(build)
            for block in blocks_of(page):
                try:
                    block.parse_mark()
                except ValueError as error:
                    print(f"{block}: {error}")
                    bad += 1
                    continue
                if "file" in block.options:
                    (folder / block.options["file"]).write_text("\n".join(block.lines) + "\n")
                    continue
                steps = block.steps()
                if any("<!-- run:" in line for line in block.lines):
                    print(f"{block}: a mark inside of a block")
                    bad += 1
                if not steps:
                    if block.mark is not None:
                        print(f"{block}: a mark before a block without commands")
                        bad += 1
                    continue
                seen += 1
                said = [text for command, _ in steps for text in reader.complaints(command)]
                synopsis = any(re.search(r"\s\[-|\]\.\.\.", command) for command, _ in steps)
                wanted = block.needs == set() if not options.needs else bool(block.needs) and block.needs <= set(options.needs)
                if not said and wanted and not synopsis:
                    ran += 1
                    before = resource.getrusage(resource.RUSAGE_CHILDREN)
                    said = run(block, folder, environment, options.whole)
                    after = resource.getrusage(resource.RUSAGE_CHILDREN)
                    print(f"{block}: {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s of CPU time")
                for text in said:
                    print(f"{block}: {text}")
                    bad += 1
    print(f"{seen} blocks of commands on {len(pages)} pages, {ran} of them ran, {bad} complaints")
    return 1 if bad or (ran == 0 and not options.page) else 0


if __name__ == "__main__":
    sys.exit(main())
