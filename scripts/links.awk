# Prints the links between pages that lead nowhere. All pages are read twice: as `pass=1` for their headings, as
# `pass=2` for their links.

BEGIN { repository = "https://github.com/Bathtor/rust-executors/blob/master/" }

# The anchor of a heading.
function anchor(title) {
    gsub(/[`*[]|\]\([^)]*\)/, "", title)
    title = tolower(title)
    gsub(/[^a-z0-9_ -]/, "", title)
    gsub(/ /, "-", title)
    return title
}
function without_steps_back(path) {
    while (sub(/[^\/.][^\/]*\/\.\.\//, "", path)) {}
    return path
}
function is_there(path) {
    if (!(path in there)) there[path] = system("test -e \"" path "\"") == 0
    return there[path]
}
FNR == 1 {
    folder = FILENAME
    sub(/[^\/]*$/, "", folder)
    in_code = 0
}
/^```/ { in_code = !in_code }
in_code { next }
pass == 1 {
    if (sub(/^##* /, "")) anchors[FILENAME "#" anchor($0)]
    next
}
{
    while (match($0, /\]\([^) ]+[) ]/)) {
        link = substr($0, RSTART + 2, RLENGTH - 3)
        $0 = substr($0, RSTART + RLENGTH)
        split(link, parts, "#")
        if (index(link, repository) == 1) path = substr(parts[1], length(repository) + 1)
        else if (link ~ /^[a-z]+:/) continue
        else path = parts[1] == "" ? FILENAME : without_steps_back(folder parts[1])
        is_heading = index(link, "#") && path ~ /\.md$/
        if (!is_there(path) || is_heading && !(path "#" parts[2] in anchors)) {
            print FILENAME ":" FNR ": " link
            bad = 1
        }
    }
}
END { exit bad }
