#!/usr/bin/env bash
#
# Everything that must hold before a change is merged; CI runs this.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

# Seconds for which a step may compile and run tests: many times what it takes. The tests of the public interface give
# up by themselves if they hang, but unit tests do not.
long=7200

# From cheap to expensive.
parts=(format rules lint docs examples cli compat features tests release loom)

# Sets of features that make a difference, except for two that are tested more: all features, and, optimised, the
# default ones. The command-line tool is left out here: it needs the library with its default features.
feature_sets=(
    ""
    "threadpool-exec"
    "cb-channel-exec"
    "workstealing-exec"
    "elastic-exec"
    "burst-exec"
    "dispatcher-exec"
    "compat-burst-pool"
    "compat-rusty-pool"
    "threadpool-exec cb-channel-exec workstealing-exec elastic-exec burst-exec dispatcher-exec defaults"
    "default ws-no-park"
    "default thread-pinning"
    "default numa-aware"
    "default produce-metrics"
)

# The files that may contain `unsafe`: leaves, whose arguments can be checked by reading that one file (and, for the
# files in job/, ring/ and lane/, the head of job.rs, ring.rs or lane.rs; for those in workload/, lent.rs).
unsafe_leaves=(
    executor-performance/src/heap.rs
    executor-performance/src/workload/forks.rs
    executor-performance/src/workload/lent.rs
    executor-performance/src/workload/problem/sort.rs
    executor-performance/src/workload/relay.rs
    executor-performance/src/workload/score/seat.rs
    executor-performance/src/workload/stream.rs
    executor-performance/src/workload/tasks.rs
    executors/src/asymmetric_fence.rs
    executors/src/crew/account.rs
    executors/src/crew/delivery.rs
    executors/src/crew/fork.rs
    executors/src/crew/holds.rs
    executors/src/crew/site.rs
    executors/src/crew/stakes.rs
    executors/src/errand.rs
    executors/src/errand/model.rs
    executors/src/errand/tests.rs
    executors/src/futures_executor/reporting.rs
    executors/src/job.rs
    executors/src/job/hand.rs
    executors/src/job/into_job.rs
    executors/src/job/record.rs
    executors/src/joining.rs
    executors/src/local.rs
    executors/src/part.rs
    executors/src/placement/mask.rs
    executors/src/seccomp.rs
    executors/src/source/queue/biased_lock.rs
    executors/src/source/queue/block.rs
    executors/src/source/queue/huge_page.rs
    executors/src/source/queue/lane.rs
    executors/src/source/queue/lane/back.rs
    executors/src/source/queue/lane/cursor.rs
    executors/src/source/queue/lane/front.rs
    executors/src/source/queue/lane/tests.rs
    executors/src/source/queue/ring.rs
    executors/src/source/queue/ring/owner.rs
    executors/src/source/queue/ring/slots.rs
    executors/src/source/queue/ring/stealer.rs
    executors/src/source/queue/ring/tests.rs
    executors/src/source/queue/stack/model.rs
    executors/src/threadpool_executor/site.rs
    executors/src/time_slice.rs
)

