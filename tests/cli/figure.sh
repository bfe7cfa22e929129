#!/bin/sh
# `windtunnel report --figure`: each figure of a run as SVG and PDF for a paper; what cannot be written is not begun.
set -u
. tests/support/cli.sh

"$program" run small.json --set world.sample_s=60 --quiet --out run >/dev/null || fail 'the scenario does not run'

# ---- refusals ----

windtunnel report run --figure nonsense --svg x.svg
said 2 'an unknown figure' <<'END_OF'
error: there is no figure 'nonsense'
  figures: timeline, waterfall, free-gpus, queue-length, gpu-hours, queue-times
END_OF

windtunnel report run --figure timeline
said 2 'no file' <<'END_OF'
error: --figure needs a file: --svg FILE or --pdf FILE
END_OF

windtunnel report run --pdf x.pdf
said 2 'no figure' <<'END_OF'
error: --svg and --pdf write a figure: say which with --figure NAME
END_OF

windtunnel report run --figure timeline --svg x.svg --json
said 2 'a report beside the figure' <<'END_OF'
error: --figure stands alone: leave out --json, --steady and --html
END_OF
[ ! -e x.svg ] || fail 'a refused figure was written'

if [ ! -x /usr/bin/gnuplot ] && [ ! -x /usr/local/bin/gnuplot ]; then
    echo 'skipped: no gnuplot (make deps installs it)'
    [ $failures -eq 0 ] || finish
    is_finished=1
    exit 77
fi

# ---- the figures ----

for figure in timeline waterfall free-gpus queue-length gpu-hours queue-times; do
    windtunnel report run --figure $figure --svg $figure.svg --pdf $figure.pdf
    [ $status -eq 0 ] || fail "$figure: $(cat said.err)"
    is_silent said.out "$figure"
    [ "$(tail -c 8 $figure.svg | tr -d '\n')" = '</svg>' ] || fail "$figure.svg is cut"
    [ "$(head -c 5 $figure.pdf)" = '%PDF-' ] || fail "$figure.pdf is no PDF"
    [ "$(tail -c 6 $figure.pdf | tr -d '\n')" = '%%EOF' ] || fail "$figure.pdf is cut"
    # Fonts that a printer needs are in the file.
    grep -aq '/FontFile' $figure.pdf || fail "$figure.pdf holds no font"
done

has_text() { # file, text
    grep -q ">$2<" "$1" || fail "$1 does not say '$2'"
}
has_text timeline.svg 'minutes since the start'
has_text timeline.svg GPUs
has_text timeline.svg allocated
has_text timeline.svg capacity
has_text queue-length.svg jobs
has_text gpu-hours.svg useful
has_text waterfall.svg SM-active
has_text waterfall.svg 'of all GPU time'
has_text queue-times.svg 'queue time'
has_text queue-times.svg 'share of jobs'
has_text queue-times.svg '100 %'
has_text queue-times.svg training

# ---- whole or not at all, and both or none ----

echo old >old.svg
windtunnel report run --figure timeline --svg old.svg --pdf nowhere/x.pdf
said 4 'a folder that is not there' <<'END_OF'
error: cannot create nowhere/x.pdf: No such file or directory
END_OF
[ "$(cat old.svg)" = old ] || fail 'one of two files was written'

windtunnel report run --figure timeline --pdf /dev/full
[ $status -eq 4 ] || fail "a full disk: exit status $status"

finish
