"""full.py STATUS COMMAND...: runs a command whose standard output is a full disk, and prints its standard error."""
import subprocess
import sys

with open("/dev/full", "wb") as full:
    done = subprocess.run(sys.argv[2:], stdout=full, stderr=subprocess.PIPE)
print(done.stderr.decode())
sys.exit(done.returncode != int(sys.argv[1]))
