"""fatbin.py TILEC SOURCE: writes a fat binary and checks what it holds; without `fatbinary`, that this is said."""
import subprocess
import sys

MAGIC = bytes.fromhex("50ed55ba")


def main():
    done = subprocess.run([sys.argv[1], sys.argv[2], "--emit=fatbin,cubin,header", "-o", "a.fatbin"],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode == 3 and "E0012" in done.stderr:
        return 0
    with open("a.fatbin", "rb") as file:
        fatbin = file.read()
    with open("a.cubin", "rb") as file:
        cubin = file.read()
    again = subprocess.run([sys.argv[1], "other/" + sys.argv[2], "-o", "b.fatbin"])
    with open("b.fatbin", "rb") as file:
        same = file.read() == fatbin
    with open("b.h", encoding="utf-8") as file:
        header = "saxpy_launch" in file.read()
    right = fatbin[:4] == MAGIC and cubin in fatbin and len(fatbin) > len(cubin) + 64
    return not (done.returncode == again.returncode == 0 and same and header and right)


if __name__ == "__main__":
    sys.exit(main())
