#!/usr/bin/env bash
#
# How far ahead of its peers is the library?
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

BUDGET=${BUDGET:-12}
EXECUTORS=${EXECUTORS:-}
ROWS=${ROWS:-.}

usage() {
    cat <<USAGE
Usage: scripts/compare-peers.sh [FOLDER]

Measures the default work-stealing pool and the channel pool beside the pools of other crates, in turn and each in
processes of its own, under the loads of docs/results/peers.md. Writes a CSV file for each experiment into a new folder
(default: compare-peers), and prints a line of a Markdown table for each load: what the work-stealing pool and the best
of the others take, and how many times as much the other takes, with a 95 % interval. Above 1 the pool is better.

Options:
  -h, --help  show this

Environment:
  BUDGET     seconds for each row; $BUDGET
  EXECUTORS  what is measured, separated by commas; all peers, and the two pools
  ROWS       only rows whose name matches this regular expression
  RUSTFLAGS  with --cfg peers_forte, the crate \`forte\` is measured, too
USAGE
}

clean_up() {
    rm -rf "$work"
}

# row NAME OPTION...: measures, and prints the line.
row() {
    local name=$1 csv=$work/row.csv experiment
    shift
    [[ $name =~ $ROWS ]] || return 0
    rm -f "$csv"
    "$tool" --budget "$BUDGET" -e "$EXECUTORS" -o "$csv" "$@" >/dev/null 2>&1 || true
    [[ -s $csv ]] || fail "$name: nothing was measured: $*"
    line "$name" "$csv"
    experiment=$(awk "$split_csv"' NR == 2 { split_csv($0, field); print field[8] }' "$csv")
    if [[ -e $folder/$experiment.csv ]]; then
        tail -n +2 "$csv" >>"$folder/$experiment.csv"
    else
        cp "$csv" "$folder/$experiment.csv"
    fi
}

# line NAME FILE [COLUMN]: of the rows of ours, the best peer, and the ratio of the two, by COLUMN instead of the first figure.
# An experiment may give several tables, which differ in one of the settings, the workload.
line() {
    awk -v name="$1" -v column="${3:-}" "$split_csv"'
        function cell(title) { return field[place[title]] }
        {
            split("", field)
            split_csv($0, field)
        }
        NR == 1 {
            for (i in field) place[field[i]] = i
            # Of waiting probes the slow ones count, in everything else the first figure.
            figure = column != "" ? place[column] : ("starved_probes" in place) ? place["p99_us"] : place["samples"] + 1
            for (i in field) if (field[i] ~ /^cpu_/) cpu = i
            title = field[figure]
            more = title ~ /per_s$/
            unit = more ? "M/s" : title ~ /_us$/ ? "us" : "ns"
            scale = more ? 1e-6 : 1
            next
        }
        {
            workload = ("workload" in place) ? cell("workload") : ""
            if (!(workload in known)) {
                known[workload]
                order[++tables] = workload
            }
        }
        cell("status") != "ok" || field[figure] == "" { failed[workload] = failed[workload] " " cell("executor"); next }
        cell("executor") == "channel" { channel[workload] = field[figure] * scale; channel_cpu[workload] = field[cpu]; next }
        cell("executor") == "workstealing" {
            ours[workload] = field[figure] * scale
            ours_cpu[workload] = field[cpu]
            if (column == "" && cell("slowdown_to_best") + 0 > 1) {
                behind[workload] = sprintf("%.2f-%.2f", 1 / cell("slowdown_high95"), 1 / cell("slowdown_low95"))
            }
            next
        }
        cell("executor") ~ /^(workstealing|elastic|burst|dispatcher|compat-|rusty_pool-|threadpool$|reference-)/ { next }
        {
            value = field[figure] * scale
            if (!(workload in best) || (more ? value > best[workload] : value < best[workload])) {
                best[workload] = value
                best_cpu[workload] = field[cpu]
                peer[workload] = cell("executor")
                # The interval is that of the first figure.
                interval[workload] = column != "" ? "" : sprintf("%.2f-%.2f", cell("slowdown_low95"), cell("slowdown_high95"))
            }
        }
        END {
            for (i = 1; i <= tables; i++) {
                w = order[i]
                ratio = more ? ours[w] / best[w] : best[w] / ours[w]
                printf "| %s | %s | %.4g (%.4g) | %.4g (%.4g) | %s %.4g (%.4g) | %.2f | %s |%s\n",
                    name (w == "" ? "" : ", " w), unit, ours[w], ours_cpu[w], channel[w], channel_cpu[w], peer[w], best[w],
                    best_cpu[w], ratio, (w in behind) ? behind[w] : interval[w], failed[w] == "" ? "" : " failed:" failed[w]
            }
        }
    ' "$2"
}

main() {
    case ${1:-} in
        -h | --help) usage && exit ;;
        -*) fail "unknown option $1; see --help" 2 ;;
    esac
    (($# <= 1)) || fail "one folder at most; see --help" 2
    folder=${1:-compare-peers}
    mkdir "$folder" 2>/dev/null || fail "$folder exists or cannot be made; name another folder" 2
    folder=$(cd "$folder" && pwd -P)
    make_work clean_up
    cd "$root"
    local ignore=()
    [[ ${RUSTFLAGS:-} != *peers_forte* ]] || ignore=(--ignore-rust-version)
    cargo build --quiet --release --package executor-performance --features peers,published "${ignore[@]}"
    tool=${CARGO_TARGET_DIR:-target}/release/executor-performance

    if [[ -z $EXECUTORS ]]; then
        EXECUTORS=$("$tool" list | awk '
            /^$/ { part++ } # what the marks mean, executors, and what is none
            part != 1 { next }
            { $0 = substr($0, 7) } # behind the marks
            /^(workstealing|channel) / || !/^(workstealing|channel|elastic|burst|dispatcher|compat-|rusty_pool-|threadpool |reference-|$)/ {
                print $1
            }
        ' | paste -sd,)
    fi

    echo "| load | unit | workstealing (CPU) | channel (CPU) | best peer (CPU) | ratio | 95 % |"
    echo "|---|---|---:|---:|---:|---:|---:|"
    local threads chains
    for threads in 1 2 4 8; do
        row "throughput, outside, $threads threads" -t "$threads" -p 2 -m 200000 -a 1 throughput
        row "throughput, inside, $threads threads" -t "$threads" -p 2 -m 1000 -a 500 throughput
    done
    row "1 us of work, outside" -t 2 -p 2 -m 200000 -a 1 throughput --pre 600 --post 600
    row "1 us of work, inside" -t 2 -p 2 -m 1000 -a 50 throughput --pre 600 --post 600
    for chains in 1 2 4 8; do
        row "repost, $chains chains" -t 2 repost --chains "$chains"
    done
    row "submit, 1 producer" -t 10 -p 1 submit --work 1000
    row "submit, 11 producers" -t 10 -p 11 submit --work 1000
    row "submit, empty jobs" -t 10 -p 1 submit
    row "avalanche" -t 2 avalanche
    for threads in 2 4 10; do
        row "wake, $threads threads" -t "$threads" wake
    done
    row "burst, small" -t 2 -m 100 -a 1 latency -s 5
    row "burst, medium" -t 2 -m 100 -a 100 latency -s 5
    row "burst, large" -t 2 -m 100 -a 1000 latency -s 5
    EXECUTORS=all row "futures" -t 2 futures
    row "fairness" -t 2 fairness
    for threads in 2 16 64; do
        # Some peers cannot have that many threads; `all` leaves them out.
        EXECUTORS=all row "lifecycle, $threads threads" -t "$threads" lifecycle
        [[ ! "lifecycle, $threads threads" =~ $ROWS ]] || line "first job, $threads threads" "$work/row.csv" first_job_us
    done
}

main "$@"
