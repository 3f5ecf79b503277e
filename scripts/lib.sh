# shellcheck shell=bash
#
# What the scripts of this directory share. Sourced, not run.
#
work=     # temporary directory, see make_work
steps=0   # done
skipped=0 # left out because something is not installed
passed=0  # tests

# make_work CLEAN_UP: makes the temporary directory; CLEAN_UP is called at the end, to remove it.
make_work() {
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # the command is known now
    trap "$1" EXIT
}

# fail MESSAGE [STATUS]
fail() {
    printf '%s: %s\n' "${0##*/}" "$1" >&2
    exit "${2:-1}"
}

skip() {
    printf '%-74s skipped\n' "$1"
    skipped=$((skipped + 1))
}

# step NAME COMMAND...: runs the command quietly, and shows its output if it fails. $work/log has it afterwards.
step() {
    local name=$1 start=$SECONDS status
    shift
    printf '%-74s ' "$name"
    # In a condition, `set -e` would have no effect inside the command.
    set +e
    (
        set -e
        "$@"
    ) >"$work/log" 2>&1 </dev/null
    status=$?
    set -e
    if ((status != 0)); then
        printf ' FAILED\n'
        cat "$work/log"
        printf '\nFAILED with exit code %d: %s: %s\n' "$status" "$name" "$*"
        exit 1
    fi
    printf '%5d s\n' $((SECONDS - start))
    steps=$((steps + 1))
}

# test_step NAME COMMAND...: a step whose command runs tests; shows the runner's closing lines.
test_step() {
    local some
    step "$@"
    grep 'test result:' "$work/log" || true
    some=$(awk '/test result: ok/ { sum += $4 } END { print sum + 0 }' "$work/log")
    ((some > 0)) || fail "no test was run"
    passed=$((passed + some))
}

# limited SECONDS COMMAND...: runs the command for at most that long, where the system can limit it.
limited() {
    if command -v timeout >/dev/null; then
        timeout "$@"
    else
        shift
        "$@"
    fi
}
