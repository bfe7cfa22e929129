#!/bin/sh
# What `make install` puts down is enough to compile, link and run a stranger's program against the scheduler library.
set -eu

# The sanitizers' variants are not for installing.
case ${WINDTUNNEL_BUILD-build/release} in
build/release) ;;
*)
    echo "skipped: what is installed is the build release, this is ${WINDTUNNEL_BUILD##*/}"
    exit 77
    ;;
esac

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
make --no-print-directory install VARIANT=release PREFIX="$place" CC="${CC:-cc}" ${OPT:+OPT="$OPT"}

for path in bin/windtunnel lib/libwindtunnel_sched.a lib/libwindtunnel_sched.so lib/libwindtunnel_sched.so.0 \
    lib/pkgconfig/windtunnel_sched.pc include/windtunnel/policies/sched.h include/windtunnel/workloads/job.h \
    include/windtunnel/policies/plugin.h \
    share/windtunnel/scenarios/h100-500x8.json share/windtunnel/topologies/dgx-h100-500.json \
    share/windtunnel/workloads/samples/philly.csv share/windtunnel/workloads/models/philly.json \
    share/doc/windtunnel/README.md share/doc/windtunnel/docs/scenario.md \
    share/doc/windtunnel/docs/examples/process/fifo.py share/doc/windtunnel/docs/examples/ci/action.yml \
    share/doc/windtunnel/workloads/README.md \
    share/bash-completion/completions/windtunnel share/zsh/site-functions/_windtunnel \
    share/fish/vendor_completions.d/windtunnel.fish share/man/man1/windtunnel.1; do
    if [ ! -s "$place/$path" ]; then
        echo "not installed, or empty: $path"
        exit 1
    fi
done
if [ -e "$place/include/windtunnel/workloads/job_truth.h" ]; then
    echo "installed, but not for schedulers: workloads/job_truth.h"
    exit 1
fi

cat >"$place/stranger.c" <<'END'
#include <policies/sched.h>

int main(void)
{
    time_ns wake_at;
    const struct decision *decisions;
    struct error error = ERROR_OK;
    struct cluster *cluster = cluster_uniform_new(1, 1);
    size_t (*volatile cycle)(struct sched *, time_ns, const struct decision **, time_ns *) = sched_cycle;
    (void)wake_at;
    (void)decisions;
    int is_whole = cluster->gpu_count == 1 && cycle != 0 && !error_is(error);
    cluster_free(cluster);
    return is_whole ? 0 : 1;
}
END
# A policy of one's own, as docs/first-policy.md goes about it.
INSTALLED="$place" WINDTUNNEL="$place/bin/windtunnel" sh tests/cli/first_policy.sh
export PKG_CONFIG_PATH="$place/lib/pkgconfig"
cd "$place"
# shellcheck disable=SC2046 # lists of flags
"${CC:-cc}" $(pkg-config --cflags windtunnel_sched) -o shared stranger.c $(pkg-config --libs windtunnel_sched)
LD_LIBRARY_PATH="$place/lib" ./shared
# shellcheck disable=SC2046
"${CC:-cc}" $(pkg-config --cflags windtunnel_sched) -o static stranger.c lib/libwindtunnel_sched.a \
    $(pkg-config --static --libs jansson libxxhash) -lm
./static

# The worked example of a plug-in builds against it, and the installed program runs it.
cp -R "$OLDPWD/docs/examples/plugin" example
chmod -R go-w example
make --no-print-directory -C example CC="${CC:-cc}"
bin/windtunnel policy list --plugin example/widest_ageing.so | grep -q '^  widest_ageing '

if ldd ./shared | grep -E 'hwloc|zstd|gsl'; then
    echo 'the scheduler library drags these in'
    exit 1
fi

# The program runs what was installed from any folder, says where it is, and so does its manual page.
mkdir empty
cd empty
../bin/windtunnel run h100-500x8 --set world.end=1h --set world.warmup=0 | grep -q '4,000 GPUs'
../bin/windtunnel run --trace philly.csv --cluster philly-352 --policy fifo | grep -q '11 jobs'
for scenario in "$place"/share/windtunnel/scenarios/*.json; do
    ../bin/windtunnel validate "$(basename "$scenario" .json)" >/dev/null
done
../bin/windtunnel run gang-deadlock --scheduler "python3 $place/share/doc/windtunnel/docs/examples/process/fifo.py" \
    >/dev/null
../bin/windtunnel help | grep -qxF "  $place/share/windtunnel"
grep -qF "$place/share/windtunnel" "$place/share/man/man1/windtunnel.1"
for path in $(cd "$OLDPWD" && sed -n 's/.*](\([a-zA-Z/.-]*\.md\).*/\1/p' share/doc/windtunnel/README.md); do
    if [ ! -e "$place/share/doc/windtunnel/$path" ]; then
        echo "the installed README names a document that is not there: $path"
        exit 1
    fi
done
