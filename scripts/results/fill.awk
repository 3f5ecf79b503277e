# Fills a form: replaces what is in braces by the figure that it names. In braces are the name of a file, an executor, a
# column (or `-`: the first figure), and, where the file has several rows of that executor, what tells them apart, as in
# {elastic/empty rusty_pool -} or {reproducing/outside channel - threads=2}.
# Variables: form, and folder, in which the files are.

{
    file = substr(FILENAME, length(folder) + 2)
    sub(/\.csv$/, "", file)
    for (i = 1; i <= columns; i++) {
        name = titles[i]
        value = cell(name)
        if (cell("status") != "ok") value = "failed"
        # Columns of figures come after the number of samples.
        else if (i > place["samples"]) value = value == "" ? "" : digits(value * scale(name))
        keep(name)
        if (name == figure()) keep("-")
    }
}
function keep(name,    by, known, j) {
    known = split("threads chains producers amplification", by, " ")
    figures[file " " cell("executor") " " name] = value
    for (j = 1; j <= known; j++) figures[file " " cell("executor") " " name " " by[j] "=" cell(by[j])] = value
}
END {
    while ((getline line <form) > 0) {
        while (match(line, /\{[^}]*\}/)) {
            key = substr(line, RSTART + 1, RLENGTH - 2)
            if (!(key in figures)) {
                printf "%s: nothing was measured that is called %s\n", form, key >"/dev/stderr"
                exit 1
            }
            line = substr(line, 1, RSTART - 1) figures[key] substr(line, RSTART + RLENGTH)
        }
        print line
    }
}