usage() {
    cat <<USAGE
Usage: scripts/check.sh [PART...]

Runs all checks, or the named parts only, and stops at the first failure.

Parts:
  format     rustfmt, Cargo.lock, shellcheck (if it is installed)
  rules      the rules of docs/architecture.md that grep can check; links in the documentation resolve, and its tables
             match their records
  lint       clippy without warnings, with all and the default features, and with the peers behind flags; the library
             and the tool compile with the oldest Rust, and the library for musl (if installed)
  docs       rustdoc without warnings; documentation tests with all features, and of the library with the default ones
  examples   every example runs: those of the library assert their outcome, those of the tool measure a round
  cli        executor-performance with the default features, as most users have it: it measures, advises, and compares
             files of all formats (each experiment and each refusal is a test, with all features)
  compat     scripts/compat.sh
  features   clippy and the public interface of the library, with every set of features that makes a difference; its unit
             tests with those that have all pools; the tests of each interface of another crate, with that feature only
  tests      all tests with all features; with the default ones those that \`release\` leaves out
  release    conformance of two pools, stress, memory, deep chains and more with the default features, optimised, with
             checks for overflow
  loom       scripts/loom.sh

Options:
  -h, --help  show this

Environment:
  LOOM_MAX_PREEMPTIONS  see scripts/loom.sh --help; here it is 2 unless it is set
USAGE
}

# --- parts -----------------------------------------------------------------------------------------------------------

check_format() {
    step "format: rustfmt" cargo fmt --all --check
    step "format: Cargo.lock is up to date" cargo metadata --locked --format-version 1 --quiet
    if command -v shellcheck >/dev/null; then
        step "format: shellcheck" shellcheck --external-sources --check-sourced scripts/*.sh .ci/run
    else
        skip "format: shellcheck" "it is not installed"
    fi
}

check_rules() {
    step "rules: features choose items, never statements" features_choose_items
    step "rules: unsafe code is in the leaves" unsafe_is_in_leaves
    step "rules: shared parts know no pool" shared_parts_know_no_pool
    step "rules: comments fit into 120 columns" comments_fit
    step "rules: links between pages lead somewhere" links_lead_somewhere
    step "rules: tables are those of their records" scripts/results.sh --check
}

# Because rustfmt leaves comments alone. Rows of tables cannot be broken. Columns are characters, in any locale.
comments_fit() {
    local wide
    wide=$(LC_ALL=C.UTF-8 grep -rnE --include='*.rs' '^.{121,}$' executors executor-performance scripts |
        grep -E '^[^:]*:[0-9]+: *//' | grep -vE '^[^:]*:[0-9]+: *//[/!]? \|' || true)
    if [[ -n $wide ]]; then
        printf 'comments of more than 120 columns:\n%s\n' "$wide"
        return 1
    fi
}

# Links lead to files that exist, and to headings that exist. Comments name pages, too.
links_lead_somewhere() {
    local pages page named=0
    mapfile -t pages < <(find README.md docs executors executor-performance -name '*.md')
    awk -f scripts/links.awk pass=1 "${pages[@]}" pass=2 "${pages[@]}" || return
    while IFS=: read -r source page; do
        if [[ ! -e $page ]]; then
            echo "$source: $page"
            named=1
        fi
    done < <(grep -roE --include='*.rs' --include='*.sh' '\bdocs/[a-z0-9./_-]+\.md' executors executor-performance scripts)
    return "$named"
}

# `cfg!(feature = ...)` may stand in options.rs only, where features become defaults. `#[cfg(feature = ...)]` may stand
# anywhere if a whole item follows.
features_choose_items() {
    local macros
    macros=$(grep -rnE 'cfg!\(.*feature = ' executors/src | grep -v '^executors/src/options.rs:' || true)
    if [[ -n $macros ]]; then
        printf 'cfg!(feature = ...) outside options.rs:\n%s\n' "$macros"
        return 1
    fi
    find executors/src -name '*.rs' -exec awk '
        FNR == 1 { pending = ""; attribute = "" }
        # Over one line or several.
        /^[[:space:]]*#!?\[cfg\(/ && !/\)\]/ { attribute = $0; next }
        attribute != "" {
            attribute = attribute $0
            if (!/\)\]/) next
            $0 = attribute
            attribute = ""
        }
        /^[[:space:]]*#\[cfg\(.*feature = / { pending = FILENAME ":" FNR; next }
        pending == "" || /^[[:space:]]*(#\[|\/\/)/ { next }
        !/^[[:space:]]*(pub(\([a-z]+\))? |(unsafe )?impl[ <]|use |mod |fn |const |static |type |struct |enum |trait |macro_rules!)/ {
            print pending ": a feature chooses something that is not an item: " $0
            bad = 1
        }
        { pending = "" }
        END { exit bad }
    ' {} +
}

unsafe_is_in_leaves() {
    local others leaf
    for leaf in "${unsafe_leaves[@]}"; do
        if ! grep -qw 'unsafe' "$leaf"; then
            echo "$leaf has no unsafe code, but is among the leaves listed in scripts/check.sh"
            return 1
        fi
    done
    others=$(grep -rlw --include='*.rs' 'unsafe' executors/src executor-performance/src |
        grep -vxF "$(printf '%s\n' "${unsafe_leaves[@]}")" || true)
    if [[ -n $others ]]; then
        printf 'unsafe code in files that are not among the leaves listed in scripts/check.sh:\n%s\n' "$others"
        return 1
    fi
}

shared_parts_know_no_pool() {
    local pools='crossbeam_channel_pool|crossbeam_workstealing_pool|threadpool_executor|elastic_pool|burst_pool|dispatcher|run_now' found
    found=$(find executors/src -name '*.rs' \
        \( -path '*/crew*' -o -path '*/source*' -o -path '*/parker*' \) \
        -exec grep -nE "^[[:space:]]*(pub )?use .*($pools)|crate::($pools)|^[[:space:]]*($pools)::" {} + | grep -vE ':[[:space:]]*//' || true)
    if [[ -n $found ]]; then
        printf 'a shared part uses a pool:\n%s\n' "$found"
        return 1
    fi
}

