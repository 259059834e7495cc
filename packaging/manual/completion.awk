# Turns what --help prints of every verb into the words that completion.bash wants. Before each
# stands "VERB words".
function add(to, word) { return to == "" ? word : to " " word }

# "--mode MODE:{a,b}": the words it takes; "--config FILE": a file; "--limit N:INT": anything.
function value_of(name) {
  if (name ~ /^--(db|schema|prefix)$/) return
  if (match($0, /:\{[^}]*\}/)) {
    choices = substr($0, RSTART + 2, RLENGTH - 3)
    gsub(/,/, " ", choices)
    chosen = chosen "        '" verb " " name "') echo '" choices "' ;;\n"
  } else if ($2 == "FILE") {
    files[verb] = name
  } else if ($2 ~ /^[A-Z][A-Z-]*(:|$)/ && $2 != "A") {
    any[verb] = any[verb] (any[verb] == "" ? "" : " | ") "'" verb " " name "'"
  }
}

/^VERB / {
  verb = substr($0, 6)
  order[++count] = verb
  if (split(verb, part, " ") == 2) {
    if (!(part[1] in seconds)) {
      first = add(first, part[1])
      group[++groups] = part[1]
    }
    seconds[part[1]] = add(seconds[part[1]], part[2])
  } else {
    first = add(first, verb)
  }
  next
}

/^  -/ {
  n = split($1, name, ",")
  for (i = 1; i <= n; ++i) {
    sub(/\{.*/, "", name[i])
    if (name[i] !~ /^--/) continue
    options[verb] = add(options[verb], name[i])
    value_of(name[i])
  }
}

END {
  print "_daybook_words() {\n    case $1 in"
  printf "        '') echo '%s help --help --version --db --schema --prefix' ;;\n", first
  for (i = 1; i <= groups; ++i) printf "        '%s') echo '%s' ;;\n", group[i], seconds[group[i]]
  for (i = 1; i <= count; ++i) printf "        '%s') echo '%s' ;;\n", order[i], options[order[i]]
  print "    esac\n}\n"
  print "_daybook_values() {\n    case $1 in"
  print "        *' --db' | *' --schema' | *' --prefix') echo '<any>' ;;"
  for (i = 1; i <= count; ++i) {
    if (order[i] in files) printf "        '%s %s') echo '<file>' ;;\n", order[i], files[order[i]]
    if (order[i] in any) printf "        %s) echo '<any>' ;;\n", any[order[i]]
  }
  printf "%s    esac\n}\n", chosen
}
