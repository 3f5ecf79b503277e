# A line for each load of a file: one of our pools, the best of its peers, and how many times as much that one takes.
# Variables: pool, which of ours; kind, a pattern of the peers that count, if not all do; name, of the load; by, the
# column in which its runs differ, and words, what that column counts; column, if rows are compared by another column
# than the first figure, which the tool has not compared.

BEGIN { ours_only = "^(workstealing|channel|elastic|burst|dispatcher|compat-|threadpool$|reference-)" }

# How many times as much as the best of the run: process by process, with its interval, as the tool has compared them.
# By another figure, that figure.
function slowdown(shown) {
    if (shown == figure()) return cell("slowdown_to_best") " " cell("slowdown_low95") " " cell("slowdown_high95")
    return is_rate(shown) ? 1 / cell(shown) : cell(shown)
}

# The ratio of the best peer to the pool, its interval if one of the two is the best of its run, and what docs/results/
# peers.md calls that. The interval of others is not known, but it is within that which their intervals make together.
function compared(ours, peers,    our, peer, ratio, low, high, shown) {
    if (ours == "" || peers == "") return " | | "
    split(ours, our, " ")
    split(peers, peer, " ")
    ratio = low = high = peer[1] / our[1]
    if (our[2] != "" && peer[2] != "") {
        low = peer[2] / our[3]
        high = peer[3] / our[2]
        if (our[1] + 0 == 1 || peer[1] + 0 == 1) shown = sprintf("%.2f-%.2f", low, high)
    }
    return sprintf("%.2f | %s | %s", ratio, shown, verdict(ratio, low, high))
}

function verdict(ratio, low, high) {
    if (low < 0.95 && high > 1.05) return "unsure"
    return ratio < 0.95 ? "*behind*" : ratio > 1.05 ? "first" : "level"
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
    executor = cell("executor")
    handover[key] = sprintf("%.0f-%.0f", cell("handover_p10_ns"), cell("handover_p90_ns"))
}
cell("status") != "ok" || cell(shown) == "" {
    if (executor == pool || executor ~ kind) failed[key] = failed[key] " " executor
    next
}
executor == pool {
    ours[key] = value
    ours_cpu[key] = cell(cpu())
    our_slowdown[key] = slowdown(shown)
}
executor ~ ours_only || executor !~ kind { next }
# What it costs to start threads with jobs is shown only where pools are built.
executor ~ /^rusty_pool-/ && cell("experiment") != "lifecycle" { next }
!(key in best) || slowdown(shown) + 0 < slowdown_of_best[key] + 0 {
    best[key] = value
    best_cpu[key] = cell(cpu())
    peer[key] = executor
    slowdown_of_best[key] = slowdown(shown)
}
END {
    for (i = 1; i <= loads; i++) {
        key = order[i]
        if (!(key in best)) continue
        # Jobs of a millisecond do not come to millions in a second.
        slow = is_rate(shown) && ours[key] < 0.01
        factor = slow ? 1 / scale(shown) : 1
        printf "| %s | %s | %s (%s) | %s %s (%s) | %s | %s | %s |\n", title[key], slow ? "/s" : unit(shown),
            digits(ours[key] * factor), digits(ours_cpu[key]), peer[key], digits(best[key] * factor),
            digits(best_cpu[key]), compared(our_slowdown[key], slowdown_of_best[key]), handover[key], substr(failed[key], 2)
    }
}
