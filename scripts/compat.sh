#!/usr/bin/env bash
#
# Checks that programs for the published executors 0.10 work with this crate, and that our interfaces of other crates
# behave as those crates do.
# See usage() below.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# shellcheck source=scripts/lib.sh
source "$root/scripts/lib.sh"
programs=$root/scripts/compat

published=0.10.0 # what our users have now
kompact=0.12     # our largest user
rusty_pool=1.0   # we have the interfaces of these
burst_pool=0.5.1
burst_pool_with_pool=0.3.1

# In seconds.
build_limit=900
run_limit=120
tests_limit=1200

usage() {
    cat <<USAGE
Usage: scripts/compat.sh [--tests]

Checks that this crate can take the place of the published executors $published:

  surface   a program that uses all of $published's public interface compiles against it and,
            unchanged, against this crate, where it also runs
  kompact   kompact $kompact from the registry builds with this crate patched in (default
            features, low_latency, thread_pinning), and a small kompact program runs
  semver    cargo semver-checks against $published, if it is installed
  originals the tests of compat::rusty_pool and compat::burst_pool pass with the crates rusty_pool
            $rusty_pool, burst-pool $burst_pool_with_pool and, on Linux, $burst_pool, too, except where differences
            are documented

Options:
  --tests     also run kompact's own tests with this crate patched in (some minutes more)
  -h, --help  show this

Projects are made in a temporary directory; what is built goes to CARGO_TARGET_DIR, or to the
workspace's target directory.
USAGE
}

clean_up() {
    local project
    # The projects' own artefacts are of no use to the next run, whose projects have other paths.
    for project in "$work"/*/Cargo.toml "$work"/*/*/Cargo.toml; do
        [[ ! -e $project ]] || cargo clean --quiet --offline --manifest-path "$project" \
            -p "$(package_name "$project")" >/dev/null 2>&1 || true
    done
    rm -rf "$work"
}

package_name() {
    sed -n '/^\[package\]/,/^name/s/^name = "\(.*\)"$/\1/p' "$1"
}

# new_project NAME PROGRAM: a package whose main.rs is PROGRAM; the rest of the manifest is read from stdin.
new_project() {
    mkdir -p "$work/$1/src"
    cp "$programs/$2" "$work/$1/src/main.rs"
    {
        printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n' "$1"
        profile_section
        cat
    } >"$work/$1/Cargo.toml"
}

# in_project NAME COMMAND ARGUMENTS...: cargo in a temporary project; limited in time.
in_project() {
    local project=$1 command=$2 seconds=$build_limit
    shift 2
    case $command in
        run) seconds=$run_limit ;;
        test) seconds=$tests_limit ;;
    esac
    limited "$seconds" cargo "$command" --manifest-path "$work/$project/Cargo.toml" "$@"
}

profile_section() {
    printf '\n[profile.dev]\ndebug = false\nincremental = false\n\n'
}

patch_section() {
    printf '\n[patch.crates-io]\nexecutors = { path = %s }\n' "'$root/executors'"
}

# --- surface ---------------------------------------------------------------------------------------------------------

# surface_project NAME DEPENDENCY
surface_project() {
    new_project "$1" surface_of_0_10.rs <<MANIFEST
[dependencies]
executors = { $2 }
core_affinity = { version = "0.8", optional = true }

[features]
pinning = ["executors/thread-pinning", "dep:core_affinity"]
numa = ["pinning", "executors/numa-aware"]
metrics = ["executors/produce-metrics"]
no-park = ["executors/ws-no-park"]
# What the optional dependencies of 0.10 implied.
implied = ["executors/async-task", "executors/crossbeam-channel", "executors/crossbeam-deque", "executors/rand"]
MANIFEST
}

check_surface() {
    local features
    surface_project surface-published "version = \"=$published\""
    surface_project surface-ours "path = '$root/executors'"
    for features in "" pinning numa,metrics,no-park implied; do
        step "compat: surface: compiles against $published [${features:-default}]" \
            in_project surface-published check --features "$features"
        step "compat: surface: compiles against this crate [${features:-default}]" \
            in_project surface-ours build --features "$features"
        step "compat: surface: runs on this crate [${features:-default}]" \
            in_project surface-ours run --features "$features"
    done
}

# --- kompact ---------------------------------------------------------------------------------------------------------

kompact_project() {
    new_project kompact-program kompact_program.rs <<MANIFEST
[dependencies]
kompact = "$kompact"

[features]
low_latency = ["kompact/low_latency"]
thread_pinning = ["kompact/thread_pinning"]
$(patch_section)
MANIFEST
}

# patch_is_used PROJECT: whether `executors` is this repository's, and no other.
patch_is_used() {
    local tree
    in_project "$1" tree --invert executors --depth 0 --prefix none >"$work/tree"
    cat "$work/tree"
    if grep --quiet "was not used in the crate graph" "$work/log"; then
        echo "the patch was not used: is the version of this crate still compatible with $published?"
        return 1
    fi
    tree=$(<"$work/tree")
    [[ $tree == "executors v"*" ($root/executors)" ]]
}

check_kompact() {
    local features
    kompact_project
    step "compat: kompact: uses this crate" patch_is_used kompact-program
    for features in "" low_latency thread_pinning; do
        step "compat: kompact: builds [${features:-default}]" in_project kompact-program build --features "$features"
        step "compat: kompact: a program runs and shuts down [${features:-default}]" \
            in_project kompact-program run --features "$features"
    done
}

