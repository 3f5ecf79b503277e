# A line for each run: how many times as fast this version's pools are as those of 0.10.0, each followed by the same
# ratio of the CPU time. Above 1 this version is better. Variable: load, a name.

cell("status") != "ok" { next }
{
    shown = is_rate(figure()) ? figure() : "p50_us"
    key = load " | " cell("producers") " x " cell("messages_per_producer") " x (1 + " cell("amplification") ") | " cell("threads")
    if (!(key in known)) {
        known[key]
        order[++rows] = key
    }
    speed[key, cell("executor")] = cell(shown)
    cost[key, cell("executor")] = cell(cpu())
}
END {
    pools = split("threadpool channel workstealing", pool, " ")
    for (i = 1; i <= rows; i++) {
        line = "| " order[i] " |"
        for (j = 1; j <= pools; j++) {
            new = order[i] SUBSEP pool[j]
            old = order[i] SUBSEP "published-" pool[j]
            if (!(new in speed) || !(old in speed)) line = line " failed | |"
            else line = line sprintf(" %.2f | %.2f |",
                is_rate(shown) ? speed[new] / speed[old] : speed[old] / speed[new], cost[old] / cost[new])
        }
        print line
    }
}
