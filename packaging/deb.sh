#!/bin/sh
# Puts the program that is named, its units and its manual into a Debian package in target/, and
# prints its path. The same program gives the same package, byte for byte.
set -eu
umask 022
program=$1
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
architecture=$(dpkg --print-architecture)
tree=target/deb
rm -rf "$tree"
documents=$tree/usr/share/doc/anabranch-linux
mkdir -p "$tree/DEBIAN" "$tree/usr/bin" "$tree/lib/systemd/system" "$tree/usr/share/man/man8" "$documents"
install -m 0755 "$program" "$tree/usr/bin/anabranch-linux"
# The program needs no other file: it runs before file systems are there, and sees no home.
for unit in controller coupling; do
	sed -e '/^# Replace/d' -e '/^RequiresMountsFor=/d' \
		-e 's|/opt/anabranch/.venv/bin/anabranch linux|/usr/bin/anabranch-linux|' \
		-e 's|^ProtectHome=.*|ProtectHome=yes|' \
		"packaging/anabranch-$unit@.service" >"$tree/lib/systemd/system/anabranch-$unit@.service"
done
# It loads no library: no other file need be run. The controller's unit may have an ExecStartPost.
sed -i 's|^ProtectHome=.*|&\nNoExecPaths=/\nExecPaths=/usr/bin/anabranch-linux|' \
	"$tree/lib/systemd/system/anabranch-coupling@.service"
gzip -9 -n -c packaging/anabranch-linux.8 >"$tree/usr/share/man/man8/anabranch-linux.8.gz"
gzip -9 -n -c CHANGELOG.md >"$documents/changelog.gz"
cp packaging/deb/copyright "$documents/"
cp LICENSE-APACHE LICENSE-MIT "$documents/"
for script in postinst prerm postrm; do
	install -m 0755 "packaging/deb/$script" "$tree/DEBIAN/$script"
done
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
size=$(du --apparent-size --block-size=1024 --summarize "$tree" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" \
	packaging/deb/control >"$tree/DEBIAN/control"
touch --date="@$SOURCE_DATE_EPOCH" "$tree/DEBIAN/control" "$tree/DEBIAN"
package=target/anabranch-linux_${version}_$architecture.deb
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$tree" "$package" >&2
echo "$package"
