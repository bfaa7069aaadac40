#!/usr/bin/env python3
"""Renders a page of `braidc --report=plan.html` in a headless browser and prints what people would read.

render_page.py PAGE --work FOLDER

The title; the text of each paragraph and row after the page's script has run; how many tensors it shows; what stands
along the axes of charts; how many tables and texts of charts a window of 500 pixels cuts off; and of screenshots under a
light and a dark colour scheme the brightness of the ground and how many colours the first chart has.
"""
import argparse
import html.parser
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


# Notes what charts write, and whether it lies in the chart, and then which parts of the page are wider than the window.
BEFORE = """<script>
const drawn = new Set(), write = CanvasRenderingContext2D.prototype.fillText;
let cut = 0;
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  const place = this.getTransform(), wide = this.measureText(text).width;
  const left = this.textAlign === "right" ? x - wide : this.textAlign === "center" ? x - wide / 2 : x;
  for (const at of [left, left + wide]) {
    const corner = place.transformPoint(new DOMPoint(at, y));
    cut += corner.x < -.5 || corner.y < -.5 || corner.x > this.canvas.width + .5 || corner.y > this.canvas.height + .5;
  }
  if (/[a-z]/.test(text)) drawn.add(text);
  write.call(this, text, x, y);
};
</script>"""
BEHIND = """<script>
for (const part of document.querySelectorAll("h1, p, table, .chart"))
  cut += part.scrollWidth > part.clientWidth + 1 || part.getBoundingClientRect().right > innerWidth;
document.body.dataset.cut = cut;
document.body.dataset.axes = [...drawn].join(" | ");
</script>"""


class Text(html.parser.HTMLParser):
    """Lines of paragraphs and rows, cells apart."""

    def __init__(self):
        super().__init__()
        self.line, self.lines, self.body, self.skips = "", [], {}, 0

    def handle_starttag(self, tag, attributes):
        self.skips += tag in ("script", "style")
        if tag == "body":
            self.body = dict(attributes)

    def handle_endtag(self, tag):
        self.skips -= tag in ("script", "style")
        if tag in ("td", "th"):
            self.line += " | "
        if tag in ("p", "tr", "h1", "h2", "title"):
            self.lines.append(" ".join(self.line.split()))
            self.line = ""

    def handle_data(self, data):
        if not self.skips:
            self.line += data


def browse(browser, page, *options):
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000",
               "--window-size=900,1000", *options, page.resolve().as_uri()]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=120)
    if done.returncode:
        sys.exit(f"{browser} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def pixels(path, most):
    """The first rows of (red, green, blue) of an 8-bit PNG without interlacing (RFC 2083)."""
    data, at, packed, header = path.read_bytes(), 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + size])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    width, height, channels = header[0], header[1], {2: 3, 6: 4}[header[3]]
    raw, stride, above, rows = zlib.decompress(packed), width * channels, bytearray(width * channels), []
    for y in range(min(height, most)):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for x in range(stride):
            left, up = line[x - channels] if x >= channels else 0, above[x]
            corner = above[x - channels] if x >= channels else 0
            paeth = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            line[x] = (line[x] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        rows.append([tuple(line[x:x + 3]) for x in range(0, stride, channels)])
        above = line
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    args = parser.parse_args()
    browser = next(filter(None, map(shutil.which, BROWSERS)), None) or sys.exit("there is no browser")
    text = Text()
    noted = args.work / "noted.html"
    noted.write_text(args.page.read_text().replace("<head>", "<head>" + BEFORE, 1).replace("</body>", BEHIND + "</body>", 1))
    text.feed(browse(browser, noted, "--dump-dom", "--window-size=500,800"))
    print("\n".join(line for line in text.lines if line))
    for what in ("tensors", "axes", "cut"):
        print(f"{what}: {text.body.get(f'data-{what}', 'none')}")
    for name, scheme in (("dark", 0), ("light", 1)):
        shot = args.work / f"{name}.png"
        browse(browser, args.page, f"--screenshot={shot}", f"--blink-settings=preferredColorScheme={scheme}")
        rows = pixels(shot, 700)
        ground = rows[2][2]
        print(f"{name}: ground {'bright' if sum(ground) > 3 * 128 else 'dark'}, "
              f"{len({pixel for row in rows[400:700] for pixel in row})} colours")


if __name__ == "__main__":
    main()
