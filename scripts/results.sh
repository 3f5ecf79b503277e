#!/usr/bin/env bash
#
# Measures the figures of the documentation, and writes them into its tables.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

parts=(published peers burst elastic dispatcher reproducing noise)
pages=(README.md docs/bias.md docs/methodology.md docs/reproducing.md docs/results/*.md)

BUDGET=${BUDGET:-5}
SAMPLING=${SAMPLING:-}
FILES=${FILES:-.}

usage() {
    cat <<USAGE
Usage: scripts/results.sh [-o FOLDER] [PART...]
       scripts/results.sh [-o FOLDER] --insert | --check

Measures the figures of the documentation, all of them or the named parts only, and puts a record (.json, with every
sample) and its rows (.csv) for each load into a folder for each part. Then the tables of these parts are printed as
they are in the documentation: --insert puts them there, between <!-- table: ... --> and <!-- end of table -->.
All parts together take half an hour on two cores. Keep the machine quiet. A load during which a cache line took much
longer from core to core for a part of the time (docs/methodology.md, "Trust") is measured again, twice at most.

Parts:
  published    this version beside 0.10.0, docs/results/published-0.10.0.md and the README
  peers        beside the pools of other crates, docs/results/peers.md and docs/bias.md
  burst        docs/results/burst.md
  elastic      docs/results/elastic.md
  dispatcher   docs/results/dispatcher.md
  reproducing  docs/reproducing.md, which shows some of burst and elastic, too
  noise        the same twice, docs/methodology.md

Options:
  -o FOLDER   where the records are (default: docs/results)
  --insert    write the tables of the records into the documentation
  --check     fail if the documentation has other tables, or some without records
              (a test checks that rows agree with records: cargo test -p executor-performance --test records)
  -h, --help  show this

Environment:
  BUDGET     seconds for each point of a load, times what that load is given here; $BUDGET
  SAMPLING   further options for all of them, such as '--min-samples 1 --max-samples 2'
  FILES      only files whose name matches this regular expression
  RUSTFLAGS  '--cfg peers_forte --cfg peers_burst_pool' on Linux, which adds the crates forte and burst-pool
USAGE
}

# --- loads -----------------------------------------------------------------------------------------------------------

listing= # set if the loads are only named, and not measured

# load FILE TIMES EXECUTORS OPTION...: measures, with TIMES the budget, into files of that name. Again, twice at most,
# if the machine was not the same throughout.
load() {
    local file=$1 budget attempt
    if [[ -n $listing ]]; then
        echo "$part/$file"
        return
    fi
    [[ $file =~ $FILES ]] || return 0
    budget=$(awk -v budget="$BUDGET" -v times="$2" 'BEGIN { print budget * times }')
    for attempt in 1 2 3; do
        measure "$budget" "${@:3}" || fail "$part/$file: nothing was measured: $(cat "$work/complaints")"
        if awk -f scripts/results/csv.awk -f scripts/results/settled.awk "$work/record.csv"; then break; fi
        ((attempt == 3)) || printf '%s: cores were far apart for a part of the time: once more\n' "$part/$file" >&2
    done
    mkdir -p "$folder/${directory[$part]}"
    mv "$work/record.json" "$folder/${directory[$part]}/$file.json"
    mv "$work/record.csv" "$folder/${directory[$part]}/$file.csv"
}

# measure BUDGET EXECUTORS OPTION...: leaves the record and its rows in $work.
measure() {
    local status=0
    rm -f "$work/record".*
    # shellcheck disable=SC2086 # several words
    # In $work, so that the record names no folder of this machine.
    (cd "$work" && "$tool" --quiet --budget "$1" $SAMPLING -e "$2" -o record.json -o record.csv "${@:3}") \
        >/dev/null 2>"$work/complaints" || status=$?
    # 1 means that an executor failed. The rows say which.
    ((status <= 1)) && [[ -s $work/record.csv ]]
}

# The folders of the parts, where the name differs from that of the part.
declare -A directory=([published]=published-0.10.0)
for part in "${parts[@]}"; do directory[$part]=${directory[$part]-$part}; done

load_published() {
    local pools=threadpool,published-threadpool,channel,published-channel,workstealing,published-workstealing
    load outside 3 "$pools" --rse 1 -t 1,2,4,8 -p 2 -m 200000 -a 1 throughput
    load inside 3 "$pools" --rse 1 -t 1,2,4,8 -p 2 -m 1000 -a 500 throughput
    load outside-1us 3 "$pools" --rse 1 -t 1,2,4,8 -p 2 -m 50000 -a 1 throughput --pre 600 --post 600
    load inside-1us 3 "$pools" --rse 1 -t 1,2,4,8 -p 2 -m 1000 -a 50 throughput --pre 600 --post 600
    load bursts 3 "$pools" --rse 1 -t 2,6 -p 1 -m 100 -a 1,100,10000 latency -s 5
}

# peer_loads COMMAND: calls COMMAND with FILE NAME BY WORDS EXECUTORS OPTION... for each: see peers.awk.
peer_loads() {
    local some=${others:-} forkers=${forkers:-}
    "$1" outside "throughput, outside" threads threads "$some" -t 1,2,4,8 -p 2 -m 200000 -a 1 throughput
    "$1" inside "throughput, inside" threads threads "$some" -t 1,2,4,8 -p 2 -m 1000 -a 500 throughput
    "$1" outside-1us "1 us of work, outside" "" "" "$some" -t 2 -p 2 -m 200000 -a 1 throughput --pre 600 --post 600
    "$1" inside-1us "1 us of work, inside" "" "" "$some" -t 2 -p 2 -m 1000 -a 50 throughput --pre 600 --post 600
    "$1" outside-1ms "1 ms of work, outside" "" "" "$some" -t 2 -p 2 -m 100 -a 1 throughput --pre 600000 --post 600000
    "$1" repost "repost" chains chains "$some" -t 2 repost --chains 1,2,4,8
    "$1" submit-sleeping "submit, jobs that sleep" producers producers "$some" -t 10 -p 1,11 submit --work 1000
    "$1" submit-empty "submit, empty jobs" "" "" "$some" -t 10 -p 1 submit
    "$1" avalanche "avalanche" "" "" "$some" -t 2 avalanche
    "$1" wake "wake" threads threads "$some" -t 2,4,10 wake
    "$1" bursts "burst of 100 chains" amplification "further jobs" "$some" -t 2 -m 100 -a 1,100,1000 latency -s 5
    "$1" futures "futures" "" "" all -t 2 futures
    "$1" fairness "fairness" "" "" "$some" -t 2 fairness
    # Some peers cannot have that many threads; `all` leaves them out.
    "$1" lifecycle "lifecycle" threads threads all -t 2,16,64 lifecycle
    "$1" lifecycle-meeting "all at work" threads threads all -t 2,16,64 lifecycle --meeting
    "$1" fork-join "fork and join" "" "" all -t 2 fork-join
    "$1" fork-join-large "fork and join, larger" threads threads "$forkers" -t 1,2,4,8 fork-join --workload fib --fib 30
}

load_peers() {
    # All peers, and the two pools that they are compared with. In the list, executors are the second block, and their
    # names come after the marks.
    others=$("$tool" list | awk '
        /^$/ { part++ }
        part != 1 { next }
        { $0 = substr($0, 7) }
        /^(workstealing|channel) / || !/^(workstealing|channel|elastic|burst|dispatcher|compat-|rusty_pool-|threadpool |reference-|$)/ {
            print $1
        }
    ' | paste -sd,)
    # Only those whose `join` is made for this: the others would take all of the time.
    forkers=workstealing,channel,rayon$(known forte)
    peer_loads load_peer
}

load_peer() {
    # Some twenty executors take turns, and a few of them take many times as long as the fastest: with less time the
    # samples of the fastest would be a few milliseconds, of which much is waking up. And where quiet precedes each
    # burst, and the mean of the delays is compared, there would be too few delays for the rare ones that take
    # milliseconds. The five workloads of futures share their time.
    local times=4
    case $1 in
        wake | bursts | fork-join) times=12 ;;
        futures) times=20 ;;
    esac
    load "$1" "$times" "$5" "${@:6}"
}

load_burst() {
    local pools=burst,burst-typed,burst-dealt,compat-burst-pool,reference-unpark,reference-mutex-condvar,threadpool-crate,threadpool-crossbeam-channel
    pools+=,rayon,tokio,rusty_pool,workerpool,async-executor,futures-pool,workstealing,channel$(known burst-pool forte)
    load wake 12 "$pools" -t 2,4,10 wake
}

load_elastic() {
    local pools=elastic,compat-rusty_pool,rusty_pool,threadpool-crate,channel
    load sleeping 4 "$pools" -t 10 -p 1,11 --jobs 1000000 submit --work 1000
    load empty 4 "$pools" -t 10 -p 1 --jobs 1000000 submit
    load blocking 4 elastic-started,rusty_pool,reference-unpark,reference-mutex-condvar,threadpool-crate,elastic-growing,elastic,rusty_pool-growing \
        -t 128 blocking
    load lifecycle 4 elastic-growing,elastic,rusty_pool-growing,compat-rusty_pool-growing -t 128 lifecycle
}

load_dispatcher() {
    local pools
    pools=workstealing,dispatcher,dispatcher-ordered,dispatcher-limited,dispatcher-bound,channel,rayon,tokio,async-executor$(known forte)
    load empty-repost 1 "$pools" -t 2 repost --chains 1,2,4,8
    load empty-avalanche 1 "$pools" -t 2 avalanche
    load timed-repost 1 workstealing,dispatcher,dispatcher-limited,rayon,tokio -t 2 repost --chains 1,2,4,8,16,32 --work 100
    load timed-avalanche 1 workstealing,dispatcher,dispatcher-limited,rayon,tokio -t 2 avalanche --work 100
}

load_reproducing() {
    local pools=published-threadpool,published-channel,published-workstealing,threadpool,channel,workstealing
    pools+=,workstealing-spin-timed,workstealing-park-counted
    load outside 0.6 "$pools" -t 1..9 -p 2 -m 10000000 -a 1 throughput
    load inside 0.6 "$pools" -t 1..9 -p 2 -m 1000 -a 50000 throughput
    load bursts 3 "$pools" -t 6 -p 1 -m 100 -a 1,100,10000 latency -s 100
    pools=channel,workstealing,burst,elastic,dispatcher,dispatcher-bound,rayon,tokio
    load empty-avalanche 1 "$pools" -t 8 --jobs 100000 avalanche
    load empty-repost 1 "$pools" -t 8 repost --chains 1,2,4,8 --hops 1000000
    load timed-avalanche 1 "$pools" -t 8 --jobs 100000 avalanche --work 100
    load timed-repost 1 "$pools" -t 8 repost --chains 1,2,4,8 --hops 100000 --work 100
}

load_noise() {
    local run
    for run in first second; do
        load "$run" 1 threadpool,channel,workstealing -t 2 -p 2 -m 20000 throughput
    done
}

# files_of PART: the files that belong to it, as PART/NAME.
files_of() {
    local part=$1 listing=1 tool=true
    "load_$part"
}

# tidy PART: removes records of loads that no longer exist.
tidy() {
    local file files
    files=$(files_of "$1")
    for file in "$folder/${directory[$1]}"/*.{csv,json}; do
        [[ $'\n'$files$'\n' == *$'\n'"$1/$(basename "${file%.*}")"$'\n'* ]] || rm -f "$file"
    done
}

# known NAME...: those that are in this build, each after a comma.
known() {
    local name list
    list=$("$tool" list)
    for name in "$@"; do
        if [[ $list == *" $name "* ]]; then printf ',%s' "$name"; fi
    done
}

# --- tables ----------------------------------------------------------------------------------------------------------

unmeasured= # set if there is no record of what a table should show

# table PART NAME [ARGUMENT...]: prints a table. `made` says when and where all of a part was measured.
table() {
    local part=$1 name=$2
    if [[ $name == made ]]; then
        # shellcheck disable=SC2046 # no name has a space
        show made.awk $(files_of "$part")
    else
        "table_$part" "${@:2}"
    fi
}

# show PROGRAM FILE... [-v VARIABLE=VALUE]...: prints what an awk program makes of the rows; FILE is PART/NAME.
show() {
    local program=$1 file files=()
    shift
    while (($# > 0)) && [[ $1 != -v ]]; do
        file=$folder/${directory[${1%%/*}]}/${1#*/}.csv
        if [[ ! -s $file ]]; then
            unmeasured=1
            return
        fi
        files+=("$file")
        shift
    done
    awk "$@" -f "$root/scripts/results/csv.awk" -f "$root/scripts/results/$program" "${files[@]}"
}

