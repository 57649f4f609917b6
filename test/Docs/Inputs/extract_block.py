"""extract_block.py PAGE LANGUAGE: prints the first code block of a Markdown page in the language."""
import re
import sys

with open(sys.argv[1]) as file:
    print(re.search(rf"^```{sys.argv[2]}\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL).group(1), end="")
