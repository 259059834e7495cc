# Completion of the daybook command for bash: verbs, their options, and what those take. The words
# (_daybook_words, _daybook_values) are made by packaging/manual/write and stand above.

# Where in COMP_WORDS the verb stands; bash makes three words of `--db=URL` and of `sqlite:FILE`.
_daybook_verb() {
    local i
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
            --db | --schema | --prefix) if [[ ${COMP_WORDS[++i]} == = ]]; then i=$((i + 1)); fi ;;
            = | :) i=$((i + 1)) ;;
            -*) ;;
            help) ;;
            *) echo "$i" && return ;;
        esac
    done
    echo 0
}

_daybook() {
    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb='' at i values
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        [[ ${COMP_WORDS[i]} == -- ]] || continue
        # The command that is run; files, of its arguments.
        if ((i == COMP_CWORD - 1)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); fi
        return
    done
    at=$(_daybook_verb)
    if ((at > 0)); then
        verb=${COMP_WORDS[at]}
        # A group alone knows no options.
        if ((at + 1 < COMP_CWORD)) && [[ $(_daybook_words "$verb") != *--help* ]]; then
            verb+=" ${COMP_WORDS[at + 1]}"
        fi
    fi
    if [[ $cur == = ]]; then
        cur=''
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    values=$(_daybook_values "$verb $before")
    case $values in
        '<file>') return ;;
        '<any>') compopt +o default 2>/dev/null || true; return ;;
        '') values=$(_daybook_words "$verb") ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
}
complete -o default -F _daybook daybook
