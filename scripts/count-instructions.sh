#!/usr/bin/env bash
#
# Counts the instructions that a job costs.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

results=docs/results/instructions.md
tolerance=${TOLERANCE:-10}
jobs=20000
ways=(execute-outside execute-inside clone submit spawn-outside spawn-inside yield
    detached-outside detached-inside detached-yield fork)

usage() {
    cat <<USAGE
Usage: scripts/count-instructions.sh [--write | --check]

Counts the instructions of a job of no work on its way through the work-stealing pool, all threads together,
and prints them. They are the difference between two runs of executors/benches/instructions.rs under
valgrind (cachegrind), with $jobs and with twice as many jobs. Takes half a minute.

Options:
  --write     write the figures to $results
  --check     compare with the figures there; fails if one has grown by more than TOLERANCE percent
  -h, --help  show this

Environment:
  TOLERANCE  see above; 10 by default, for other compilers and C libraries
USAGE
}

main() {
    (($# <= 1)) || fail "one option at most; see --help" 2
    case ${1:-} in
        -h | --help) usage && exit ;;
        '' | --write | --check) ;;
        *) fail "unknown argument $1; see --help" 2 ;;
    esac
    [[ $tolerance =~ ^[0-9]+$ ]] || fail "TOLERANCE is a whole number of percent, not '$tolerance'" 2
    command -v valgrind >/dev/null || fail "valgrind is not installed; most systems have a package of that name" 2
    cd "$root"
    make_work clean_up
    build
    case ${1:-} in
        --write) write ;;
        --check) check ;;
        *) table ;;
    esac
}

clean_up() {
    rm -rf "$work"
}

build() {
    cargo bench --quiet --package executors --bench instructions --no-run --message-format json >"$work/messages"
    program=$(sed -n 's/.*"name":"instructions".*"executable":"\([^"]*\)".*/\1/p' "$work/messages")
    [[ -n $program ]] || fail "cargo did not say where it has put the program"
}

# per_job WAY
per_job() {
    local few many
    few=$(count "$1" "$jobs") || exit
    many=$(count "$1" $((2 * jobs))) || exit
    printf '%d\n' $(((many - few + jobs / 2) / jobs))
}

# count WAY JOBS: all instructions of one run. Without the C library's fast bins: when it empties these depends on what
# else is in the heap, and makes a difference of a hundred instructions for each future.
count() {
    local log=$work/valgrind refs
    GLIBC_TUNABLES=glibc.malloc.mxfast=0 \
    valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$program" "$@" >"$log" 2>&1 ||
        fail "the program failed under valgrind: $(cat "$log")"
    refs=$(sed -n 's/.*I *refs: *//p' "$log" | tr -d ,)
    [[ $refs =~ ^[0-9]+$ ]] || fail "valgrind did not say how many instructions there were: $(cat "$log")"
    echo "$refs"
}

describe() {
    case $1 in
        execute-outside) echo "\`execute\` from outside, and the run by a worker that takes 32 at a time" ;;
        execute-inside) echo "\`execute\` by a job of the pool, and the run by the same worker" ;;
        clone) echo "the same by a job that owns a handle, and gives a clone to the next" ;;
        submit) echo "\`submit\` from outside, the run, and \`wait\` for the result that is there" ;;
        spawn-outside) echo "\`spawn\` from outside of a future that is ready, \`detach\`, and its one step" ;;
        spawn-inside) echo "\`spawn\` by a future of the pool, \`detach\`, and its one step" ;;
        detached-outside) echo "\`spawn_detached\` from outside of a future that is ready, and its one step" ;;
        detached-inside) echo "\`spawn_detached\` by a future of the pool, and its one step" ;;
        detached-yield) echo "a step of a future that wakes itself, after \`spawn_detached\`" ;;
        fork) echo "\`fork_join\` in a job, if nobody takes the other part" ;;
        yield) echo "a step of a future that wakes itself, after \`spawn\`" ;;
    esac
}

table() {
    local way cost
    printf '| way | instructions | what they are for |\n|---|---:|---|\n'
    for way in "${ways[@]}"; do
        cost=$(per_job "$way") || exit
        printf '| %s | %d | %s |\n' "$way" "$cost" "$(describe "$way")"
    done
}

write() {
    table >"$work/table"
    cat >"$results" <<PAGE
# Instructions for each job

Made by \`scripts/count-instructions.sh --write\` on $(date +%F), at the commit before the one that changed this page,
with $(rustc --version | cut -d' ' -f1-2), $(valgrind --version) and $(ldd --version 2>/dev/null | head -1), on $(uname -m).

Instructions of a job of no work on its way through the work-stealing pool with one worker, those of all threads
together: the difference between a run with $jobs jobs and one with twice as many, divided by $jobs. \`submit\` and
\`spawn\` allocate, and the C library's instructions for that are counted, too; without its fast bins, as when it empties
these depends on what else is in the heap.

$(cat "$work/table")

\`scripts/count-instructions.sh --check\` counts again and compares. It is no part of \`scripts/check.sh\`, as it needs
valgrind. Instructions are not time: a locked one counts as one here. What is locked, and which cache lines move, is
counted in [architecture](../architecture.md#beyond-this-machine).
PAGE
    cat "$work/table"
}

check() {
    local way before now failed=0
    for way in "${ways[@]}"; do
        before=$(sed -n "s/^| $way | \([0-9]*\) |.*/\1/p" "$results")
        [[ -n $before ]] || fail "$results has no row for $way; see --write"
        now=$(per_job "$way") || exit
        printf '%-16s %5d, was %5d\n' "$way" "$now" "$before"
        if ((now * 100 > before * (100 + tolerance))); then
            failed=1
        fi
    done
    ((failed == 0)) || fail "some have grown by more than $tolerance %"
}

main "$@"
