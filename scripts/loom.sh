#!/usr/bin/env bash
#
# Checks the models of the concurrent parts with loom.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"

usage() {
    cat <<USAGE
Usage: scripts/loom.sh [FILTER]

Runs every interleaving of the models (\`model.rs\`, or \`model/\`, beside what is modelled) in which
threads are switched at most so many times although they could go on: one to three times, as the model
says. FILTER chooses models whose path contains it, such as parker or crew::model::a_late_job.

Options:
  -h, --help  show this

Environment:
  LOOM_MAX_PREEMPTIONS  no model switches more often; 1 takes half a minute, each more some times as long
USAGE
}

main() {
    case ${1:-} in
        -h | --help) usage && exit ;;
        -*) fail "unknown option $1; see --help" 2 ;;
    esac
    (($# <= 1)) || fail "one filter at most; see --help" 2
    cd "$root"
    export RUSTFLAGS="--cfg executors_loom ${RUSTFLAGS:-}"
    # A folder of its own, as the flags would have everything else compiled anew.
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/loom"
    check_models "$(build)" "${1:-model::}"
}

# build: compiles the models and prints the path of the program that runs them.
build() {
    cargo test --release --package executors --features compat-burst-pool --lib --no-run --message-format json |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

# check_models PROGRAM FILTER: checks each model in a process of its own, as many at a time as there are cores. In one
# process they take twice as long: loom maps and unmaps the stacks of each interleaving, which other cores that run the
# same process have to be told of.
check_models() {
    local models
    models=$("$1" --list --format terse "$2" | sed -n 's/: test$//p')
    [[ -n $models ]] || fail "no model's path contains '$2'; see --help" 2
    xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" "$1" --exact --nocapture <<<"$models" |
        { grep -vE '^(running 1 test|test result: ok.*)?$' || true; }
    printf 'loom.sh: %d models passed\n' "$(wc -l <<<"$models")"
}

main "$@"
