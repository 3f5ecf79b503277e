#!/usr/bin/env bash
#
# Measures the figures of the documentation, and writes them into its tables.
# See usage() below.

set -euo pipefail

here=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"
# shellcheck source=scripts/results/loads.sh
source "$root/scripts/results/loads.sh"
# shellcheck source=scripts/results/tables.sh
source "$root/scripts/results/tables.sh"
# shellcheck source=scripts/results/pages.sh
source "$root/scripts/results/pages.sh"

parts=(published peers burst elastic dispatcher reproducing noise)
folder=docs/results # where the records are

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
All parts together take an hour on two cores. Keep the machine quiet. A load during which a cache line took more than
twice as long from core to core as it can (docs/methodology.md, "Trust"), for a part of the time or throughout, is
measured again, twice at most.

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

clean_up() {
    rm -rf "$work"
}

main() {
    local chosen=() doing=measure part start
    while (($# > 0)); do
        case $1 in
            -h | --help) usage && exit ;;
            --insert | --check) doing=${1#--} ;;
            -o)
                (($# > 1)) || fail "-o needs a folder; see --help" 2
                folder=$2
                [[ $folder == /* ]] || folder=$here/$folder
                shift
                ;;
            *)
                [[ " ${parts[*]} " == *" $1 "* ]] || fail "no option or part is called '$1'; see --help" 2
                chosen+=("$1")
                ;;
        esac
        shift
    done
    [[ $doing == measure ]] || ((${#chosen[@]} == 0)) || fail "--$doing is for all parts; see --help" 2
    ((${#chosen[@]} > 0)) || chosen=("${parts[@]}")
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
