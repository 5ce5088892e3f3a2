# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026, the Weft developers
#
# Completion of weft's command lines for bash; bash-completion loads it.

_weft() {
	local words=() cword=0 cur='' candidate line
	_get_comp_words_by_ref -n := words cword cur
	COMPREPLY=()
	while IFS= read -r candidate; do
		if [ "$candidate" = :files ]; then
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur")
			compopt -o filenames
		else
			COMPREPLY+=("$candidate")
		fi
	done < <(sh '@DATA@/complete' "${words[0]}" "${words[@]:1:cword}" 2>/dev/null)
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace
	# Readline splits words at '=' and ':', and inserts only what comes after the last of them.
	local head=${cur%"${cur##*[=:]}"} i
	for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$head"}; done
}
complete -F _weft weft
