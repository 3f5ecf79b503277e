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

Runs every interleaving of the models (\`model.rs\`, or \`model/\`, beside the code that they model)
in which threads that could go on are switched no more often than the model says: none to three times.
FILTER chooses models whose path contains it, such as parker or crew::model::a_late_job.

Options:
  -h, --help  show this

Environment:
  LOOM_MAX_PREEMPTIONS  no model switches more often; 1 takes some minutes, each further one several times that
  LOOM_BRIEF            if this is set, models that take long (check_at_length) switch one time less
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
    # A folder of its own, because with these flags everything else would be recompiled.
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/loom"
    local program
    program=$(build)
    [[ -x $program ]] || fail "cargo does not say which program runs the models"
    check_models "$program" "${1:-model::}"
}

# build: compiles the models, on all cores, and prints the path of the program that runs them.
build() {
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_DEBUG=none \
        cargo test --release --package executors --features compat-burst-pool --lib --no-run \
        --message-format json-render-diagnostics |
        sed -n 's/.*"executable":"\([^"]*\)".*/\1/p'
}

# check_models PROGRAM FILTER: checks each model in a process of its own, as many at a time as there are cores. In one
# process they take twice as long: loom maps and unmaps the stacks of each interleaving, and other cores that run the
# same process have to be notified of that.
check_models() {
    local models
    models=$("$1" --list --format terse "$2" | sed -n '/model::/s/: test$//p')
    [[ -n $models ]] || fail "no model's path contains '$2'; see --help" 2
    export -f check_model
    # shellcheck disable=SC2016 # xargs passes these
    xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" bash -c 'check_model "$0" "$1"' "$1" <<<"$models"
    printf 'loom.sh: %d models passed\n' "$(wc -l <<<"$models")"
}

# check_model PROGRAM MODEL: prints one line if the model passes, and all of its output if not.
check_model() {
    local said
    if said=$("$1" --exact --nocapture "$2" 2>&1) && grep -q '^test result: ok. 1 passed' <<<"$said"; then
        printf '%s: %s\n' "$2" "$(grep '^[0-9]* executions' <<<"$said")"
    else
        printf '%s failed:\n%s\n' "$2" "$said"
        return 1
    fi
}

main "$@"
