# A line for each load of a file: the work-stealing pool, the channel pool, the best pool of another crate, and how many
# times as much that one takes. Variables: name, of the load; by, the column in which its runs differ, and words, what
# that column counts; column, if rows are compared by another column than the first figure.

# How many times as much as the best of the run, by the figure that the tool compares, with its interval.
function slowdown(shown) {
    # The tool has not compared them by another figure; where probes may starve, it compares their medians.
    return shown == figure() && !("starved_probes" in place) ? cell("slowdown_to_best") " " cell("slowdown_low95") " " cell("slowdown_high95") : ""
}

# The ratio of the best peer to the work-stealing pool as the tool has compared them, process by process, with its
# interval, if one of the two is the best of its run. Else the ratio of the figures shown, without an interval.
function compared(shown_ratio, ours, peers,    our, peer) {
    split(ours, our, " ")
    split(peers, peer, " ")
    if (our[1] + 0 == 1 && peer[2] != "") return sprintf("%.2f | %.2f-%.2f", peer[1], peer[2], peer[3])
    if (peer[1] + 0 == 1 && our[2] != "") return sprintf("%.2f | %.2f-%.2f", 1 / our[1], 1 / our[3], 1 / our[2])
    return sprintf("%.2f | ", shown_ratio)
}

# A number of things; `words` is their plural.
function counted(number, words) {
    return number " " (number == 1 ? substr(words, 1, length(words) - 1) : words)
}

{
    shown = column != "" ? column : figure()
    # An experiment may give several tables, which differ in one of the settings.
    key = cell("workload") SUBSEP (by != "" ? cell(by) : "")
    if (!(key in known)) {
        known[key]
        order[++loads] = key
        title[key] = name (by != "" ? ", " counted(cell(by), words) : "") (cell("workload") != "" ? ", " cell("workload") : "")
    }
    value = cell(shown) * scale(shown)
    pool = cell("executor")
}
cell("status") != "ok" || cell(shown) == "" { failed[key] = failed[key] " " pool; next }
pool == "channel" { channel[key] = value; channel_cpu[key] = cell(cpu()); next }
pool == "workstealing" {
    ours[key] = value
    ours_cpu[key] = cell(cpu())
    our_slowdown[key] = slowdown(shown)
    next
}
pool ~ /^(workstealing|elastic|burst|dispatcher|compat-|threadpool$|reference-)/ { next }
# What it costs to start threads with jobs is shown only where pools are built.
pool ~ /^rusty_pool-/ && cell("experiment") != "lifecycle" { next }
{
    more = is_rate(shown)
    if (!(key in best) || (more ? value > best[key] : value < best[key])) {
        best[key] = value
        best_cpu[key] = cell(cpu())
        peer[key] = pool
        slowdown_of_best[key] = slowdown(shown)
    }
}
END {
    for (i = 1; i <= loads; i++) {
        key = order[i]
        ratio = (key in best) && (key in ours) ? (more ? ours[key] / best[key] : best[key] / ours[key]) : 0
        # Jobs of a millisecond do not come to millions in a second.
        slow = is_rate(shown) && ours[key] < 0.01
        factor = slow ? 1 / scale(shown) : 1
        printf "| %s | %s | %s (%s) | %s (%s) | %s %s (%s) | %s | %s |\n", title[key], slow ? "/s" : unit(shown),
            digits(ours[key] * factor), digits(ours_cpu[key]), digits(channel[key] * factor), digits(channel_cpu[key]), peer[key], digits(best[key] * factor),
            digits(best_cpu[key]), compared(ratio, our_slowdown[key], slowdown_of_best[key]),
            substr(failed[key], 2)
    }
}