# fill FORM FILE...: prints a form with the figures of the rows.
fill() {
    show fill.awk "${@:2}" -v folder="$folder" -v form="$root/scripts/results/forms/$1.md"
}

table_published() {
    local file head="| load | jobs | threads | threadpool | CPU | channel | CPU | work-stealing | CPU |"
    case $1 in
        throughput)
            printf '%s\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n' "$head"
            for file in outside outside-1us inside inside-1us; do
                show published.awk "published/$file" -v load="${file/-1us/, 1 us}"
            done
            ;;
        bursts)
            printf '%s\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n' "$head"
            show published.awk published/bursts -v load=bursts
            ;;
        outside | inside)
            show grid.awk "published/$1" -v by=threads -v words=threads -v across=1 \
                -v only=threadpool,channel,workstealing,published-workstealing
            ;;
    esac
}

table_peers() {
    case $1 in
        loads)
            echo "| load | unit | workstealing (CPU) | channel (CPU) | best peer (CPU) | ratio | 95 % | failed |"
            echo "|---|---|---:|---:|---:|---:|---:|---|"
            peer_loads peer_line
            show peers.awk peers/lifecycle -v name="first job" -v by=threads -v words=threads -v column=first_job_us
            ;;
        spread) show spread.awk peers/outside peers/outside-1us peers/outside-1ms ;;
    esac
}