check_lint() {
    local oldest musl=x86_64-unknown-linux-musl
    # With the adapters that exist only with these flags. burst-pool is for Linux.
    local flags=(--cfg peers_forte)
    if [[ $(uname -s) == Linux ]]; then flags+=(--cfg peers_burst_pool); fi
    local clippy=(env RUSTFLAGS="${flags[*]} ${RUSTFLAGS:-}" cargo clippy --workspace --all-targets --ignore-rust-version)
    step "lint: clippy [all features]" "${clippy[@]}" --all-features -- -D warnings
    step "lint: clippy [default]" "${clippy[@]}" -- -D warnings
    oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    if rustup toolchain list 2>/dev/null | grep "^$oldest" >/dev/null; then
        step "lint: Rust $oldest suffices" \
            env CARGO_TARGET_DIR="$target/oldest" cargo "+$oldest" check --workspace --all-features
    else
        skip "lint: Rust $oldest suffices" "it is not installed"
    fi
    # musl has other types for some parts of the C library.
    if rustup target list --installed 2>/dev/null | grep "^$musl" >/dev/null; then
        step "lint: the library compiles for musl" \
            env CARGO_TARGET_DIR="$target/musl" cargo check --package executors --all-features --target "$musl"
    else
        skip "lint: the library compiles for musl" "that target is not installed"
    fi
}

check_docs() {
    step "docs: rustdoc [all features]" \
        env RUSTDOCFLAGS="-D warnings" cargo doc --workspace --all-features --no-deps
    test_step "docs: tests [all features]" limited "$long" cargo test --workspace --doc --all-features
    # The README, whose examples are tests of the tool, is for users of the default features.
    test_step "docs: tests [default]" limited "$long" cargo test --package executors --package executor-performance --doc
}

check_examples() {
    local example
    step "examples: build" cargo build --workspace --examples --all-features
    for example in executors/examples/*.rs; do
        example=$(basename "$example" .rs)
        step "examples: $example" limited 120 "$target/debug/examples/$example"
    done
    # With other defaults than all features set.
    step "examples: builder [default]" cargo run --quiet --package executors --example builder
    # These measure for the given number of seconds or rounds, and at least once.
    for example in executor-performance/examples/*.rs executor-performance/examples/*/; do
        example=$(basename "$example" .rs)
        if [[ $example == own_job ]]; then continue; fi # a test runs it
        step "examples: $example" limited 120 "$target/debug/examples/$example" 0
    done
}

check_cli() {
    local cli=(limited 120 "$target/debug/executor-performance")
    local brief=(-t 2 --min-samples 1 --max-samples 2 --budget 1)
    local small=("${brief[@]}" -p 2 -m 10 -a 2)
    step "cli: build" cargo build --package executor-performance
    step "cli: --help" "${cli[@]}" --help
    step "cli: list" "${cli[@]}" list
    step "cli: throughput" "${cli[@]}" "${small[@]}" -o "$work/throughput.csv" throughput --pre 10 --post 10
    step "cli: latency" "${cli[@]}" "${small[@]}" -o "$work/latency.csv" latency -s 1
    step "cli: both wrote their rows" rows_of_each_executor "$work/throughput.csv" "$work/latency.csv"
    step "cli: recommend" "${cli[@]}" --budget 1 --min-samples 2 recommend
    step "cli: a sweep, in all formats" "${cli[@]}" --min-samples 1 --max-samples 2 --budget 1 -t 1,2 -m 10 \
        -o "$work/sweep.json" -o "$work/sweep.html" -o "$work/sweep.svg" -o "$work/sweep.md" throughput
    step "cli: report" "${cli[@]}" report "$work/sweep.json" -o "$work/report.html"
    step "cli: compare" "${cli[@]}" compare "$work/sweep.json" "$work/sweep.json" --fail-on-regression
    # As in continuous integration: old and new by the same file. What these few samples say about speed is irrelevant.
    local team=("${cli[@]}" --config executor-performance/examples/bench.toml --quiet "${brief[@]}" -m 10)
    step "cli: a configuration file" "${team[@]}" -o "$work/team.json"
    step "cli: a configuration file, with a baseline" "${team[@]}" --baseline "$work/team.json" -o "$work/team.html"
    step "cli: compare what it measured" "${cli[@]}" compare "$work/team.json" "$work/team.json" --fail-on-regression
    step "cli: thread-scaling.sh" thread_scaling
}

