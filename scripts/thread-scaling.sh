#!/usr/bin/env bash
#
# How do the executors of this machine scale with their number of threads?
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
cores), once with most jobs from outside (low amplification) and once with most from inside (high
amplification). Appends the results to a CSV file and prints them as tables.

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

The more work, the more the table tells about the machine, and the less about the executors. A load that
takes longer than its budget is sampled in smaller pieces of the same shape.
USAGE
}

cores() {
    nproc 2>/dev/null || getconf _NPROCESSORS_ONLN
}

# measure THREADS MESSAGES AMPLIFICATION. Fails only if something is wrong with the command line.
measure() {
    local status=0
    cargo run --quiet --profile "$PROFILE" --manifest-path "$root/Cargo.toml" --package executor-performance -- \
        -t "$1" -p "$PRODUCERS" -m "$2" -a "$3" ${executors[@]+"${executors[@]}"} -o "$output" --budget "$BUDGET" \
        throughput --pre "$WORK" --post "$WORK" || status=$?
    # 1 says that an executor failed. Others may not have, and the file tells.
    case $status in
        0) ;;
        1) failures=$((failures + 1)) ;;
        *) fail "executor-performance failed" "$status" ;;
    esac
}

# tables FIRST_LINE: prints what stands in the CSV file from that line on. The columns are found by their titles.
tables() {
    awk -v first="$1" "$split_csv"'
        FNR == 1 {
            split_csv($0, titles)
            for (i in titles) column[titles[i]] = i
        }
        FNR == 1 || FNR < first { next }
        {
            split_csv($0, field)
            load = field[column["producers"]] " x " field[column["messages_per_producer"]] \
                " x (1 + " field[column["amplification"]] ") jobs"
            executor = field[column["executor"]]
            t = field[column["threads"]] + 0
            if (!(load in known_loads)) { known_loads[load]; loads[++n_loads] = load }
            if (!(executor in known_executors)) { known_executors[executor]; executors[++n_executors] = executor }
            if (t > max_threads) max_threads = t
            good = field[column["status"]] == "ok"
            cell[load, t, executor] = good ? sprintf("%.3f", field[column["median_jobs_per_s"]] / 1e6) : "failed"
        }
        END {
            for (l = 1; l <= n_loads; l++) {
                printf "\n%s, median throughput in M jobs/s\n%7s", loads[l], "threads"
                for (e = 1; e <= n_executors; e++) printf cell_of(e), executors[e]
                printf "\n"
                for (t = 1; t <= max_threads; t++) {
                    printf "%7d", t
                    for (e = 1; e <= n_executors; e++) {
                        key = loads[l] SUBSEP t SUBSEP executors[e]
                        printf cell_of(e), (key in cell) ? cell[key] : "-"
                    }
                    printf "\n"
                }
            }
        }
        function cell_of(e) { return "  %" (length(executors[e]) < 8 ? 8 : length(executors[e])) "s" }
    ' "$output"
}

main() {
    local max_threads='' threads first
    output=thread-scaling.csv executors=() failures=0
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

    first=$(($([[ -e $output ]] && wc -l <"$output" || echo 0) + 1))
    cargo build --quiet --profile "$PROFILE" --manifest-path "$root/Cargo.toml" --package executor-performance
    for ((threads = 1; threads <= max_threads; threads++)); do
        measure "$threads" "$LOW_MESSAGES" "$LOW_AMPLIFICATION"
        measure "$threads" "$HIGH_MESSAGES" "$HIGH_AMPLIFICATION"
    done

    tables "$first"
    printf '\nRows of both loads were appended to %s.\n' "$output"
    if ((failures > 0)); then fail "executors failed in $failures of the runs; the file says why"; fi
}

main "$@"
