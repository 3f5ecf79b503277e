# shellcheck shell=bash
#
# The pages of the documentation that show tables.
# Sourced by results.sh, not run.

pages=(README.md docs/bias.md docs/methodology.md docs/reproducing.md docs/results/*.md)
begin_table='<!-- table: '
end_table='<!-- end of table -->'

# rewritten PAGE: prints the page with the tables of the records. A table without records stays as it is.
rewritten() {
    local line name words=''
    while IFS= read -r line; do
        if [[ $line == "$end_table" ]]; then
            [[ -n $words ]] || fail "$1: '$end_table' without a beginning"
            words=
        elif [[ $words == replaced ]]; then
            continue
        fi
        printf '%s\n' "$line"
        if [[ $line == "$begin_table"* ]]; then
            name=${line#"$begin_table"}
            name=${name% -->}
            words=kept
            read -ra name <<<"$name"
            [[ " ${parts[*]} " == *" ${name[0]} "* ]] || fail "$1: no part is called ${name[0]}"
            unmeasured=
            table "${name[@]}" >"$work/table"
            if [[ -n $unmeasured ]]; then
                printf '%s: nothing is measured yet for %s\n' "$1" "${name[*]}" >&2
                missing=1
            elif [[ -s $work/table ]]; then
                cat "$work/table"
                words=replaced
            else
                fail "$1: there is no table ${name[*]}"
            fi
        fi
    done <"$1"
    [[ -z $words ]] || fail "$1: a table without '$end_table'"
}

insert() {
    local page
    for page in "${pages[@]}"; do
        rewritten "$page" >"$work/page"
        cmp --quiet "$work/page" "$page" || cat "$work/page" >"$page"
    done
}

check() {
    local page stale=0 missing=0
    for page in "${pages[@]}"; do
        rewritten "$page" >"$work/page"
        diff -u --label "$page" --label "$page, as the records have it" "$page" "$work/page" || stale=1
    done
    ((missing == 0)) || fail "tables without records: scripts/results.sh measures them"
    ((stale == 0)) || fail "tables differ from their records: scripts/results.sh --insert puts them right"
}

# Prints the tables of a part, whichever pages they are on.
print_tables() {
    local page line words
    for page in "${pages[@]}"; do
        while IFS= read -r line; do
            [[ $line == "$begin_table$1 "* ]] || continue
            line=${line#"$begin_table"}
            read -ra words <<<"${line% -->}"
            printf '\n%s\n\n' "${words[*]}"
            table "${words[@]}"
        done <"$page"
    done
}
