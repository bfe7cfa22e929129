#!/bin/sh
# The table of topology: its figures are those of the runs' own records, no group is split; its errors.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null || ! command -v zstd >/dev/null; then
    echo 'skipped: no python3 or no zstd (make deps installs them)'
    exit 77
fi

table() { # arguments
    (cd "$repository" && WINDTUNNEL=$program tools/topology_table "$@") >said.out 2>said.err
    status=$?
}
short='--set workload.load_gpus=cluster --set workload.synth.duration=2d --set world.warmup=0 --set world.end=2d'

# shellcheck disable=SC2086
table --clusters nvl72 --rows loose,required --markdown $short
[ "$status" -eq 0 ] || fail "status $status: $(cat said.err)"
[ "$(grep -c '^| .* |$' said.out)" -eq 3 ] || fail "not a head and two rows: $(cat said.out)"
[ "$(grep -c '^| [a-z]* | .* | 0 |$' said.out)" -eq 2 ] || fail "a group was split: $(cat said.out)"
grep -q '^| required | .* | 1.000 | 0 |$' said.out || fail "a gang is in two units: $(cat said.out)"

# shellcheck disable=SC2086
"$program" run "$repository/scenarios/gangs.json" --quiet --cluster "$repository/topologies/nvl72-8.json" \
    --set policy.topology.mode=loose $short --out record >/dev/null || fail 'the run of its own failed'
own=$(sed -n 's/^ *"gang_link_gb_per_s_mean": {"value": \([0-9.]*\),.*/\1/p' record/result.json | head -n 1)
[ -n "$own" ] && grep -q "^| loose | .* | $(LC_ALL=C printf '%.1f' "$own") | " said.out ||
    fail "$own GB/s are shown as $(grep loose said.out)"

# With another placement policy the row is that run's.
# shellcheck disable=SC2086
table --clusters nvl72 --rows preferred,preferred+topology --markdown $short
# shellcheck disable=SC2086
"$program" run "$repository/scenarios/gangs.json" --quiet --cluster "$repository/topologies/nvl72-8.json" \
    --set policy.topology.mode=preferred --set policy.placement=topology $short --out record >/dev/null ||
    fail 'the run with the placement policy failed'
own=$(sed -n 's/^ *"gang_link_gb_per_s_mean": {"value": \([0-9.]*\),.*/\1/p' record/result.json | head -n 1)
own=$(LC_ALL=C printf '%.1f' "$own")
grep -q "^| preferred+topology | .* | $own | " said.out || fail "$own GB/s are shown as $(cat said.out)"
! grep -q "^| preferred | .* | $own | " said.out || fail "the placement policy changes nothing: $(cat said.out)"

table --rows nope
[ "$status" -eq 2 ] && grep -q 'there is no nope' said.err || fail "unknown row: status $status"
table --clusters moon
[ "$status" -eq 2 ] && grep -q 'there is no moon' said.err || fail "unknown cluster: status $status"
finish
