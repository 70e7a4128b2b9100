#!/bin/sh
# Installs what building needs and is missing: a C compiler, Python's venv, Rust, and on Linux what
# compiles and loads the controllers for the kernel. With the word `tests` also what only tests
# need, with the word `check` clippy and rustfmt, with the word `browser` Chromium, with the word
# `page` what makes the page of the explorer: node, npm, and what compiles to WebAssembly.
# An existing Rust toolchain that is new enough is used and left alone.
set -eu

RUST_MINIMUM=1.88

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "error: $* needs root; run as root or install sudo" >&2; exit 2
  fi
}

# Whether version $1 is at least $2.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

rust_is_there() {
  command -v cargo >/dev/null && command -v rustc >/dev/null &&
    at_least "$(rustc --version | cut -d' ' -f2)" "$RUST_MINIMUM"
}

lints_are_there() { cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1; }

missing=""
command -v cc >/dev/null || missing="$missing gcc libc6-dev"
python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
if [ "$(uname -s)" = Linux ]; then
  command -v clang >/dev/null || missing="$missing clang"
  command -v pkg-config >/dev/null || missing="$missing pkg-config"
  [ -e /usr/include/libelf.h ] || missing="$missing libelf-dev"
  [ -e /usr/include/zlib.h ] || missing="$missing zlib1g-dev"
fi
# Tests whose program cannot be installed are skipped.
# Wants program $1 of package $2 for the tests.
for_tests() {
  if command -v "$1" >/dev/null; then return; fi
  if [ "$(id -u)" = 0 ] || command -v sudo >/dev/null; then missing="$missing $2"
  else echo "$1 is missing, and so is root to install it: its tests are skipped"
  fi
}
if [ "${1:-}" = tests ]; then
  for_tests tshark tshark
  for_tests pdffonts poppler-utils
  if [ "$(uname -s)" = Linux ]; then
    for_tests curl curl
    for_tests iperf3 iperf3
    for_tests mptcpize mptcpize
    for_tests nft nftables
  fi
fi
if [ "${1:-}" = browser ] && ! command -v chromium >/dev/null; then missing="$missing chromium"; fi
if [ "${1:-}" = page ]; then
  command -v node >/dev/null || missing="$missing nodejs"
  command -v npm >/dev/null || missing="$missing npm"
  command -v llvm-ar >/dev/null || missing="$missing llvm"
  # rustup has the standard library for the target, Debian its sources and a linker.
  if command -v rustup >/dev/null && rustup --quiet target add wasm32-unknown-unknown; then :
  else
    [ -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/src/rust" ] || missing="$missing rust-web-src"
    command -v wasm-ld-19 >/dev/null || missing="$missing lld-19"
  fi
fi
# Debian 12's own cargo is too old; its cargo-web and rustc-web are not.
rust_is_there || missing="$missing cargo-web rustc-web"
if [ "${1:-}" = check ] && ! lints_are_there; then
  if command -v rustup >/dev/null; then rustup component add clippy rustfmt
  else missing="$missing rust-web-clippy rustfmt-web"
  fi
fi

[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null; then
  echo "error: missing:$missing (this is not a Debian system: install a C compiler, clang, pkg-config, the headers of libelf and zlib, Python 3.11 with venv and Rust $RUST_MINIMUM)" >&2
  exit 2
fi
echo "installing:$missing"
as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of packages
as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
[ "${1:-}" != check ] || lints_are_there || { echo "error: cargo has no clippy or no fmt" >&2; exit 2; }
rust_is_there || { echo "error: Rust is older than $RUST_MINIMUM; run \`rustup update\` or remove it from PATH" >&2; exit 2; }
