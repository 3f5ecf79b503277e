# Reads the CSV files of executor-performance by the names of their columns. Given to awk before the program that uses
# it.

# Splits a line into fields[1...], respecting quotes.
function split_csv(line, fields,    n, i, c, quoted) {
    split("", fields)
    n = 1
    fields[n] = ""
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) fields[++n] = ""
        else fields[n] = fields[n] c
    }
    return n
}

# The text in the column of that name in this row. To compare it as a number, add 0.
function cell(name) { return (name in place) ? field[place[name]] : "" }

# The column by which the tool compares rows: the first figure.
function figure() { return titles[place["samples"] + 1] }

# The column of the CPU time.
function cpu(    i) {
    for (i = 1; i <= columns; i++) if (titles[i] ~ /^cpu_/) return titles[i]
}

function is_rate(name) { return name ~ /per_s$/ }

# The unit in which tables show a figure of that column, and what the figure is multiplied by for that.
function unit(name) { return is_rate(name) ? "M/s" : name ~ /_us(_per_[a-z]+)?$/ ? "us" : "ns" }
function scale(name) { return is_rate(name) ? 1e-6 : 1 }

# The value with no more digits than mean something.
function digits(value) {
    if (value == "") return ""
    value += 0
    return sprintf(value < 0.1 ? "%.2g" : value < 10 ? "%.2f" : value < 100 ? "%.1f" : "%.0f", value)
}

FNR == 1 {
    split("", place)
    columns = split_csv($0, titles)
    for (i = 1; i <= columns; i++) place[titles[i]] = i
    next
}
{ split_csv($0, field) }
