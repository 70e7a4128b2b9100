#!/bin/sh
# Writes the sources of the controllers as kernel modules into a folder: they need nothing but the
# headers of a kernel, make and a C compiler. The command that follows is `anabranch`: it prints the
# C of laws.
set -eu
if [ $# -lt 2 ]; then
	echo "usage: packaging/modules.sh FOLDER ANABRANCH..." >&2
	exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
sources=$(dirname "$0")/..
rm -rf "$folder/include" "$folder/laws"
mkdir -p "$folder/include" "$folder/laws"
cp "$sources"/module/* "$folder/"
cp "$sources"/bpf/include/*.h "$folder/include/"
# What `bpf` and `module` both have is of BPF alone in the first.
for header in "$sources"/bpf/*.h; do
	name=${header##*/}
	[ -e "$sources/module/$name" ] || cp "$header" "$folder/"
done
for glue in $(grep -l '^AB_CONTROLLER(' "$sources"/bpf/*.bpf.c); do
	law=$(basename "$glue" .bpf.c)
	written=$sources/bpf/laws/$law.h
	if [ -e "$written" ]; then
		cp "$written" "$folder/laws/"
	else
		"$@" law c "$(echo "$law" | tr _ -)" >"$folder/laws/$law.h"
	fi
	cp "$glue" "$folder/"
done
