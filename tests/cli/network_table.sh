#!/bin/sh
# The table of the network: its figures are those of the runs' own records, far costs more than near; its errors.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null || ! command -v zstd >/dev/null; then
    echo 'skipped: no python3 or no zstd (make deps installs them)'
    exit 77
fi

table() { # arguments
    (cd "$repository" && WINDTUNNEL=$program tools/network_table "$@") >said.out 2>said.err
    status=$?
}
short='--set workload.synth.duration=1d --set world.warmup=0 --set world.end=1d'

# shellcheck disable=SC2086
table --fabrics 8 --rows best_fit,required --markdown $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"

# shellcheck disable=SC2086
"$program" run "$repository/scenarios/gangs-network.json" --quiet --set cluster.fabric.leaf_oversubscription=8 \
    --set policy.placement=best_fit $short --out record >/dev/null || fail 'the run of its own failed'
own=$(sed -n 's/^ *"communication_slowdown_mean": {"value": \([0-9.]*\),.*/\1/p' record/result.json | head -n 1)
[ -n "$own" ] && grep -q "^| best_fit | $(LC_ALL=C printf '%.3f' "$own") | " said.out ||
    fail "a slowdown of $own is shown as $(grep best_fit said.out)"

near=$(sed -n 's/^| required | \([0-9.]*\) .*/\1/p' said.out)
far=$(sed -n 's/^| best_fit | \([0-9.]*\) .*/\1/p' said.out)
[ "$(printf '%s\n%s\n' "$near" "$far" | sort -n | head -n 1)" = "$near" ] && [ "$near" != "$far" ] ||
    fail "gangs in one unit are slowed by $near, others by $far"

table --rows nope
[ "$status" -eq 2 ] && grep -q 'there is no nope' said.err || fail "unknown row: status $status"
