# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
# shellcheck shell=sh disable=SC2034
#
# The scripts of this folder source it: 'weft' is the program, the folder is a new one, and the first command that fails
# ends the script.
set -eu
weft=$(realpath "${1:-build/tools/weft/weft}")
top=$(realpath "$(dirname "$0")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# exits CODE COMMAND...: runs the command, shows its output, and leaves it in the file 'printed'.
exits() {
	expected=$1 code=0
	shift
	"$@" >printed 2>&1 || code=$?
	cat printed
	[ "$code" = "$expected" ] || { echo "$*: exit code $code, expected $expected" && exit 1; }
}

# has PATTERN [FILE]: a line of the file, or of 'printed', matches.
has() {
	grep -Eq -- "$1" "${2:-printed}" || { echo "no line with '$1' in ${2:-the output}" && exit 1; }
}

# holds EXPRESSION: true in Python, where result("NAME") is the result in NAME.json.
holds() {
	python3 -c 'import json, sys
def result(name):
    with open(f"{name}.json", encoding="utf-8") as file:
        return json.load(file)
sys.exit(not eval(sys.argv[1]))' "$1" || { echo "not true: $1" && exit 1; }
}
