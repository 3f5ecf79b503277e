# shellcheck shell=bash
#
# The loads of each part, and how one is measured.
# Sourced by results.sh, not run.

# Builds the tool, with the peers that this system can have.
build() {
    local ignore=()
    if [[ $(uname -s) == Linux ]]; then export RUSTFLAGS=${RUSTFLAGS---cfg peers_forte --cfg peers_burst_pool}; fi
    # The crate forte asks for a newer compiler than this workspace.
    [[ ${RUSTFLAGS:-} != *peers_forte* ]] || ignore=(--ignore-rust-version)
    cargo build --quiet --release --package executor-performance --features peers,published "${ignore[@]}"
    tool=$(realpath "${CARGO_TARGET_DIR:-target}/release/executor-performance")
}

listing= # set if the loads are only named, and not measured
nearest= # the nanoseconds that a cache line takes from core to core when cores are near, as far as seen

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
        if is_settled; then break; fi
        ((attempt == 3)) || printf '%s: cores were far apart: once more\n' "$part/$file" >&2
    done
    mkdir -p "$(directory "$part")"
    mv "$work/record.json" "$(directory "$part")/$file.json"
    mv "$work/record.csv" "$(directory "$part")/$file.csv"
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

# is_settled: whether cores were near throughout.
is_settled() {
    local settled=0
    awk -v nearest="$nearest" -f scripts/results/csv.awk -f scripts/results/settled.awk "$work/record.csv" \
        >"$work/nearest" || settled=1
    nearest=$(<"$work/nearest")
    return "$settled"
}

# directory PART: where its records are.
directory() {
    local name=$1
    [[ $1 != published ]] || name=published-0.10.0
    printf '%s/%s' "$folder" "$name"
}

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
    # samples of the fastest would be a few milliseconds, of which much is waking up (or in `lifecycle` a few lives).
    # And where quiet precedes each burst, and the mean of the delays is compared, there would be too few delays for the
    # rare ones that take milliseconds. The five workloads of futures share their time. In `fairness`, too, it is the
    # rare delays that count.
    local times=4
    case $1 in
        wake | bursts | lifecycle*) times=12 ;;
        futures | fairness | fork-join) times=24 ;;
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
    # In less time some samples would be of a few milliseconds, of which the second worker may miss most.
    load empty-repost 4 "$pools" -t 2 repost --chains 1,2,4,8
    load empty-avalanche 2 "$pools" -t 2 avalanche
    load timed-repost 2 workstealing,dispatcher,dispatcher-limited,rayon,tokio -t 2 repost --chains 1,2,4,8,16,32 --work 100
    load timed-avalanche 2 workstealing,dispatcher,dispatcher-limited,rayon,tokio -t 2 avalanche --work 100
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
    for file in "$(directory "$1")"/*.{csv,json}; do
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
