#!/bin/sh
# What `trace info`, `trace validate` and `trace convert` say and refuse, as their users see it.
set -u
. tests/support/cli.sh

windtunnel trace validate small.csv
[ $status -eq 0 ] || fail "a good trace: status $status"
says said.out '^native: 3 jobs, 0 rows left out, 0 unreadable lines$'

# Each bad line has its error, in order, with its place; what is good is counted.
cat >bad.csv <<'END'
job_id,submit_s,duration_s,gpus
1,0,60,8
2,x,60,1
3,20,600
4,30,60,1
END
windtunnel trace validate bad.csv
[ $status -eq 3 ] || fail "bad lines: status $status"
is_silent said.err 'trace validate'
cat >expected.out <<'END'
error: bad.csv:3:3: 'submit_s' must be a number of seconds, 0 or more (at most 73 years), got "x"
 3 | 2,x,60,1
   |   ^
error: bad.csv:4: a row must have 4 fields as the header has, got 3
 4 | 3,20,600
native: 2 jobs, 0 rows left out, 2 unreadable lines
END
diff -u expected.out said.out || fail 'trace validate says something else'
windtunnel trace validate bad.csv --show 1
says said.out '^\.\.\. and 1 more$'
windtunnel trace validate bad.csv --max-bad 1
[ $status -eq 3 ] || fail "more bad lines than allowed: status $status"
says said.err '^error: bad.csv:4: a row must have'

refused_plainly 3 trace info bad.csv <<'END'
error: bad.csv:3:3: 'submit_s' must be a number of seconds, 0 or more (at most 73 years), got "x"
 3 | 2,x,60,1
   |   ^
END
windtunnel trace info bad.csv --max-bad 2 --json
[ $status -eq 0 ] || fail "trace info --max-bad 2: status $status"
says said.out '"unreadable_lines": 2}$'
says said.out '"jobs": 2,$'

# The page: shares of jobs and of GPU time are those of the rows; the sums of a plot stand in its table.
printf 'job_id,submit_s,duration_s,gpus,queue,user,wait_s,outcome\n' >week.csv
for hour in $(seq 0 47); do
    echo "$hour,$((hour * 3600)),1800,$((hour % 2 + 1)),<red>,u$((hour % 12)),60,completed"
done >>week.csv
echo '48,172799,3600,24,blue,,,failed' >>week.csv
windtunnel trace info week.csv --html week.html
[ $status -eq 0 ] || fail "trace info --html: status $status: $(cat said.err)"
sed 's/<data [^>]*>//g; s/<.data>//g' week.html >plain.html
row='<tr><th scope="row">'
for line in '2</th><td>24</td><td>49.0 %</td><td>24</td><td>40.0 %</td></tr>' \
    '17 to 32</th><td>1</td><td>2.0 %</td><td>24</td><td>40.0 %</td></tr>' \
    'failed</th><td>1</td><td>2.0 %</td><td>24</td><td>40.0 %</td></tr>' \
    '&lt;red&gt;</th><td>48</td><td>98.0 %</td><td>36</td><td>60.0 %</td></tr>' \
    '2 others</th><td>8</td><td>16.3 %</td><td>' \
    '0.02083</th><td>0.50</td><td>0.50</td></tr>'; do
    grep -qF "$row$line" plain.html || fail "the page does not say '$line'"
done
! grep -q '<red>' week.html || fail 'the page holds a name as it is'
refused_plainly 2 trace info - --html page.html <<'END'
error: --html needs a file that can be read twice, and '-' is none
END

# There and back.
windtunnel trace convert small.csv --out there.jsonl.zst
[ $status -eq 0 ] || fail "to JSON lines: status $status: $(cat said.err)"
windtunnel trace convert there.jsonl.zst --out back.csv
[ $status -eq 0 ] || fail "back to CSV: status $status: $(cat said.err)"
windtunnel run --trace small.csv --cluster four.json --policy fifo
first=$(grep fingerprint said.err)
windtunnel run --trace back.csv --cluster four.json --policy fifo
[ "${first#*; }" = "$(sed -n 's/^.*; fingerprint/fingerprint/p' said.err)" ] ||
    fail "after two conversions the run differs: $first, $(cat said.err)"
printf 'job_id,submit_s,duration_s,gpus,nodes,gpu_fraction\n1,0,9,16,2,\n2,1,9,0,,0.5\n' >shapes.csv
windtunnel trace convert shapes.csv --out shapes.swf
says said.out '^lost         1: jobs lose how their GPUs lie on nodes$'
says said.out '^             1: jobs on a part of a GPU become jobs on a whole one$'
windtunnel trace convert bad.csv --out never.csv
[ $status -eq 3 ] && [ ! -e never.csv ] || fail 'a trace that cannot be read leaves a file'

refused_plainly 2 trace convert small.csv <<'END'
error: --out names the file to write: FILE.csv, FILE.jsonl or FILE.swf, with .zst behind to compress it
END
refused_plainly 2 trace convert small.csv --out small.parquet <<'END'
error: --out must end in .csv (native), .jsonl or .swf, or in one of these and .zst; got small.parquet
END

