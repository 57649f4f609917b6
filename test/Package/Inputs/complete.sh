# complete.sh SCRIPT WORD...: what completion offers for `tilec WORD...`, one a line.
source "$1"
shift
compopt() { :; }
COMP_WORDS=(tilec "$@")
COMP_CWORD=$#
_tilec
printf '%s\n' "${COMPREPLY[@]}" | sort
