# Fails if a cache line took much longer from core to core for a part of the time.

cell("handover_p90_ns") + 0 > 2 * cell("handover_p10_ns") { far = 1 }
END { exit far }
