# shellcheck shell=bash
#
# The tables of each part, from the rows of its records.
# Sourced by results.sh, not run.

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
        file=$(directory "${1%%/*}")/${1#*/}.csv
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

# peers workstealing, peers channel, peers spread
table_peers() {
    local pool=$1 kind=.
    case $pool in
        spread)
            show spread.awk peers/outside peers/outside-1us peers/outside-1ms
            return
            ;;
        # Pools that are called in the same way, and have one queue.
        channel) kind='^(published-(channel|threadpool)|threadpool-crate|threadpool-crossbeam-channel|rusty_pool|workerpool)' ;;
    esac
    echo "| load | unit | $pool (CPU) | best peer (CPU) | ratio | 95 % | is | line, ns | failed |"
    echo "|---|---|---:|---:|---:|---:|---|---:|---|"
    peer_loads peer_line
    peer_line lifecycle "first job" threads threads -v column=first_job_us
}

# Of $pool, beside those of that $kind. Arguments as for the function that peer_loads calls.
peer_line() {
    local more=()
    if [[ ${5:-} == -v ]]; then more=("${@:5}"); fi
    show peers.awk "peers/$1" -v pool="$pool" -v kind="$kind" -v name="$2" -v by="$3" -v words="$4" "${more[@]}"
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
