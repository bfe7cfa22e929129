#!/bin/sh
# `make deb` packs what lintian has no complaint about, and what runs from where it is unpacked.
set -u

case ${WINDTUNNEL_BUILD-build/release} in
build/release) ;;
*)
    echo "skipped: what is packed is the build release, this is ${WINDTUNNEL_BUILD##*/}"
    exit 77
    ;;
esac
for tool in dpkg-buildpackage dh lintian; do
    if ! command -v $tool >/dev/null; then
        echo "skipped: $tool is not installed (make deps installs it)"
        exit 77
    fi
done
. tests/support/cli.sh

version=$(cat "$repository/VERSION")
architecture=$(dpkg --print-architecture)
library=libwindtunnel-sched${version%%.*}
make --no-print-directory -C "$repository" deb VARIANT=release DEB="$scratch/deb" CC="${CC:-cc}" \
    ${OPT:+OPT="$OPT"} >log 2>&1 || fail "make deb: $(cat log)"
for name in windtunnel "$library" libwindtunnel-sched-dev; do
    package=deb/${name}_${version}_$architecture.deb
    if ! dpkg-deb -x "$package" root; then
        fail "no $package: $(ls deb)"
        finish
    fi
    [ "$(dpkg-deb -f "$package" Version)" = "$version" ] || fail "$name: another version than $version"
done

# What it does not know of is nobody's; warnings and errors fail.
lintian --fail-on error,warning --tag-display-limit 0 deb/*.deb >lintian.log 2>&1 || fail "lintian: $(cat lintian.log)"
grep '^[EW]:' lintian.log && fail 'lintian complains'

# ---- What the packages ask for ----

field() { # package, field
    dpkg-deb -f "deb/${1}_${version}_$architecture.deb" "$2"
}
for dependency in libc6 libgsl27 libhwloc15 libjansson4 libzstd1; do
    field windtunnel Depends | grep -q "$dependency" || fail "windtunnel does not depend on $dependency"
done
[ "$(field windtunnel Recommends)" = 'gnuplot-nox | gnuplot' ] || fail "recommends: $(field windtunnel Recommends)"
field "$library" Depends | grep -E 'gsl|hwloc|zstd' && fail 'the scheduler library drags these in'
field libwindtunnel-sched-dev Depends | grep -qF "$library (= $version)" || fail 'the headers go with any library'

# ---- The program runs from there ----

share=$scratch/root/usr/share
program=$scratch/root/usr/bin/windtunnel
windtunnel --version
[ "$(cat said.out)" = "windtunnel $version" ] || fail "version: $(cat said.out said.err)"
windtunnel run small.json --check --out record
[ "$status" -eq 0 ] || fail "run: status $status: $(cat said.err)"
[ -s record/result.json ] || fail 'no record'
windtunnel run gang-deadlock
[ "$status" -eq 0 ] || fail "an installed scenario: status $status: $(cat said.err)"
windtunnel help
grep -qxF "  $share/windtunnel" said.out || fail 'the help names other folders'

# ---- Manual page, changelog, documents, completions, library ----

gzip -dc "$share/man/man1/windtunnel.1.gz" | grep -qF /usr/share/windtunnel ||
    fail 'the manual page names another folder'
gzip -dc "$share/doc/windtunnel/changelog.gz" | grep -q "^windtunnel ($version) " || fail 'no changelog'
grep -q common-licenses/Apache-2.0 "$share/doc/windtunnel/copyright" || fail 'no copyright'
for document in README.md CHANGELOG.md LICENSE docs/scenario.md docs/examples/process/fifo.py; do
    [ -s "$share/doc/windtunnel/$document" ] || fail "no $document"
done
for shell in bash:bash-completion/completions/windtunnel zsh:zsh/vendor-completions/_windtunnel \
    fish:fish/vendor_completions.d/windtunnel.fish; do
    "$program" completion "${shell%%:*}" | cmp - "$share/${shell#*:}" || fail "other completions of ${shell%%:*}"
done

cat >stranger.c <<'END'
#include <policies/sched.h>

int main(void)
{
    struct cluster *cluster = cluster_uniform_new(1, 1);
    int is_whole = cluster->gpu_count == 1;
    cluster_free(cluster);
    return is_whole ? 0 : 1;
}
END
libraries=$(echo root/usr/lib/*/pkgconfig)
export PKG_CONFIG_SYSROOT_DIR="$scratch/root" PKG_CONFIG_PATH="$scratch/$libraries"
# shellcheck disable=SC2046 # lists of flags
"${CC:-cc}" -I root/usr/include/windtunnel -o stranger stranger.c $(pkg-config --libs-only-L windtunnel_sched) \
    -lwindtunnel_sched && LD_LIBRARY_PATH="${libraries%/pkgconfig}" ./stranger ||
    fail 'the library does not link or run'
finish
