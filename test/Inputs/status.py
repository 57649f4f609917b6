"""status.py STATUS COMMAND...: runs the command and fails unless it exits with STATUS."""
import subprocess
import sys

wanted, command = int(sys.argv[1]), sys.argv[2:]
found = subprocess.run(command).returncode
if found != wanted:
    sys.exit(f"exit status {found}, wanted {wanted}")
