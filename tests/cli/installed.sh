#!/bin/sh
# The scenarios, clusters and samples that come with the program are found from any folder, by path or by name alone,
# where it was installed; a file of that name in the present folder goes first.
set -u
. tests/support/cli.sh

# As `make install` lays it out; that it does is seen by tests/cli/install.sh.
mkdir -p inst/bin inst/share/windtunnel inst/share/doc/windtunnel/docs
cp "$program" inst/bin/windtunnel
(cd "$repository" && find scenarios topologies workloads/samples \
    \( -name '*.json' -o -name '*.csv' -o -name '*.xml' -o -path '*/samples/*' \) \
    -exec cp --parents {} "$scratch/inst/share/windtunnel" \;)
program=$scratch/inst/bin/windtunnel
mkdir empty
cd empty || exit 1

works() { # what is looked for in stdout; arguments
    wanted=$1
    shift
    windtunnel "$@"
    { [ "$status" -eq 0 ] && grep -q "$wanted" said.out; } || fail "$*: status $status: $(cat said.out said.err)"
}

short='--set world.end=1h --set world.warmup=0 --set workload.synth.duration=1h'
# shellcheck disable=SC2086 # words
{
    works '4,000 GPUs' run h100-500x8 $short
    works '4,000 GPUs' run h100-500x8.json $short
    works '4,000 GPUs' run scenarios/h100-500x8.json $short
    works . explain h100-500x8 $short --at 30m --all
}
works '11 jobs' run --trace workloads/samples/philly.csv --format philly --cluster topologies/philly-352.json \
    --policy fifo
works '11 jobs' run --trace philly.csv --cluster philly-352 --policy fifo
works '^nvl72-8: ' topology show nvl72-8
works '^jobs ' trace info small.swf
rm ../inst/share/windtunnel/scenarios/openb.json # its traces are nobody's to install
for scenario in ../inst/share/windtunnel/scenarios/*.json; do
    works . validate "$(basename "$scenario" .json)"
done
for cluster in ../inst/share/windtunnel/topologies/*.json; do
    works . topology show "$(basename "$cluster" .json)"
done
for sample in ../inst/share/windtunnel/workloads/samples/*; do
    case $sample in
    */*_throughputs.json | */*_run_times.csv | */borg_instance_* | */pai_job_* | */pai_instance_* | */pai_group_*)
        ;; # tables, which stand beside a trace
    */gavel.trace) works . trace info gavel.trace --table throughputs=gavel_throughputs.json ;;
    */pollux.csv) works . trace info pollux.csv --table run_times=pollux_run_times.csv ;;
    */borg_*) works . trace info borg_collection_events.jsonl --table instance=borg_instance_events.jsonl ;;
    */pai_task_table.csv) works . trace info pai_task_table.csv --format pai ;; # a table without a header
    *) works . trace info "$(basename "$sample")" ;;
    esac
done

# What the record says of its inputs is where they were.
works . run h100-500x8 --set world.end=1h --set world.warmup=0 --out record
grep -q "\"name\": \"$scratch/inst/share/windtunnel/scenarios/h100-500x8.json\"" record/result.json ||
    fail "the record does not name the scenario: $(grep -A3 '"inputs"' record/result.json)"
rm -r record

# The help says where they are; a moved program says where they are then.
works "^  $scratch/inst/share/windtunnel\$" help
works "^  $scratch/inst/share/doc/windtunnel\$" help
cd .. && mv inst other && program=$scratch/other/bin/windtunnel && cd empty || exit 1
works "^  $scratch/other/share/windtunnel\$" help

# A file of that name here goes first; a name that is nowhere is told as typed.
cp ../small.json bench.json
cp ../four.json ../small.csv .
works ' 3 jobs' run bench.json
refused_name() { # name
    windtunnel run "$1"
    [ "$status" -eq 4 ] && grep -q "^error: cannot open $1: No such file" said.err ||
        fail "$1: status $status: $(cat said.err)"
}
refused_name no-such-scenario
refused_name ./h100-500x8.json
refused_name /h100-500x8
# A program alone, without its files, says where they usually are and finds none.
mkdir -p ../alone/bin && cp "$program" ../alone/bin && program=$scratch/alone/bin/windtunnel
works '^  /usr/local/share/windtunnel$' help
refused_name h100-500x8
finish
