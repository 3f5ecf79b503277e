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
  LOOM_MAX_PREEMPTIONS  no model switches more often; 1 takes a minute, each more some times as long
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
    cargo test --release --package executors --features compat-burst-pool --lib "${1:-model::}" -- --nocapture
}

main "$@"
