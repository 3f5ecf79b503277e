# Sentences that say when, from which commit and where the files were made.

function note(value, range) {
    if (value == "") return
    if (!(range in least) || value + 0 < least[range]) least[range] = value + 0
    if (!(range in most) || value + 0 > most[range]) most[range] = value + 0
}
function between(range, format) {
    if (least[range] == most[range]) return sprintf(format, least[range])
    return sprintf(format " to " format, least[range], most[range])
}
{
    day = substr(cell("time_utc"), 1, 10)
    if (first == "" || day < first) first = day
    if (day > last) last = day
    if (!(cell("git") in gits)) {
        gits[cell("git")]
        commit = commit (commit == "" ? "" : ", ") cell("git")
    }
    machine = cell("machine") " with " cell("cores") " cores, " cell("system")
    if (!(machine in machines)) {
        machines[machine]
        where = where (where == "" ? "" : "; and on one with ") machine
    }
    note(cell("load_average"), "load")
    note(cell("other_busy_cores"), "others")
    note(cell("stolen_percent"), "stolen")
    note(cell("handover_p10_ns"), "handover")
    note(cell("handover_p90_ns"), "handover")
}
END {
    printf "Made on %s%s, at commit %s, on a machine with %s.\n", first, last == first ? "" : " to " last,
        commit == "" ? "unknown" : commit, where
    printf "The load average before was %s", between("load", "%.1f")
    if ("others" in most) printf "; meanwhile other processes kept at most %.2f cores busy", most["others"]
    if ("stolen" in most) printf ", and at most %.1f %% of the time was not given to the virtual machine", most["stolen"]
    print "."
    if ("handover" in most) print "A cache line took " between("handover", "%.0f") " ns from core to core (10th to 90th percentile of the looks)."
}
