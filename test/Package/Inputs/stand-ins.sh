# stand-ins.sh FOLDER [CANDIDATE]: programs for quickstart to find; with a second argument apt, which offers that version
# of every package (`none`: no package) and installs nothing: apt-get fails after it has printed its arguments.
folder=$1 candidate=${2:-}
mkdir -p "$folder"
for program in dirname env grep id; do
  ln -sf "$(command -v $program)" "$folder"
done
[ -z "$candidate" ] && exit 0
stand_in() { printf '#!/bin/bash\n%s\n' "$2" > "$folder/$1" && chmod +x "$folder/$1"; }
stand_in dpkg-query 'exit 1'
stand_in sudo '"$@"'
if [ "$candidate" = none ]; then
  stand_in apt-cache 'exit 0'
  stand_in apt-get 'exit 0'
else
  stand_in apt-cache "echo '  Candidate: $candidate'"
  stand_in apt-get 'echo "apt-get $*"; [ "$1" = update ]'
fi