peer_line() {
    show peers.awk "peers/$1" -v name="$2" -v by="$3" -v words="$4"
}

# burst wake THREADS
table_burst() {
    show rows.awk burst/wake -v by=threads -v value="$2" -v reference=reference-unpark \
        -v show="mean_us:mean us,rse_percent:RSE %,x:x unpark,p20_us:p20,p40_us:p40,p60_us:p60,p80_us:p80,p99_us:p99,cpu_us_per_burst:CPU us"
}

# elastic sleeping PRODUCERS, elastic empty, elastic blocking, elastic lifecycle
table_elastic() {
    local submit="median_ns_per_submission:submit,range low95_ns_per_submission high95_ns_per_submission:95 %,x:x elastic"
    submit+=",x95:95 %,completed_ns_per_job:all ran,cpu_ns_per_job:CPU,peak_memory_mib:peak MiB"
    case $1 in
        sleeping) show rows.awk elastic/sleeping -v by=producers -v value="$2" -v reference=elastic -v show="$submit" ;;
        empty) show rows.awk elastic/empty -v reference=elastic -v show="$submit" ;;
        blocking)
            show rows.awk elastic/blocking \
                -v show="median_us:all ran us,range low95_us high95_us:95 %,times_ideal:of the ideal,cpu_us_per_job:CPU us a job"
            ;;
        lifecycle)
            show rows.awk elastic/lifecycle \
                -v show="build_us:build us,submit_us:submit us,first_job_us:first job us,cpu_us_per_round_trip:CPU us"
            ;;
    esac
}

