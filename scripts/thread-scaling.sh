#!/usr/bin/env bash
#
# Measures how executors scale on this machine with their number of threads.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

PRODUCERS=${PRODUCERS:-2}
LOW_MESSAGES=${LOW_MESSAGES:-10000000}
LOW_AMPLIFICATION=${LOW_AMPLIFICATION:-1}
HIGH_MESSAGES=${HIGH_MESSAGES:-1000}
HIGH_AMPLIFICATION=${HIGH_AMPLIFICATION:-50000}
WORK=${WORK:-1000}
BUDGET=${BUDGET:-20}
PROFILE=${PROFILE:-release}

usage() {
    cat <<USAGE
Usage: scripts/thread-scaling.sh [-o FILE] [-e NAMES] [MAX_THREADS]

Measures the throughput of executors with 1 to MAX_THREADS threads (default: one more than there are
cores), once with half of the jobs from outside (low amplification) and once with next to none (high
amplification). Prints tables with the efficiency, and appends the results to a CSV file. For plots, and
for other loads, call the tool itself: executor-performance -t 1..4 -o run.html throughput

Options:
  -o FILE     the CSV file (default: thread-scaling.csv)
  -e NAMES    executors, separated by commas (default: those marked in 'executor-performance list')
  -h, --help  show this

Environment:
  PRODUCERS           threads that give jobs from outside     $PRODUCERS
  LOW_MESSAGES        jobs from each, low amplification       $LOW_MESSAGES
  LOW_AMPLIFICATION   jobs that follow each of these          $LOW_AMPLIFICATION
  HIGH_MESSAGES       jobs from each, high amplification      $HIGH_MESSAGES
  HIGH_AMPLIFICATION  jobs that follow each of these          $HIGH_AMPLIFICATION
  WORK                units of work before and after passing
                      on; a unit is two cycles                $WORK
  BUDGET              seconds for each number of threads and
                      amplification                           $BUDGET
  PROFILE             of Cargo                                $PROFILE

The more work, the more the table says about the machine, and the less about the executors. A load that
takes longer than its budget is sampled in smaller pieces of the same shape.
USAGE
}

cores() {
    nproc 2>/dev/null || getconf _NPROCESSORS_ONLN
}

# measure MESSAGES AMPLIFICATION. Fails only if something is wrong with the command line.
measure() {
    local status=0
    cargo run --quiet --profile "$PROFILE" --manifest-path "$root/Cargo.toml" --package executor-performance -- \
        -t "1..$max_threads" -p "$PRODUCERS" -m "$1" -a "$2" ${executors[@]+"${executors[@]}"} -o "$output" \
        --budget "$BUDGET" throughput --pre "$WORK" --post "$WORK" || status=$?
    # 1 means that an executor failed. Others may not have, and the file says which.
    case $status in
        0) ;;
        1) failures=$((failures + 1)) ;;
        *) fail "executor-performance failed" "$status" ;;
    esac
}

main() {
    local max_threads='' output=thread-scaling.csv executors=() failures=0
    while (($# > 0)); do
        case $1 in
            -h | --help)
                usage
                exit 0
                ;;
            -o | -e)
                (($# > 1)) || fail "$1 needs a value; see scripts/thread-scaling.sh --help" 2
                if [[ $1 == -o ]]; then output=$2; else executors=(-e "$2"); fi
                shift
                ;;
            *)
                [[ $1 =~ ^[1-9][0-9]*$ && -z $max_threads ]] ||
                    fail "'$1' is not a number of threads; see scripts/thread-scaling.sh --help" 2
                max_threads=$1
                ;;
        esac
        shift
    done
    max_threads=${max_threads:-$(($(cores) + 1))}

    measure "$LOW_MESSAGES" "$LOW_AMPLIFICATION"
    measure "$HIGH_MESSAGES" "$HIGH_AMPLIFICATION"

    printf '\nRows of both loads were appended to %s.\n' "$output"
    if ((failures > 0)); then fail "executors failed in $failures of the sweeps; the file says why"; fi
}

main "$@"
