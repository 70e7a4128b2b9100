#!/bin/sh
# Makes explorer/build/engine.wasm: the simulator as a WebAssembly module for the page. What it
# needs is installed by `tools/install.sh page`. rustup brings the standard library for the target;
# Debian's rust-web-src has its sources, and cargo builds it from them.
set -eu
cd "$(dirname "$0")/.."

TARGET=wasm32-unknown-unknown
# The laws of the kernel are in C; clang has this target, gcc has not.
export CC_wasm32_unknown_unknown=clang AR_wasm32_unknown_unknown=llvm-ar
export CFLAGS_wasm32_unknown_unknown=-ffreestanding

sysroot=$(rustc --print sysroot)
if [ ! -d "$sysroot/lib/rustlib/$TARGET/lib" ] && command -v rustup >/dev/null; then
  rustup target add "$TARGET" || true # without the network: from the sources, below
fi
set -- build --quiet --package wasm --profile page --target "$TARGET"
if [ ! -d "$sysroot/lib/rustlib/$TARGET/lib" ]; then
  # Building the standard library is unstable: the first variable admits it in a stable compiler.
  export RUSTC_BOOTSTRAP=1
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="${WASM_LD:-wasm-ld-19}"
  set -- "$@" -Zbuild-std=std,panic_abort
fi
cargo "$@"
mkdir -p explorer/build
cp "${CARGO_TARGET_DIR:-target}/$TARGET/page/wasm.wasm" explorer/build/engine.wasm
