#!/bin/sh
# Builds the program for routers, linked statically, and prints its path. Needs clang, and the
# archives of libelf and zlib (libelf-dev, zlib1g-dev).
set -eu
cd "$(dirname "$0")/.."
host=$(rustc -vV | sed -n 's/^host: //p')
libraries=/usr/lib/$(cc -print-multiarch)
for archive in libelf.a libz.a; do
	if ! [ -e "$libraries/$archive" ]; then
		echo "error: $libraries/$archive is missing: apt-get install libelf-dev zlib1g-dev" >&2
		exit 2
	fi
done
flags="-C target-feature=+crt-static -C relocation-model=static"
flags="$flags --remap-path-prefix=$PWD=anabranch"
flags="$flags --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
# Since elfutils 0.189 libelf may read sections that are compressed by zstd.
if grep -q ZSTD_ "$libraries/libelf.a"; then
	flags="$flags -C link-arg=-lzstd"
fi
RUSTFLAGS=$flags LIBBPF_SYS_LIBRARY_PATH=$libraries cargo build --quiet --locked --package loader \
	--features static --profile router --target "$host" >&2
echo "${CARGO_TARGET_DIR:-target}/$host/router/anabranch-linux"
