/**
 * The script for bash. That of @bomb.sh/tab hands the words on the line to `eval`, so that `$(…)` and `> file` in a command
 * that is only being typed would take effect at the TAB; besides, it needs the package bash-completion. This one does neither.
 */
export const bashScript = `# bash completion for prx-runtime
__prx_runtime_complete() {
  local words=() word line directive=0 joins=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    # bash splits words at these two; on the line they were one.
    if [[ ( $word == [=:] || -n $joins ) && \${#words[@]} -gt 0 ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    if [[ $word == [=:] ]]; then joins=1; else joins=; fi
  done
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :[0-9]* ]]; then
      directive=\${line#:}
    elif [[ -n $line ]]; then
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(prx-runtime complete -- "\${words[@]}" 2>/dev/null)
  if (( directive & 16 )); then
    compopt -o dirnames
  elif (( ! (directive & 4) )); then
    compopt -o default -o bashdefault
  fi 2>/dev/null
}
complete -F __prx_runtime_complete prx-runtime`;