# Each file has a good row for each of several executors, and none that failed.
rows_of_each_executor() {
    local file
    for file in "$@"; do
        cat "$file"
        if grep ',failed,' "$file"; then return 1; fi
        (($(grep -oE '[^,]+,ok,' "$file" | sort -u | wc -l) >= 3))
    done
}

thread_scaling() {
    PROFILE=dev BUDGET=1 LOW_MESSAGES=10 HIGH_MESSAGES=2 HIGH_AMPLIFICATION=5 \
        limited 300 scripts/thread-scaling.sh -o "$work/scaling.csv" 2
    rows_of_each_executor "$work/scaling.csv"
}

check_compat() {
    scripts/compat.sh | tee "$work/compat"
    count_in "$(tail -n 1 "$work/compat")"
}

check_features() {
    local features tests test
    for features in "${feature_sets[@]}"; do
        tests=(--test public_api)
        case $features in
            # The tests of another crate's interface, which otherwise run with all features.
            compat-*) for test in executors/tests/"${features//-/_}"*.rs; do tests+=(--test "$(basename "$test" .rs)"); done ;;
            # What a feature adds or changes. The unit tests of one pool alone are the same as those of all.
            default\ * | *\ defaults) tests+=(--lib) ;;
        esac
        step "features: clippy [${features:-none}]" \
            cargo clippy --package executors --lib --no-default-features --features "$features" -- -D warnings
        test_step "features: tests [${features:-none}]" \
            limited "$long" cargo test --package executors --no-default-features --features "$features" "${tests[@]}" -- \
            --show-output
    done
}

check_tests() {
    # --tests leaves out documentation tests, which the part `docs` has run.
    test_step "tests: [all features]" limited "$long" cargo test --workspace --all-features --tests -- --show-output
    # With all features some pools spin, and all publish metrics. The part `release` has the other tests without that.
    test_step "tests: [default]" limited "$long" cargo test --package executors --test allocator --test detaching \
        --test dispatcher --test public_api --test run_now --test timer -- --show-output
    test_step "tests: conformance of the other pools [default]" limited "$long" \
        cargo test --package executors --test conformance -- --show-output --skip stealing:: --skip burst::
}

check_release() {
    # Optimised like a release, but compiled on all cores, without optimisation across units and without symbols, and
    # with checks for overflow. Threads get their privileges at once, which otherwise takes 64 or 1024 jobs.
    # Conformance runs on two pools only.
    test_step "release: [default]" limited "$long" \
        env CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_DEBUG=none \
        CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true \
        RUSTFLAGS="--cfg executors_privileged --cfg executors_brief ${RUSTFLAGS:-}" \
        cargo test --release --package executors --lib --test conformance --test stress --test memory --test deep \
        --test elastic --test burst --test fork_join -- --show-output
}

check_loom() {
    # Fewer switches than some models ask for, to bound the time.
    # Limited, because loom notices a deadlock, but not a model that waits for something else.
    step "loom: scripts/loom.sh" limited "$((2 * long))" \
        env LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}" LOOM_BRIEF=1 scripts/loom.sh
    tail -n 1 "$work/log"
    passed=$((passed + $(sed -n 's/^loom.sh: \([0-9]*\) models passed$/\1/p' "$work/log")))
}

clean_up() {
    rm -rf "$work"
}

main() {
    local chosen=() part
    while (($# > 0)); do
        case $1 in
            -h | --help)
                usage
                exit 0
                ;;
            *)
                [[ " ${parts[*]} " == *" $1 "* ]] || fail "unknown part '$1'; see scripts/check.sh --help" 2
                chosen+=("$1")
                ;;
        esac
        shift
    done
    if ((${#chosen[@]} == 0)); then chosen=("${parts[@]}"); fi

    cd "$root"
    export CARGO_TERM_COLOR=never # for whatever reads the output, this script included
    # Each build is made once, and tests say where they fail without debug information: without both, all takes a sixth
    # less time, and half the disk space.
    export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none
    target=${CARGO_TARGET_DIR:-$root/target}
    make_work clean_up

    for part in "${chosen[@]}"; do "check_$part"; done
    printf 'Parts: %s\n' "${chosen[*]}"
    summary
}

main "$@"
