# shellcheck shell=bash
#
# What the scripts of this directory share. Sourced, not run.
#
work=     # temporary directory, see make_work
steps=0    # done
skipped=() # names of steps that were left out
passed=0   # tests
left_out=0 # those of them that only said why they were skipped

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

# skip NAME REASON: leaves a step out.
skip() {
    printf '%-74s skipped: %s\n' "$1" "$2"
    skipped+=("$1")
}

# summary: one line that says what was done, and names what was left out.
summary() {
    printf '%s: passed: %d steps and %d tests (%d skipped) in %d min %d s' \
        "${0##*/}" "$steps" "$passed" "$left_out" $((SECONDS / 60)) $((SECONDS % 60))
    ((${#skipped[@]} == 0)) || printf '; skipped: %s' "${skipped[0]}" "${skipped[@]:1}"
    printf '\n'
}

# count_in SUMMARY: adds what another script has done by its summary.
count_in() {
    local some
    [[ $1 =~ ' passed: '([0-9]+)' steps and '([0-9]+)' tests ('([0-9]+)' skipped)' ]] || fail "not a summary: $1"
    steps=$((steps + BASH_REMATCH[1]))
    passed=$((passed + BASH_REMATCH[2]))
    left_out=$((left_out + BASH_REMATCH[3]))
    while [[ $1 == *'; skipped: '* ]]; do
        set -- "${1#*; skipped: }"
        some=${1%%; skipped: *}
        skipped+=("$some")
    done
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

# test_step NAME COMMAND...: a step whose command runs tests; shows the runner's closing lines, and which tests have said
# why they are skipped. (For that, the command asks for --show-output.)
test_step() {
    local some
    step "$@"
    grep 'test result:' "$work/log" || true
    awk '
        /^---- .* stdout ----$/ { test = $2 }
        /^skipped: / && test { print test ": " $0; test = "" }
        /^test result:/ { test = "" }
    ' "$work/log" >"$work/left_out"
    cat "$work/left_out"
    left_out=$((left_out + $(wc -l <"$work/left_out")))
    some=$(awk '/test result: ok/ { sum += $4 } END { print sum + 0 }' "$work/log")
    ((some > 0)) || fail "no test was run"
    passed=$((passed + some))
}

# limited SECONDS COMMAND...: runs the command for at most that long, where the system can limit it.
limited() (
    if ! command -v timeout >/dev/null; then
        shift
        "$@"
        return
    fi
    # `timeout` moves the command to a process group of its own, which a Ctrl-C does not reach, so we pass that on. In
    # the background, because the shell obeys a trap in the middle of `wait`, but not of a command.
    trap 'kill "$!" || true; wait "$!" || true; trap - INT; kill -INT "$BASHPID"' INT
    timeout "$@" &
    wait "$!"
)
