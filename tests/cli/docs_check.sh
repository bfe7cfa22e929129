#!/bin/sh
# tools/docs_check finds a figure that is not printed any more, one without a command, one of a seed that nobody is told
# of, and a command of a guide that fails; it rewrites what differs, and lists what takes long.
set -u
. tests/support/cli.sh

if ! command -v python3 >/dev/null; then
    echo 'skipped: no python3 (make deps installs it)'
    exit 77
fi
mkdir -p tree/tools tree/docs
cp "$repository/tools/docs_check" tree/tools/
cat >fake <<'END'
#!/bin/sh
# fake table | text | slow | fail | write FILE
case $1 in
table) printf 'a title\n\n| policy | wait | used |\n|---|---|---|\n| fifo | 7h 28m | 0.62 |\n| kai | 1.5 s | 0.71 |\n' ;;
text) printf 'head\n  fifo   7h 28m\n  kai    1.5 s\ntail\n' ;;
slow) i=0; while :; do i=$((i + 1)); done ;;
fail) echo broken >&2; exit 3 ;;
unsure) echo 'not sure'; exit 11 ;;
gates) cat gates.json ;;
none) ;;
write) echo page >"$3" ;;
esac
END
chmod +x fake
export WINDTUNNEL="$scratch/fake"

checked() { # status, arguments of docs_check; the page is on standard input
    expected=$1
    shift
    cat >tree/docs/page.md
    tree/tools/docs_check docs/page.md "$@" >said.out 2>&1
    status=$?
    [ $status -eq "$expected" ] || fail "status $status, not $expected, of $(cat tree/docs/page.md): $(cat said.out)"
}
table='| policy | wait | used |
|---|---:|---:|
| fifo | 7h 28m | 0.62 |
| kai  | 1.5 s | 0.71 |'
mark='<!-- made by: windtunnel table (2026-11-27, 5 seeds) -->'

# ---- What stands as it is printed: a table, a fenced block, prose, files, and prose that repeats a table. ----

checked 0 <<END
$mark
$table

Under \`fifo\` the wait is 7h 28m, at a load of \`0.55\`.

\`\`\`sh
windtunnel none >/dev/null; windtunnel text
\`\`\`

<!-- made by: the command shown (2026-11-27, no chance) -->
\`\`\`text
  fifo   7h 28m
  kai    1.5 s
\`\`\`

<!-- file: gates.json -->
\`\`\`json
{"gates": []}
\`\`\`

<!-- made by: the command shown (2026-11-27, 2 seeds) -->
\`\`\`console
\$ windtunnel gates
{"gates": []}
\`\`\`

<!-- made by: windtunnel text (2026-11-27, 5 seeds) -->
1.5 s under \`kai\`.
END
says said.out '^4 commands ran in .* CPU time, 0 blocks rewritten'

# ---- Another figure in each of them, and no more than that ----

differs() { # what is told; the page is on standard input
    checked 1
    says said.out "$1"
    [ "$(grep -c '^docs/page.md:' said.out)" -eq 1 ] || fail "not one complaint: $(cat said.out)"
}
differs '^    - fifo|7h 29m|0.62$' <<END
$mark
$(echo "$table" | sed s/28m/29m/)
END
differs '^docs/page.md:2: more rows are printed' <<END
$mark
$(echo "$table" | sed '$d')
END
differs '^    - *fifo   7h 29m$' <<END
<!-- made by: windtunnel text (2026-11-27, 5 seeds) -->
\`\`\`text
head
  fifo   7h 29m
\`\`\`
END
checked 0 <<END
<!-- figures by: windtunnel text (2026-11-27, 5 seeds) -->
| of | fifo | kai |
|---|---|---|
| waits | 7h 28m, the most | 1.5 s |
END
differs '^docs/page.md:2: these figures are not printed: 1.4$' <<END
<!-- figures by: windtunnel text (2026-11-27, 5 seeds) -->
| of | fifo | kai |
|---|---|---|
| waits | 7h 28m, the most | 1.4 s |
END
differs '^docs/page.md:2: these figures are not printed: 1.6$' <<END
<!-- made by: windtunnel text (2026-11-27, 5 seeds) -->
7h 28m, and 1.6 s under \`kai\`.
END

# ---- Figures without a command ----

differs '^docs/page.md:1: these figures name no command' <<END
$table
END
differs '^docs/page.md:1: these figures name no command' <<END
\`\`\`text
  fifo   7h 29m
\`\`\`
END
differs '^docs/page.md:7: the figure 7h 29m names no command' <<END
$mark
$table

It waits for 7h 29m.
END
differs '^docs/page.md:1: a mark ends in (DATE, SEEDS)' <<END
<!-- made by: windtunnel table -->
text
END
differs '^docs/page.md:1: the mark stands before no block' <<END
$mark
END
checked 0 <<END
<!-- given: the vendor's data sheet -->
$table

| option | meaning | default |
|---|---|---|
| \`a\` | how long | 60 |
| \`b\` | how many | 2 |
| \`c\` | how much | 0.5 |

\`\`\`
windtunnel run --seed 3
\`\`\`
END

# ---- One seed is told ----

one='<!-- made by: windtunnel table (2026-11-27, 1 seed) -->'
differs '^docs/page.md:4: this is of one seed, and neither' <<END
The waits:

$one
$table
END
checked 0 <<END
The waits of one run:

$one
$table
END

# ---- What fails, prints nothing, writes nothing or takes too long ----

differs 'page.md:2: `windtunnel fail` ends with status 3: broken$' <<END
<!-- made by: windtunnel fail (2026-11-27, 5 seeds) -->
$table
END
guide='<!-- each command runs -->

```sh
# a comment
windtunnel text \
    --more
windtunnel unsure
windtunnel write --out page.html'
checked 0 <<END
$guide
\`\`\`
END
says said.out '^3 commands ran in'
for command in 'windtunnel fail' 'windtunnel none' 'windtunnel text --out page.html' 'windtunnel slow' \
    'windtunnel text --html=x; exit 10'; do
    [ "$command" = 'windtunnel slow' ] && command='ulimit -t 1; windtunnel slow'
    differs "page.md:3: .$command. " <<END
$(echo "$guide" | sed '$d')
$command
\`\`\`
END
done

# ---- What takes long is listed, and runs when it is asked to ----

long='<!-- made by: windtunnel text (2026-01-02, 5 seeds, 2 h) -->'
checked 0 <<END
$long
$table
END
says said.out '^  docs/page.md:2: made on 2026-01-02 (2 h): windtunnel text$'
cat >kept <<END
$long
$table
END
checked 1 --long <kept
checked 0 --marks <kept

# ---- What differs is rewritten, and only that ----

checked 0 --update <<END
Before.

$mark
$(echo "$table" | sed 's/28m/29m/; $d')

$mark
\`\`\`text
| fifo | 7h 21m | 0.62 |
| kai | 1.4 s | 0.71 |
\`\`\`

After.
END
today=$(date +%Y-%m-%d)
diff -u - tree/docs/page.md <<END || fail 'another page was written'
Before.

<!-- made by: windtunnel table ($today, 5 seeds) -->
| policy | wait | used |
|---|---|---|
| fifo | 7h 28m | 0.62 |
| kai | 1.5 s | 0.71 |

<!-- made by: windtunnel table ($today, 5 seeds) -->
\`\`\`text
| fifo | 7h 28m | 0.62 |
| kai | 1.5 s | 0.71 |
\`\`\`

After.
END
differs 'not printed: 7h 29m$' --update <<END
<!-- made by: windtunnel text (2026-11-27, 5 seeds) -->
7h 29m.
END
finish
