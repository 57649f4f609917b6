# Completion of tilec for bash. The options are those that `tilec --help` lists.
_tilec() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  # Bash splits words at `=`.
  [[ "$word" == "=" ]] && word="" || { [[ "$before" == "=" ]] && before="${COMP_WORDS[COMP_CWORD-2]}"; }
  [[ "${COMP_WORDS[COMP_CWORD]}" == "=" ]] && before="${COMP_WORDS[COMP_CWORD-1]}"
  case "$before" in
    --arch) COMPREPLY=($(compgen -W "$(tilec --list-targets | cut -d' ' -f1)" -- "$word")) ;;
    --stop-after | --dump-after | --dump-before)
      COMPREPLY=($(compgen -W "all $(tilec --list-passes | cut -d' ' -f1)" -- "$word")) ;;
    --emit) COMPREPLY=($(compgen -W "ast tile tilegpu nvvm llvm ptx cubin fatbin header json" -- "$word")) ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$word")) ;;
    --diagnostics-format) COMPREPLY=($(compgen -W "text json" -- "$word")) ;;
    -W) COMPREPLY=($(compgen -W "all perf error" -- "$word")) ;;
    *)
      if [[ "$word" == -* ]]; then
        COMPREPLY=($(compgen -W "-MD -MF -MT -MP $(tilec --help | grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z-]*' | tr -d ' ,')" -- "$word"))
      else
        compopt -o filenames
        COMPREPLY=($(compgen -f -X '!*.@(tile|mlir)' -- "$word") $(compgen -d -- "$word"))
      fi ;;
  esac
}
complete -F _tilec tilec
