#!/bin/sh
# Bad traces end a run with status 3 (4 where they cannot be read at all) and a message that says where; no record.
set -u
. tests/support/cli.sh

# ---- Files ----

refused 4 run small.json --trace nowhere.csv <<'END'
error: cannot open nowhere.csv: No such file or directory
END
refused 4 run small.json --trace . <<'END'
error: cannot read .: Is a directory
END
: >empty.csv
refused 3 run small.json --trace empty.csv <<'END'
error: empty.csv holds no jobs: it is empty
END
head -n 1 small.csv >header.csv
refused 3 run small.json --trace header.csv <<'END'
error: header.csv holds no jobs
END
zstd -q small.csv -o small.csv.zst
head -c 90 small.csv.zst >cut.csv.zst
refused 3 run small.json --trace cut.csv.zst <<'END'
error: cut.csv.zst: the compressed data ends in the middle of a frame
  the file was cut off; copy or make it again
END
{ cat small.csv.zst && echo more; } >tail.csv.zst
refused 3 run small.json --trace tail.csv.zst <<'END'
error: tail.csv.zst: something that is not zstd follows the last frame
END

# ---- Values ----

header='job_id,submit_s,duration_s,gpus,queue'

# One row below a header with this duration is refused at line 2, column 5.
bad_duration() { # text, carets
    printf '%s\n1,0,%s,1,red\n' "$header" "$1" >row.csv
    refused 3 run small.json --trace row.csv <<END
error: row.csv:2:5: 'duration_s' must be a number of seconds, 0 or more (at most 73 years), got "$1"
 2 | 1,0,$1,1,red
   |     $2
END
}
bad_duration -5 '^~'
bad_duration NaN '^~~'
bad_duration inf '^~~'
bad_duration 1e400 '^~~~~'
bad_duration 0x10 '^~~~'
bad_duration '60 s' '^~~~'
bad_duration 2400000000 '^~~~~~~~~~'

printf '%s\n1,0,60,1.5,red\n' "$header" >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:2:8: 'gpus' must be an integer from 0 to 1000000, got "1.5"
 2 | 1,0,60,1.5,red
   |        ^~~
END
printf '%s\n1,0,60,1,red\n2,0,60,,red\n' "$header" >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:3:8: 'gpus' is empty
 3 | 2,0,60,,red
   |        ^
END
printf '%s\n1,0,60\n' "$header" >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:2: a row must have 5 fields as the header has, got 3
 2 | 1,0,60
END
printf '%s\n1,0,60,1,"red\n' "$header" >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:2:10: a quoted field is not closed on its line
 2 | 1,0,60,1,"red
   |          ^~~~
END
printf 'job_id,submit_s,gpus,duration_s,gpus\n1,0,1,60,1\n' >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:1:33: column 'gpus' stands twice
 1 | job_id,submit_s,gpus,duration_s,gpus
   |                                 ^~~~
END
printf 'job_id,submit_s,gpus\n1,0,1\n' >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:1: the trace's format cannot be told from its first line
 1 | job_id,submit_s,gpus
  name it: native, batsim, jsonl, philly, openb, swf, helios, kalos, seren, pai, spot, muri, chronus, sacct, philly-log, azure-llm, burstgpt, mooncake, gavel, pollux, borg, columns
END
printf '%s\n1,0,60,1,r\377d\n' "$header" >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:2:10: 'queue' must be UTF-8, got "r?d"
 2 | 1,0,60,1,r?d
   |          ^~~
END
printf '{"job_id": 1, "submit_s": 0, "duration_s": 60, "duration_s": 60, "gpus": 1}\n' >row.jsonl
windtunnel run small.json --trace row.jsonl
if [ "$status" -ne 3 ] || ! grep -q '^error: row\.jsonl:1:' said.err; then
    fail "a duplicate key in a JSON line: status $status"
    cat said.err
fi

# ---- Things that are no text ----

printf '%s\n1,0,60,1,r\000d\n' "$header" >row.csv
refused 3 run small.json --trace row.csv <<'END'
error: row.csv:2:11: a NUL byte; this is no text
 2 | 1,0,60,1,r?d
   |           ^
END
head -c 65536 "$program" >garbage.csv
windtunnel run small.json --trace garbage.csv --out new
if [ "$status" -ne 3 ] || ! grep -q '^error: garbage\.csv:1' said.err || [ -e new/result.json ]; then
    fail "binary garbage: status $status"
    cat said.err
fi
if LC_ALL=C tr -d '\11\12\40-\176\200-\377' <said.err | grep -q .; then
    fail 'binary garbage: control characters reach the terminal'
fi
{ echo "$header" && head -c 17000000 /dev/zero | tr '\000' x; } >line.csv
refused 3 run small.json --trace line.csv <<'END'
error: line.csv:2: the line is longer than the 16777216 bytes allowed
END

# ---- Bombs: 10 GB in 300 KB, refused in little time and memory ----
# RFC 8878: a frame with a window of 128 KiB, then blocks of type RLE that stand for 131,072 times one byte.

bomb() { # the byte, as printf's escape
    printf '\002\000\020'"$1" >block
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
        cat block block >twice && mv twice block
    done
    printf '\050\265\057\375\000\070'
    cat block
    head -c 43000 block # 10,750 more
    printf '\003\000\020'"$1"
}
bomb '\012' >lines.csv.zst
bomb '0' >bomb.csv.zst
# Files of the program's own that are no traces, whatever format is named, on one line or many, compressed or not.
for format in '' '--format jsonl' '--format native'; do
    # shellcheck disable=SC2086 # words
    refused 2 run --trace small.json --cluster four.json $format <<'END'
error: small.json is a scenario, not a trace
  to run it, type: windtunnel run small.json
END
done
tr -d '\n' <small.json >flat.json
refused_plainly 2 trace info flat.json <<'END'
error: flat.json is a scenario, not a trace
  to run it, type: windtunnel run flat.json
END
zstd -q small.json -o small.json.zst
refused_plainly 2 trace info small.json.zst <<'END'
error: small.json.zst is a scenario, not a trace
  to run it, type: windtunnel run small.json.zst
END
refused_plainly 2 trace info four.json <<'END'
error: four.json is a cluster, not a trace
  to run a trace on it, type: windtunnel run --trace FILE --cluster four.json
END
echo '{"some": "thing"}' >other.json
windtunnel trace info other.json
[ "$status" -eq 3 ] || fail "another JSON file: status $status"
seconds_max=20
# A sanitizer's shadow needs terabytes of address space.
case $program in
*/sanitized/*) ;;
*) ulimit -v 400000 ;;
esac
refused 3 run small.json --trace lines.csv.zst <<'END'
error: lines.csv.zst: it grows more than 200-fold when decompressed
  if that is meant, decompress it first
END
refused 3 run small.json --trace bomb.csv.zst <<'END'
error: bomb.csv.zst:1: the line is longer than the 16777216 bytes allowed
END
refused 3 run small.json --cluster bomb.csv.zst <<'END'
error: bomb.csv.zst: it holds more than the 67108864 bytes allowed
END
refused 3 run bomb.csv.zst <<'END'
error: bomb.csv.zst: it holds more than the 67108864 bytes allowed
END
finish
