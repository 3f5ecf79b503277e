# How far apart the executors of each file are, with two threads.

cell("status") == "ok" && cell("threads") == 2 {
    rate = cell(figure()) + 0
    handover[FILENAME] = sprintf("%.0f-%.0f", cell("handover_p10_ns"), cell("handover_p90_ns"))
    if (!(FILENAME in fastest)) files[++count] = FILENAME
    if (!(FILENAME in fastest) || rate > fastest[FILENAME]) {
        fastest[FILENAME] = rate
        first[FILENAME] = cell("executor")
    }
    if (!(FILENAME in slowest) || rate < slowest[FILENAME]) {
        slowest[FILENAME] = rate
        last[FILENAME] = cell("executor")
    }
}

# In a unit that leaves three digits or four.
function per_second(rate) {
    return rate < 1e6 ? sprintf("%d/s", rate) : digits(rate / 1e6) " M/s"
}

END {
    split("none,1 us,1 ms", work, ",")
    print "| work of a job | the fastest | the slowest | ratio | line, ns |"
    print "|---|---:|---:|---:|---:|"
    for (i = 1; i <= count; i++) {
        file = files[i]
        printf "| %s | %s %s | %s %s | %.2f | %s |\n", work[i], first[file], per_second(fastest[file]), last[file],
            per_second(slowest[file]), fastest[file] / slowest[file], handover[file]
    }
}
