# Usage: interrupt.py TILE-RUN SAXPY FOLDER. A long run tells a terminal how far it is, and leaves nothing when it is interrupted.
import os
import pty
import select
import signal
import subprocess
import sys
import time

runner, saxpy, folder = sys.argv[1:]
terminal, side = pty.openpty()
command = [runner, saxpy, "--kernel=saxpy", "--simulate", "a=1", "N=20000000", "X=zeros", "Y=zeros", "--out", "Y=y.npy"]
# lit ignores the signal, and programs inherit that.
signal.signal(signal.SIGINT, signal.SIG_DFL)
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=side, cwd=folder)
seen = b""
end = time.time() + 300
while b"blocks" not in seen and time.time() < end and process.poll() is None:
    if select.select([terminal], [], [], 0.5)[0]:
        seen += os.read(terminal, 4096)
assert b"\r\x1b[Ktile-run: " in seen and b" blocks, " in seen, seen
process.send_signal(signal.SIGINT)
assert process.wait(timeout=60) == -signal.SIGINT, process.returncode
assert os.listdir(folder) == [], os.listdir(folder)
