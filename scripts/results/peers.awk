# A line for each load of a file: the work-stealing pool, the channel pool, the best pool of another crate, and how many
# times as much that one takes. Variables: name, of the load; by, the column in which its runs differ, and words, what
# that column counts; column, if rows are compared by another column than the first figure, which the tool has not
# compared.

# How many times as much as the best of the run: process by process, with its interval, as the tool has compared them.
# By another figure, that figure.
function slowdown(shown) {
    if (shown == figure()) return cell("slowdown_to_best") " " cell("slowdown_low95") " " cell("slowdown_high95")
    return is_rate(shown) ? 1 / cell(shown) : cell(shown)
}

# The ratio of the best peer to the work-stealing pool, with its interval if one of the two is the best of its run. The
# interval of others is not known.
function compared(ours, peers,    our, peer, ratio) {
    if (ours == "" || peers == "") return " | "
    split(ours, our, " ")
    split(peers, peer, " ")
    ratio = sprintf("%.2f | ", peer[1] / our[1])
    if (our[1] + 0 == 1 && peer[2] != "") return ratio sprintf("%.2f-%.2f", peer[2], peer[3])
    if (peer[1] + 0 == 1 && our[2] != "") return ratio sprintf("%.2f-%.2f", 1 / our[3], 1 / our[2])
    return ratio
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
    if (!(key in best) || slowdown(shown) + 0 < slowdown_of_best[key] + 0) {
        best[key] = value
        best_cpu[key] = cell(cpu())
        peer[key] = pool
        slowdown_of_best[key] = slowdown(shown)
    }
}
END {
    for (i = 1; i <= loads; i++) {
        key = order[i]
        # Jobs of a millisecond do not come to millions in a second.
        slow = is_rate(shown) && ours[key] < 0.01
        factor = slow ? 1 / scale(shown) : 1
        printf "| %s | %s | %s (%s) | %s (%s) | %s %s (%s) | %s | %s |\n", title[key], slow ? "/s" : unit(shown),
            digits(ours[key] * factor), digits(ours_cpu[key]), digits(channel[key] * factor), digits(channel_cpu[key]), peer[key], digits(best[key] * factor),
            digits(best_cpu[key]), compared(our_slowdown[key], slowdown_of_best[key]),
            substr(failed[key], 2)
    }
}
