# Fails if a cache line took much longer from core to core than it can, for a part of the time or throughout. Variable:
# nearest, the least nanoseconds in any load.

cell("handover_p90_ns") + 0 > most { most = cell("handover_p90_ns") + 0 }
cell("handover_p10_ns") != "" && (!nearest || cell("handover_p10_ns") + 0 < nearest) { nearest = cell("handover_p10_ns") + 0 }
END {
    print nearest
    exit most > 2 * nearest
}
