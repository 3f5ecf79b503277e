# A line for each row of a file whose column `by` is `value` (all, without these), with the columns that are named in
# `show`, each with a title after a colon. `x` is how many times as much the row costs as the row `reference`,
# process by process; `range` is the 95 % interval in the two columns that it names; `x95` is the interval of `x`, which
# is known where `reference` is the best.

BEGIN {
    shown = split(show, part, ",")
    head = "| executor |"
    rule = "|---|"
    for (i = 1; i <= shown; i++) {
        split(part[i], pair, ":")
        column[i] = pair[1]
        head = head " " (2 in pair ? pair[2] : pair[1]) " |"
        rule = rule "---:|"
        delete pair[2]
    }
    print head
    print rule
}
by != "" && cell(by) != value { next }
{
    order[++rows] = cell("executor")
    if (cell("status") == "ok") slowdown[rows] = cell("slowdown_to_best")
    if (cell("executor") == reference) reference_slowdown = slowdown[rows]
    for (i = 1; i <= shown; i++) {
        if (column[i] == "x95") content[rows, i] = sprintf("%.2f-%.2f", cell("slowdown_low95"), cell("slowdown_high95"))
        else if (column[i] ~ /^range /) {
            split(column[i], ends, " ")
            content[rows, i] = digits(cell(ends[2])) "-" digits(cell(ends[3]))
        } else content[rows, i] = digits(cell(column[i]))
        if (cell("status") != "ok") content[rows, i] = i > 1 ? "" : cell("status") == "failed" ? "failed" : "not measured"
    }
}
END {
    for (r = 1; r <= rows; r++) {
        line = "| `" order[r] "` |"
        for (i = 1; i <= shown; i++) {
            text = content[r, i]
            if (column[i] == "x") text = slowdown[r] && reference_slowdown ? sprintf("%.2f", slowdown[r] / reference_slowdown) : ""
            if (column[i] == "x95" && (reference_slowdown + 0 != 1 || order[r] == reference)) text = ""
            line = line " " text " |"
        }
        print line
    }
}
