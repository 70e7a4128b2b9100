#!/bin/sh
# Puts the sources of the kernel modules into a Debian package for DKMS and into an archive for
# systems without DKMS, both in target/, and prints their paths. The arguments are the command
# `anabranch`. The same sources give the same files, byte for byte.
set -eu
umask 022
cd "$(dirname "$0")/.."
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
tree=target/dkms
rm -rf "$tree"
documents=$tree/usr/share/doc/anabranch-controllers-dkms
sources=$tree/usr/src/anabranch-$version
mkdir -p "$tree/DEBIAN" "$documents" "$sources"
sh packaging/modules.sh "$sources" "$@"
{
	sed "s/@VERSION@/$version/" packaging/dkms/dkms.conf
	place=0
	for glue in "$sources"/*.bpf.c; do
		echo "BUILT_MODULE_NAME[$place]=\"ab_$(basename "$glue" .bpf.c)\""
		echo "DEST_MODULE_LOCATION[$place]=\"/updates/dkms\""
		place=$((place + 1))
	done
} >"$sources/dkms.conf"
cp LICENSE-GPL-2.0 "$sources/COPYING"
gzip -9 -n -c CHANGELOG.md >"$documents/changelog.gz"
cp packaging/dkms/copyright "$documents/"
for script in postinst prerm; do
	sed "s/@VERSION@/$version/" "packaging/dkms/$script" >"$tree/DEBIAN/$script"
	chmod 0755 "$tree/DEBIAN/$script"
done
size=$(du --apparent-size --block-size=1024 --summarize "$tree" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@SIZE@/$size/" packaging/dkms/control >"$tree/DEBIAN/control"
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
package=target/anabranch-controllers-dkms_${version}_all.deb
dpkg-deb --root-owner-group --threads-max=1 -Zxz --build "$tree" "$package" >&2
archive=target/anabranch-controllers-$version.tar.gz
tar --directory "$tree/usr/src" --sort=name --owner=0 --group=0 --numeric-owner \
	--mtime="@$SOURCE_DATE_EPOCH" --create "anabranch-$version" | gzip -9 -n >"$archive"
printf '%s\n' "$package" "$archive"