# On a terminal it says how far it is; the second half of the trace comes later than the first line of progress may.
rows() { awk -v from="$1" -v to="$2" 'BEGIN { for (i = from; i < to; i++) print i "," i ",60,1" }'; }
mkfifo slow.fifo
if script -qec true /dev/null >/dev/null 2>&1; then
    for verb in 'trace validate' 'trace info'; do
        { echo 'job_id,submit_s,duration_s,gpus'; rows 0 20000; sleep 0.5; rows 20000 60000; } >slow.fifo &
        script -qec "$program $verb slow.fifo" /dev/null >terminal.out </dev/null
        wait
        grep -q 'million rows read' terminal.out || fail "$verb: no progress on a terminal: $(cat terminal.out)"
    done
fi
rows 0 70000 >many.csv
sed -i '1i job_id,submit_s,duration_s,gpus' many.csv
windtunnel trace validate many.csv
is_silent said.err 'trace validate without a terminal'

# A map of columns: its own errors have a place, too.
printf 'at;long;n\n5;2;1\n6;3;x\n' >table.csv
cat >map.json <<'END'
{"separator": ";",
 "fields": {"submit_s": "at", "duration_s": {"column": "long", "unit": "min"}, "gpus": "n"}}
END
windtunnel trace info table.csv --columns map.json --max-bad 1
says said.out '^format       columns$'
says said.out '^unreadable   1 lines$'
refused_plainly 3 trace info table.csv --columns map.json <<'END'
error: table.csv:3:5: 'n' must be a number, got "x"
 3 | 6;3;x
   |     ^
END
refused_plainly 2 trace info table.csv --columns map.json --format swf <<'END'
error: --columns is a format of its own: leave out --format
END
sed 's/"unit": "min"/"unit": "minutes"/' map.json >wrong.json
windtunnel trace info table.csv --columns wrong.json
[ $status -eq 2 ] || fail "a bad map: status $status"
says said.err "^error: wrong.json:2:72: 'unit' must be one of"
refused_plainly 2 trace info small.csv --tz noon <<'END'
error: the tz database of this machine has no zone 'noon'
  at --tz; names are files in /usr/share/zoneinfo/, such as Europe/Berlin; an offset such as 1h will do where clocks do not change
END
refused_plainly 2 trace info small.csv --tz ../../etc/passwd <<'END'
error: a zone must be an offset from UTC such as 8h or -7h, or a name such as Europe/Berlin, got "../../etc/passwd"
  at --tz
END

# Tables beside a trace: found, missing, unknown, damaged, skipped; and recorded.
printf 'application,run_time_s\ncifar10,1800\n' >times.csv
printf 'name,time,application,num_replicas,batch_size\na-0,0,cifar10,4,8\nb-1,5,cifar10,1,8\n' >pollux.csv
windtunnel trace info pollux.csv --table run_times=times.csv
says said.out '^GPU time     2.5 GPU hours'
says said.out '^table        run_times: [0-9a-f]\{32\}, 1 rows$'
refused_plainly 2 trace info pollux.csv <<'END'
error: a trace of the format 'pollux' needs the table 'run_times': a CSV with the columns application and run_time_s; it may have num_replicas and batch_size
  name its file: --table run_times=FILE, or workload.tables.run_times
END
refused_plainly 2 trace info pollux.csv --table run_times=times.csv --table job=times.csv <<'END'
error: traces of the format 'pollux' have no table 'job'
  they may have: run_times
END
refused_plainly 2 trace info small.csv --gpu-type k80 <<'END'
error: traces of the format 'native' have no run times by GPU type: leave out the GPU type
END
refused_plainly 2 trace info pollux.csv --table run_times <<'END'
error: --table must be NAME=FILE, got "run_times"
END
printf 'bert,2,3\n' >>times.csv
refused_plainly 3 trace info pollux.csv --table run_times=times.csv <<'END'
error: times.csv:3: a row must have 2 fields as the header has, got 3
 3 | bert,2,3
END
windtunnel trace info pollux.csv --table run_times=times.csv --max-bad 1
says said.out '^unreadable   1 lines$'
mkdir beside && mv times.csv pollux.csv beside/
cat >beside/scenario.json <<'END'
{"cluster": "../four.json", "policy": {"preset": "fifo"},
 "workload": {"trace": "pollux.csv", "bad_lines_max": 1, "tables": {"run_times": "times.csv"}}}
END
windtunnel run beside/scenario.json --out record
[ $status -eq 0 ] || fail "a run with a table: status $status: $(cat said.err)"
grep -A3 '"role": "table"' record/result.json | tr -d '\n' |
    grep -q '"name": "beside/times.csv".*"digest": "[0-9a-f]\{32\}"' || fail 'the record has no digest of the table'

# A bundle holds the table, too.
windtunnel bundle record --trust record --out whole.json
[ $status -eq 0 ] || fail "a bundle of a run with a table: status $status: $(cat said.err)"
mv beside elsewhere
windtunnel reproduce whole.json
[ $status -eq 0 ] || fail "reproduce with a table: status $status: $(cat said.err)"
sed 's/cifar10,1800/cifar10,1900/' elsewhere/times.csv >other.csv
windtunnel reproduce whole.json --input times.csv=other.csv
[ $status -eq 3 ] || fail "reproduce with another table: status $status: $(cat said.out said.err)"

finish
