#!/usr/bin/env bash
#
# Is this version slower anywhere than the published 0.10.0?
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

THREADS=${THREADS:-1 2 4 8}
BUDGET=${BUDGET:-15}

usage() {
    cat <<USAGE
Usage: scripts/compare-published.sh [FOLDER]

Measures each pool beside the same pool of the published executors 0.10.0, in turn and in processes of its own,
under the loads of the README, without work and with about a microsecond of it. Writes throughput.csv
and latency.csv into a new folder (default: compare-published), and prints the ratios as a Markdown
table: how much faster this version is, and how much less CPU time it takes. Above 1 it is better.

Options:
  -h, --help  show this

Environment:
  THREADS  numbers of threads                            $THREADS
  BUDGET   seconds for each row                          $BUDGET
USAGE
}

pools=threadpool,published-threadpool,channel,published-channel,workstealing,published-workstealing

# measure THREADS PRODUCERS MESSAGES AMPLIFICATION EXPERIMENT...
measure() {
    "$tool" -t "$1" -p "$2" -m "$3" -a "$4" -e "$pools" -o "$folder/$5.csv" \
        --budget "$BUDGET" --rse 1 "${@:5}" >/dev/null
}

# table FILE: ratios of each pool's row to the published one's, which follows it.
table() {
    awk "$split_csv"'
        {
            split("", field)
            split_csv($0, field)
        }
        FNR == 1 {
            for (i in field) column[field[i]] = i
            speed = column["median_jobs_per_s"]
            time = column["p50_us"]
            cpu = speed ? column["cpu_ns_per_job"] : column["cpu_us_per_burst"]
            next
        }
        field[column["executor"]] !~ /^published-/ {
            for (i in field) ours[i] = field[i]
            next
        }
        {
            load = field[column["producers"]] " x " field[column["messages_per_producer"]] " x (1 + " \
                field[column["amplification"]] ")" (field[column["pre_units"]] >= 100 ? ", 1 us" : "")
            key = field[column["experiment"]] " | " load " | " field[column["threads"]]
            if (!(key in seen)) order[++rows] = key
            seen[key] = seen[key] sprintf(" %.2f | %.2f |", speed ? ours[speed] / field[speed] : field[time] / ours[time],
                field[cpu] / ours[cpu])
        }
        END {
            print "| experiment | load | threads | threadpool | CPU | channel | CPU | work-stealing | CPU |"
            print "|---|---|---:|---:|---:|---:|---:|---:|---:|"
            for (i = 1; i <= rows; i++) print "| " order[i] " |" seen[order[i]]
        }
    ' "$1"
}

main() {
    case ${1:-} in
        -h | --help) usage && exit ;;
        -*) fail "unknown option $1; see --help" 2 ;;
    esac
    (($# <= 1)) || fail "one folder at most; see --help" 2
    folder=${1:-compare-published}
    mkdir "$folder" 2>/dev/null || fail "$folder exists or cannot be made; name another folder" 2
    folder=$(cd "$folder" && pwd -P)
    cd "$root"
    cargo build --quiet --release --package executor-performance --features published
    tool=${CARGO_TARGET_DIR:-target}/release/executor-performance
    local threads amplification
    for threads in $THREADS; do
        measure "$threads" 2 200000 1 throughput
        measure "$threads" 2 1000 500 throughput
        measure "$threads" 2 50000 1 throughput --pre 600 --post 600
        measure "$threads" 2 1000 50 throughput --pre 600 --post 600
    done
    for amplification in 1 100 10000; do
        measure 2 1 100 "$amplification" latency -s 5
        measure 6 1 100 "$amplification" latency -s 5
    done
    table "$folder/throughput.csv"
    table "$folder/latency.csv"
}

main "$@"
