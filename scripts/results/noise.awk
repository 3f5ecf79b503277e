# The figures of two files beside each other.

cell("status") != "ok" { next }
FILENAME != previous {
    files++
    previous = FILENAME
}
files == 1 {
    order[++rows] = cell("executor")
    first[cell("executor")] = cell(figure())
    low[cell("executor")] = cell("low95_jobs_per_s")
    high[cell("executor")] = cell("high95_jobs_per_s")
}
files == 2 { second[cell("executor")] = cell(figure()) }
END {
    print "| executor | first, M/s | its 95 % | second, M/s | change of the rate |"
    print "|---|---:|---:|---:|---:|"
    for (i = 1; i <= rows; i++) {
        pool = order[i]
        printf "| `%s` | %s | %s-%s | %s | %+.1f %% |\n", pool, digits(first[pool] * 1e-6), digits(low[pool] * 1e-6),
            digits(high[pool] * 1e-6), digits(second[pool] * 1e-6), 100 * (second[pool] / first[pool] - 1)
    }
}
