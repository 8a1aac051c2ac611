#!/bin/sh
# base-image.sh NODE TAG: a Debian root with this Node, in buildah's store under the tag of a Dockerfile's FROM, so that
# `buildah bud --pull-never` builds without a registry. Needs buildah, crun, mmdebstrap and root.
set -eu
node=$(readlink -f "$1")
tag=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$folder/root.tar"
mkdir "$folder/rootfs"
tar -xf "$folder/root.tar" -C "$folder/rootfs" --exclude=./dev
mkdir -p "$folder/rootfs/dev"
install -D -m755 "$node" "$folder/rootfs/usr/local/bin/node"
container=$(buildah from scratch)
buildah add -q "$container" "$folder/rootfs" / >/dev/null
buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah commit -q --format docker "$container" "$tag" >/dev/null
buildah rm "$container" >/dev/null
