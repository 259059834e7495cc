# Turns one section (-v wanted=TITLE, a heading of level two) of our documents into roff. It knows
# what those use: paragraphs, lists, tables, code. A row of a table is a term with its meaning.
function escaped(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  return text
}

# Links are their text; `code` is bold, *stress* italic.
function inline(text,    out, part, i, n, link) {
  while (match(text, /\[[^]\[]*\]\([^)]*\)/)) {
    link = substr(text, RSTART + 1, RLENGTH - 1)
    sub(/\]\([^)]*\)$/, "", link)
    text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
  }
  n = split(text, part, "`")
  out = ""
  for (i = 1; i <= n; ++i) {
    if (i % 2 == 0) {
      out = out "\\fB" escaped(part[i]) "\\fR"
      continue
    }
    gsub(/\\/, "\\e", part[i])
    while (match(part[i], /\*[^* ][^*]*\*/)) {
      part[i] = substr(part[i], 1, RSTART - 1) "\\fI" substr(part[i], RSTART + 1, RLENGTH - 2) "\\fR" \
                substr(part[i], RSTART + RLENGTH)
    }
    out = out part[i]
  }
  return out ~ /^[.']/ ? "\\&" out : out
}

function row(    cell, n, i, text) {
  text = $0
  gsub(/^\| *| *\|$/, "", text)
  n = split(text, cell, / *\| */)
  if (!in_table) {
    in_table = 1
    for (i = 1; i <= n; ++i) title[i] = cell[i]
    if (title[1] != "") print ".PP\n" inline(title[1]) ":"
    return
  }
  if (text ~ /^-+( *\||$)/) return
  print ".TP\n" inline(cell[1]) "\n" inline(cell[2])
  for (i = 3; i <= n; ++i) {
    if (cell[i] == "") continue
    if (cell[i] == "required") print "(required)"
    else print ".br\n" inline(title[i]) ": " inline(cell[i])
  }
}

function code_begins() { if (!in_code) print ".PP\n.RS 4\n.nf"; in_code = 1 }
function code_ends() { if (in_code) print ".fi\n.RE"; in_code = 0 }
function code(text) {
  text = escaped(text)
  print text ~ /^[.']/ ? "\\&" text : text
}

/^## / { inside = substr($0, 4) == wanted; if (inside) print ".SH " toupper(wanted); next }
/^# / { inside = 0 }
!inside || /^<!-- / { next }
/^```/ {
  fenced = !fenced
  if (fenced) code_begins()
  else code_ends()
  next
}
fenced { code($0); next }
/^    / { code_begins(); code(substr($0, 5)); next }
in_code && /^$/ { blank = 1; code_ends(); next }
{ code_ends() }
!/^\|/ { in_table = 0 }
/^### / { print ".SS " inline(substr($0, 5)); next }
/^\|/ { row(); next }
/^\* / { print ".IP \\(bu 2\n" inline(substr($0, 3)); next }
/^[0-9]+\. / { print ".IP " $1 " 4\n" inline(substr($0, length($1) + 2)); next }
/^$/ { paragraph = 1; next }
paragraph && !/^  / { print ".PP"; }
{ paragraph = 0; sub(/^ +/, ""); print inline($0) }
