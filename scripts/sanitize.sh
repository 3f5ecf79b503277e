#!/usr/bin/env bash
#
# Runs the tests under ThreadSanitizer or AddressSanitizer.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

TOOLCHAIN=${TOOLCHAIN:-nightly}
SECONDS_OF_STRESS=${SECONDS_OF_STRESS:-60}
features=compat-burst-pool,compat-rusty-pool-async

usage() {
    cat <<USAGE
Usage: scripts/sanitize.sh [--features LIST] [--only TESTS]... [thread|address]... [-- ARGUMENT...]

Builds the library, its dependencies and the standard library with a sanitizer (both by default, one after
the other), and runs the unit tests and all files in executors/tests, the stress suite among them.
Needs a nightly compiler with rust-src. Tests that limit the address space of a process, or what CPU time a worker
takes to fall asleep, are left out: a sanitizer needs more than they allow; and ThreadSanitizer is too slow for long
chains.

Options:
  --features LIST  in addition to the default ones ($features)
  --only TESTS     only these: unit, or the name of a file in executors/tests
  -h, --help       show this

The arguments are for the tests, such as a filter.

Environment:
  TOOLCHAIN          the compiler                 $TOOLCHAIN
  SECONDS_OF_STRESS  for the stress suite         $SECONDS_OF_STRESS
                     (its other settings are in executors/tests/stress.rs)
USAGE
}

only=()      # which tests, for cargo
arguments=() # for the tests

# add_tests NAME
add_tests() {
    case $1 in
        unit) only+=(--lib) ;;
        *) only+=(--test "$1") ;;
    esac
}

# sanitize NAME
sanitize() {
    local host
    host=$(rustc "+$TOOLCHAIN" -vV | sed -n 's/^host: //p')
    # Threads get privileges at once: see executors/src/source/queue/privilege.rs.
    export RUSTFLAGS="-Zsanitizer=$1 --cfg executors_privileged" CARGO_TARGET_DIR="$target/sanitize-$1"
    export EXECUTORS_STRESS_SECONDS=$SECONDS_OF_STRESS
    # ThreadSanitizer does not know fences. The library uses them to order wake-ups, and to decide which thread has a
    # job, or a reserved lock, but never to publish data, so this causes no false reports.
    # tests/memory.rs looks for leaks; some tests leak a pool on purpose, or by a hook that owns its own pool, and with
    # it the threads that it has not joined yet.
    export TSAN_OPTIONS="halt_on_error=1 report_thread_leaks=0" ASAN_OPTIONS="detect_leaks=0"
    # Frames are larger, and all takes longer.
    local skipped=(--skip refused_thread --skip refused:: --skip spinning_ends_soon --skip nested_as_deep)
    # Long chains take minutes each; and tests/detaching.rs replaces ThreadSanitizer's pthread_detach.
    [[ $1 != thread ]] || skipped+=(--skip chains_of_ --skip by_themselves::)
    test_step "$1: tests" cargo "+$TOOLCHAIN" test -Zbuild-std --target "$host" --package executors \
        --features "$features" "${only[@]}" -- --show-output "${skipped[@]}" "${arguments[@]}"
}

clean_up() {
    rm -rf "$work"
}

main() {
    local chosen=() sanitizer
    while (($# > 0)); do
        case $1 in
            -h | --help) usage && exit ;;
            --features | --only) (($# > 1)) || fail "$1 needs a value; see --help" 2 ;;&
            --features) features=$2 && shift ;;
            --only) add_tests "$2" && shift ;;
            --) shift && break ;;
            thread | address) chosen+=("$1") ;;
            *) fail "unknown option or sanitizer '$1'; see --help" 2 ;;
        esac
        shift
    done
    arguments=("$@")
    ((${#only[@]} > 0)) || only=(--lib --tests)
    ((${#chosen[@]} > 0)) || chosen=(thread address)
    rustc "+$TOOLCHAIN" --version >/dev/null 2>&1 || fail "there is no $TOOLCHAIN compiler; rustup toolchain install nightly"
    cd "$root"
    target=${CARGO_TARGET_DIR:-$root/target}
    make_work clean_up
    for sanitizer in "${chosen[@]}"; do sanitize "$sanitizer"; done
    printf 'sanitize.sh: passed: %s; %d tests\n' "${chosen[*]}" "$passed"
}

main "$@"