# kompact's own tests, except those of compiler messages, which differ from one Rust version to the next. Some expect to
# be in the directory `core` of a workspace, and no backtraces.
check_kompact_tests() {
    local source features
    source=$(in_project kompact-program metadata --format-version 1 --quiet | tr ',' '\n' |
        sed -n 's|^"manifest_path":"\(.*/kompact-0[^/]*\)/Cargo.toml"$|\1|p')
    [[ -d $source ]] || fail "the sources of kompact were not found"
    mkdir "$work/kompact-tests"
    cp -R "$source" "$work/kompact-tests/core"
    mv "$work/kompact-tests/core/Cargo.lock" "$work/kompact-tests"
    {
        printf '[workspace]\nmembers = ["core"]\nresolver = "3"\n'
        profile_section
        patch_section
    } >"$work/kompact-tests/Cargo.toml"
    step "compat: kompact: its tests use this crate" adopt_lock_file
    for features in "" low_latency thread_pinning; do
        RUST_BACKTRACE=0 test_step "compat: kompact: its tests pass [${features:-default}]" \
            in_project kompact-tests test --features "$features" \
            --lib --test extra_component_tests --test handler_result_tests
    done
}

# kompact's lock file is kept, so that its tests see the versions they were written for, except for our own.
adopt_lock_file() {
    in_project kompact-tests update --package executors
    patch_is_used kompact-tests
}

# --- semver ----------------------------------------------------------------------------------------------------------

# What cargo-semver-checks reports and we accept: structs that are aliases now (the program of `surface` still uses
# them), and that features no longer enable those which optional dependencies implied, as these do nothing.
implied='(async-task|core_affinity|crossbeam-(channel|deque|utils)|metrics|num_cpus|rand|threadpool)'
known_findings="^  (struct executors::parker::(Small|Large|Dynamic)ThreadData,"
known_findings+="|feature [a-z-]+ no longer enables $implied\$|feature $implied in the package's Cargo.toml\$)"

check_semver() {
    if cargo semver-checks --version >/dev/null 2>&1; then
        step "compat: semver: no breaking change since $published but known ones" only_known_findings
    else
        skip "compat: semver" "cargo-semver-checks is not installed"
    fi
}

only_known_findings() {
    local status=0
    cargo semver-checks --color never --manifest-path "$root/executors/Cargo.toml" \
        --baseline-version "$published" >"$work/findings" || status=$?
    cat "$work/findings"
    # 0 means no findings, 1 that there are some or that something else failed.
    ((status == 0)) || grep --quiet '^Failed in:' "$work/findings"
    awk '/^Failed in:/ { listed = 1; next } /^$/ { listed = 0 } listed' "$work/findings" |
        if grep -vE "$known_findings"; then
            echo "the findings above are new"
            return 1
        fi
}

# --- originals -------------------------------------------------------------------------------------------------------

# original_project NAME TEST PATH: executors/tests/TEST with the crate itself in place of our module at PATH; its
# dependencies are read from stdin.
original_project() {
    mkdir -p "$work/$1/src" "$work/$1/tests"
    : >"$work/$1/src/lib.rs"
    cp -R "$root/executors/tests/support" "$work/$1/tests/support"
    # Without the condition on features; whether the module is imported by itself or as a prefix of other names.
    sed -e '/^#!\{0,1\}\[cfg(feature/d' -e "/^use $3;\$/d" -e "s/^use ${3%::*}::/use /" \
        "$root/executors/tests/$2" >"$work/$1/tests/$2"
    {
        printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n' "$1"
        profile_section
        printf "[dev-dependencies]\nexecutors = { path = '%s' }\nlibc = \"0.2\"\nlog = \"0.4\"\n" "$root/executors"
        cat
    } >"$work/$1/Cargo.toml"
}

check_originals() {
    original_project rusty-pool-original compat_rusty_pool.rs executors::compat::rusty_pool <<MANIFEST
rusty_pool = "$rusty_pool"
crossbeam-channel = "0.5"
futures = "0.3"
MANIFEST
    test_step "compat: originals: our tests of its interface pass with rusty_pool $rusty_pool" \
        in_project rusty-pool-original test
    original_project burst-pool-0-3-original compat_burst_pool_0_3.rs executors::compat::burst_pool <<MANIFEST
burst-pool = "=$burst_pool_with_pool"
MANIFEST
    # Where handlers panic, or drop the pool, it loses values or threads: see the module's documentation.
    test_step "compat: originals: our tests of its interface pass with burst-pool $burst_pool_with_pool" \
        in_project burst-pool-0-3-original test -- --skip handlers_
    if [[ $(uname -s) != Linux ]]; then
        skip "compat: originals: burst-pool $burst_pool" "it is for Linux"
        return
    fi
    original_project burst-pool-original compat_burst_pool.rs executors::compat::burst_pool <<MANIFEST
burst-pool = "=$burst_pool"
MANIFEST
    # When the sender is dropped, it loses values, whether a receiver was woken for them or not: see the module's
    # documentation.
    test_step "compat: originals: our tests of its interface pass with burst-pool $burst_pool" \
        in_project burst-pool-original test -- --skip values_that
}

main() {
    local tests=false
    while (($# > 0)); do
        case $1 in
            --tests) tests=true ;;
            -h | --help)
                usage
                exit 0
                ;;
            *) fail "unknown argument '$1'; see scripts/compat.sh --help" 2 ;;
        esac
        shift
    done

    export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}/compat
    make_work clean_up

    check_surface
    check_kompact
    if $tests; then check_kompact_tests; fi
    check_semver
    check_originals
    summary
}

main "$@"
