# Replies come from file names and aliases, which other people choose: none reaches the command line unquoted.
_convo_complete() {
    local word=$2 reply open prefix i
    local words=() last=-1 cword=0
    # Readline divides --option=value at the equals sign.
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        if ((last >= 0)) && [[ ${words[last]} == --* && (${COMP_WORDS[i]} == = || ${COMP_WORDS[i - 1]} == =) ]]; then
            words[last]+=${COMP_WORDS[i]}
        else
            words[++last]=${COMP_WORDS[i]}
        fi
        ((i == COMP_CWORD)) && cword=$last
    done
    local typed=${COMP_WORDS[COMP_CWORD]//\\?/}
    [[ $word == = ]] && word=
    if [[ $typed == *[\'\"]* ]]; then
        open=1
    else
        # Without the backslashes of an earlier reply, the program finds the name again.
        word=${word//\\/}
    fi
    [[ ${words[cword]} == --*=* ]] && prefix=${words[cword]%%=*}=
    words[cword]=$prefix$word
    COMPREPLY=()
    compopt +o nospace 2> /dev/null
    while IFS= read -r -d $'\013' reply || [[ -n $reply ]]; do
        # A control character can neither be shown nor typed.
        [[ $reply == *[[:cntrl:]]* ]] && continue
        reply=${reply#"$prefix"}
        # Readline adds to a quote that is open; everything else is quoted here.
        [[ -n $open ]] || printf -v reply %q "$reply"
        COMPREPLY+=("$reply")
    done < <(
        _CLAP_IFS=$'\013' _CLAP_COMPLETE_INDEX=$cword _CLAP_COMPLETE_COMP_TYPE=$COMP_TYPE \
            _CLAP_COMPLETE_SPACE=false COMPLETE=bash PROGRAM -- "${words[@]}"
    )
    if [[ -n $open ]]; then
        # Without this switch (bash 3) a quote in a name would end the quote that is open.
        compopt -o filenames 2> /dev/null || COMPREPLY=()
    elif [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=/:] ]]; then
        compopt -o nospace 2> /dev/null
    fi
    return 0
}
if [[ ${BASH_VERSINFO[0]} -gt 4 || ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -ge 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _convo_complete convo
else
    complete -o nospace -o bashdefault -F _convo_complete convo
fi
