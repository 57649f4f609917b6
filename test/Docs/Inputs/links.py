"""links.py PAGE...: relative links of Markdown pages lead to files, and their anchors to headings."""
import os
import re
import sys


def anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    with open(path) as file:
        headings = re.findall(r"^#+ (.*)$", file.read(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def broken(page):
    """The links of a page that lead nowhere."""
    with open(page) as file:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", file.read(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(target) or (anchor and anchor not in anchors(target)):
            yield link


def main():
    faults = [(page, link) for page in sys.argv[1:] for link in broken(page)]
    for page, link in faults:
        print(f"{os.path.basename(page)}: {link} leads nowhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
