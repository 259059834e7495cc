# Turns what --help prints into roff: each verb's as a subsection. Before each stands "VERB words".
#   -v common=yes   only the options that every verb has, which are left out else
#   -v only=VERB    that verb only, without a heading
function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  if (text ~ /^[.']/) text = "\\&" text
  return text
}

function is_common(tag) { return tag ~ /^--(db|schema|prefix) / || tag ~ /^-h,/ }

# What the parser prints behind a name, in words of a sentence.
function print_entry(tag, text, positional) {
  if (is_common(tag) != (common == "yes")) return
  if (positional) {
    several = tag ~ / \.\.\. / ? "..." : ""
    sub(/ .*/, "", tag)
    tag = tag several
  } else {
    if (match(tag, / in \[[^]]*\]/)) {
      text = text ". From " substr(tag, RSTART + 5, RLENGTH - 6)
      sub(/ - /, " to ", text)
    }
    if (match(tag, /Excludes: [^:]*$/)) text = text ". Not with " substr(tag, RSTART + 10)
    sub(/ (Excludes|Needs|REQUIRED).*/, "", tag)
    sub(/:.*/, "", tag)
    gsub(/\{false\}/, "", tag)
    gsub(/,/, ", ", tag)
  }
  print ".TP\n.B " roff(tag) "\n" roff(text)
}

function print_verb(    i, text, positional, tag, first) {
  if (only != "" && verb != only) return
  if (common == "yes" && verb != "doctor") return
  i = 1
  for (text = ""; i <= count && line[i] !~ /^Usage: /; ++i) text = text (text == "" ? "" : " ") line[i]
  if (common != "yes") {
    if (only == "") print ".SS " roff(verb)
    print ".B " roff(substr(line[i], 8)) "\n.PP\n" roff(text)
  }
  for (++i; i <= count; ++i) {
    if (line[i] == "Positionals:" || line[i] == "Options:") {
      positional = line[i] == "Positionals:"
      first = 1
    } else if (first && line[i] ~ /^  [^ ]/) {
      if (line[i + 1] ~ /^                    [^ ]/) {
        print_entry(substr(line[i], 3), substr(line[i + 1], 21), positional)
        ++i
      } else if (length(line[i]) > 20 && substr(line[i], 20, 1) == " ") {
        tag = substr(line[i], 3, 17)
        sub(/ +$/, "", tag)
        print_entry(tag, substr(line[i], 21), positional)
      } else {
        print_entry(substr(line[i], 3), "", positional)
      }
    } else if (common != "yes" && first) {
      if (line[i] ~ /^--/ && line[i - 1] != "") print ".br"
      print line[i] == "" ? (line[i + 1] ~ /^[^ PO]|^[PO][^po]/ ? ".PP" : "") : roff(line[i])
    }
  }
}

/^VERB / {
  if (count) print_verb()
  verb = substr($0, 6)
  count = 0
  next
}
{ line[++count] = $0 }
END { print_verb() }
