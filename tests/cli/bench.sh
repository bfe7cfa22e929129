#!/bin/bash
# `make bench` fails when a job of some row costs over 3 % more than its figure, or more than its promise.  It asks for
# new figures when a job costs over 3 % less, and writes them.  Counted here is a made-up number, so that the limits are
# met exactly; one run is truly counted.
set -u
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

bench="$repository/tests/bench/bench_instructions.sh"
mkdir -p build/profiled
cp "$program" build/profiled/

cat >rows <<END
# a comment stays
one | first row  | none  | 5000 | 1000 | 100 | small.json
one | second row | files | -    | 1000 | 100 | small.json
END
cat >count <<'END'
#!/bin/sh
# count PROGRAM ARGUMENTS...: so many instructions per job as stands in per_job.
for word; do case $word in workload.synth.jobs=*) jobs=${word#*=} ;; esac; done
echo $(($(cat "$COUNTED") * jobs))
END
chmod +x count
export WINDTUNNEL=$scratch/build/profiled/windtunnel BENCH_ROWS=$scratch/rows BENCH_COUNT=$scratch/count \
    COUNTED=$scratch/per_job

judged() { # instructions per job, size, status, what is said
    echo "$1" >per_job
    (cd "$repository" && WINDTUNNEL_TEST_SIZE=$2 "$bench") >said.out 2>&1
    status=$?
    [ $status -eq "$3" ] || fail "$1 a job, $2: exit status $status, not $3: $(cat said.out)"
    grep -q "$4" said.out || fail "$1 a job, $2: does not say '$4': $(cat said.out)"
}

judged 1030 small 0 '^kept: '
judged 1031 small 1 'FAIL: over 3 % more'
judged 970 small 0 '^kept: '
judged 969 small 0 'please run make bench-update'
judged 100 full 0 '^kept: '
judged 104 full 1 '^not kept: '

# Another build is counted and not judged.
mkdir -p build/release
cp build/profiled/windtunnel build/release/
WINDTUNNEL=$scratch/build/release/windtunnel judged 2000 small 0 'nothing is judged'

# New figures: both columns, and nothing else.
echo 777 >per_job
(cd "$repository" && "$bench" --update) >said.out 2>&1 || fail "the update: $(cat said.out)"
cat >expected <<END
# a comment stays
one | first row  | none  | 5000 | 777 | 777 | small.json
one | second row | files | -    | 777 | 777 | small.json
END
diff -u expected rows || fail 'the update wrote something else'
judged 777 full 0 '^kept: '

# A promise has no room, and holds for long runs alone.
sed -i 's/777 | 777/5000 | 5000/' rows
judged 5000 full 0 '^kept: '
judged 5001 full 1 'FAIL: over its promise'
judged 5001 small 0 '^kept: '

# A program that fails is a failure, not a row without a number.
echo 'one | third row | none | - | 1000 | 100 | no-such.json' >>rows
printf '#!/bin/sh\nexec "$@"\n' >count
judged 777 small 1 'does not run'

case ${WINDTUNNEL_BUILD-} in
*sanitized* | *coverage*) counts='a build that is watched' ;;
*) counts=$(command -v valgrind >/dev/null || echo 'no valgrind') ;;
esac
if [ -z "$counts" ]; then
    unset BENCH_COUNT
    sed "s/small.json/$(printf %s "$repository/scenarios/bench.json" | sed 's|/|\\/|g')/; /third/d" rows >true_rows
    BENCH_ROWS=$scratch/true_rows judged 0 small 1 'FAIL: over 3 % more'
else
    echo "note: $counts: nothing was truly counted"
fi
finish
