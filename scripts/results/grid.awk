# The first figure of each executor, and in brackets its CPU time, by the column `by`, whose values are titled `words`.
# With `across` set, executors are side by side, else one below the other. Variables: only, executors to be shown,
# separated by commas (all, if there are none); plain, to leave out the CPU time; over and under, two executors whose
# ratio is the last line.

BEGIN {
    listed = split(only, name, ",")
    for (i = 1; i <= listed; i++) {
        wanted[name[i]]
        note_executor(name[i])
    }
}
function note_executor(executor) {
    if (!(executor in known)) {
        known[executor]
        executors[++rows] = executor
    }
}
listed && !(cell("executor") in wanted) { next }
{
    note_executor(cell("executor"))
    if (!(cell(by) in met)) {
        met[cell(by)]
        points[++count] = cell(by)
    }
    key = cell("executor") SUBSEP cell(by)
    figure_of[key] = cell(figure())
    text[key] = digits(cell(figure()) * scale(figure())) (plain ? "" : " (" digits(cell(cpu())) ")")
    if (cell("status") != "ok") text[key] = "failed"
}
END {
    line = across ? "| " words " |" : "| executor |"
    rule = "|---" (across ? ":" : "") "|"
    for (i = 1; i <= (across ? rows : count); i++) {
        line = line " " (across ? executors[i] : points[i] (i == 1 && words != "" ? " " words : "")) " |"
        rule = rule "---:|"
    }
    print line
    print rule
    for (r = 1; r <= (across ? count : rows); r++) {
        line = across ? "| " points[r] " |" : "| `" executors[r] "` |"
        for (i = 1; i <= (across ? rows : count); i++) {
            line = line " " (across ? text[executors[i], points[r]] : text[executors[r], points[i]]) " |"
        }
        print line
    }
    if (over != "") {
        line = "| *`" over "` by `" under "`* |"
        for (i = 1; i <= count; i++) {
            low = figure_of[under, points[i]]
            line = line (low > 0 ? sprintf(" %.2f |", figure_of[over, points[i]] / low) : " |")
        }
        print line
    }
}