table_dispatcher() {
    case $1 in
        empty-repost) show grid.awk "dispatcher/$1" -v by=chains -v words=chain -v over=dispatcher -v under=workstealing ;;
        timed-repost) show grid.awk "dispatcher/$1" -v by=chains -v words=chain -v plain=1 ;;
        empty-avalanche)
            show rows.awk "dispatcher/$1" -v show="median_ns_per_job:ns a job,cpu_ns_per_job:CPU"
            ;;
        timed-avalanche)
            show rows.awk "dispatcher/$1" \
                -v show="median_ns_per_job:ns a job,range low95_ns_per_job high95_ns_per_job:95 %"
            ;;
    esac
}

table_reproducing() {
    case $1 in
        outside | inside | bursts) fill "$1" "reproducing/$1" ;;
        submit) fill submit elastic/sleeping elastic/empty ;;
        wake) fill wake burst/wake ;;
        empty | timed) fill "$1" "reproducing/$1-avalanche" "reproducing/$1-repost" ;;
    esac
}

table_noise() {
    show noise.awk noise/first noise/second
}

# --- pages -----------------------------------------------------------------------------------------------------------

begin_table='<!-- table: '
end_table='<!-- end of table -->'

# rewritten PAGE: prints the page with the tables of the records. A table without records stays as it is.
rewritten() {
    local line name words=''
    while IFS= read -r line; do
        if [[ $line == "$end_table" ]]; then
            [[ -n $words ]] || fail "$1: '$end_table' without a beginning"
            words=
        elif [[ $words == replaced ]]; then
            continue
        fi
        printf '%s\n' "$line"
        if [[ $line == "$begin_table"* ]]; then
            name=${line#"$begin_table"}
            name=${name% -->}
            words=kept
            read -ra name <<<"$name"
            [[ " ${parts[*]} " == *" ${name[0]} "* ]] || fail "$1: no part is called ${name[0]}"
            unmeasured=
            table "${name[@]}" >"$work/table"
            if [[ -n $unmeasured ]]; then
                printf '%s: nothing is measured yet for %s\n' "$1" "${name[*]}" >&2
                missing=1
            elif [[ -s $work/table ]]; then
                cat "$work/table"
                words=replaced
            else
                fail "$1: there is no table ${name[*]}"
            fi
        fi
    done <"$1"
    [[ -z $words ]] || fail "$1: a table without '$end_table'"
}

insert() {
    local page
    for page in "${pages[@]}"; do
        rewritten "$page" >"$work/page"
        cmp --quiet "$work/page" "$page" || cat "$work/page" >"$page"
    done
}

check() {
    local page stale=0 missing=0
    for page in "${pages[@]}"; do
        rewritten "$page" >"$work/page"
        diff -u --label "$page" --label "$page, as the records have it" "$page" "$work/page" || stale=1
    done
    ((missing == 0)) || fail "tables without records: scripts/results.sh measures them"
    ((stale == 0)) || fail "tables differ from their records: scripts/results.sh --insert puts them right"
}

# Prints the tables of a part, whichever pages they are on.
print_tables() {
    local page line words
    for page in "${pages[@]}"; do
        while IFS= read -r line; do
            [[ $line == "$begin_table$1 "* ]] || continue
            line=${line#"$begin_table"}
            read -ra words <<<"${line% -->}"
            printf '\n%s\n\n' "${words[*]}"
            table "${words[@]}"
        done <"$page"
    done
}

# --- all -------------------------------------------------------------------------------------------------------------

build() {
    local ignore=()
    if [[ $(uname -s) == Linux ]]; then export RUSTFLAGS=${RUSTFLAGS---cfg peers_forte --cfg peers_burst_pool}; fi
    # The crate forte asks for a newer compiler than this workspace.
    [[ ${RUSTFLAGS:-} != *peers_forte* ]] || ignore=(--ignore-rust-version)
    cargo build --quiet --release --package executor-performance --features peers,published "${ignore[@]}"
    tool=$(realpath "${CARGO_TARGET_DIR:-target}/release/executor-performance")
}

clean_up() {
    rm -rf "$work"
}

main() {
    local chosen=() doing=measure start
    folder=docs/results
    while (($# > 0)); do
        case $1 in
            -h | --help) usage && exit ;;
            --insert | --check) doing=${1#--} ;;
            -o) (($# > 1)) || fail "-o needs a folder; see --help" 2 && folder=$2 && shift ;;
            *)
                [[ " ${parts[*]} " == *" $1 "* ]] || fail "no option or part is called '$1'; see --help" 2
                chosen+=("$1")
                ;;
        esac
        shift
    done
    [[ $doing == measure ]] || ((${#chosen[@]} == 0)) || fail "--$doing is for all parts; see --help" 2
    ((${#chosen[@]} > 0)) || chosen=("${parts[@]}")
    cd "$root"
    make_work clean_up
    if [[ $doing != measure ]]; then
        "$doing"
        exit
    fi
    mkdir -p "$folder"
    build
    for part in "${chosen[@]}"; do
        start=$SECONDS
        "load_$part"
        tidy "$part"
        printf '\n%s: measured in %d s\n' "$part" $((SECONDS - start))
        print_tables "$part"
    done
}

main "$@"
