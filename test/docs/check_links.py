#!/usr/bin/env python3
"""Follows the links between pages: check_links.py PAGE.md...

A link to a file leads to one that is there, and a link to a heading to one that the
page has.  Blocks of code have no links.
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^()\s]+)\)")


def text_of(path):
    return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)


def anchors(path):
    """GitHub's names of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def main():
    broken, links = [], 0
    for page in map(pathlib.Path, sys.argv[1:]):
        for link in LINK.findall(re.sub(r"`[^`\n]*`", "", text_of(page))):
            if link.startswith("http"):
                continue
            links += 1
            name, _, heading = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (heading and heading not in anchors(target)):
                broken.append(f"{page}: {link} leads nowhere")
    print("\n".join(broken + [f"{links} links, {len(broken)} broken"]))
    return 1 if broken or not links else 0


if __name__ == "__main__":
    sys.exit(main())
