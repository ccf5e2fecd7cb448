"""The look of the HTML report: light and dark, narrow and wide, on a screen and on paper."""

from typing import Final

from revereval.report.drawing import VARIABLES


def _colours(place: int) -> str:
    return " ".join(f"{name}: {both[place]};" for name, both in VARIABLES.items())


STYLE: Final = """\
:root {
  --page: #ffffff; --ink: #1c1f23; --soft: #565c64; --line: #d9dce0; --band: #f5f6f7;
  --accent: #00558a; --notice: #fff4e0; --notice-line: #c77700;
  /* light */
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --ink: #e6e6e3; --soft: #a9afb6; --line: #363c43; --band: #1c2024;
    --accent: #7cc0ee; --notice: #2b2213; --notice-line: #d8912f;
    /* dark */
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: calc(720px + 3rem);
  background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial,
    sans-serif;
  overflow-wrap: break-word;
}
h1, h2 { line-height: 1.2; text-wrap: balance; font-weight: 650; }
h1 { font-size: 2rem; margin: .3rem 0 1rem; letter-spacing: -.015em; }
h2 { font-size: 1.4rem; margin: 0 0 .9rem; letter-spacing: -.01em; display: flex; gap: .55em; }
h2 .number { color: var(--soft); font-weight: 400; }
p { margin: 0 0 .8rem; }
a { color: var(--accent); text-underline-offset: .15em; }
code { font: .82em/1.4 ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace;
  overflow-wrap: anywhere; }
.kind { color: var(--soft); font-size: .9rem; margin: 0; }
.source { overflow-wrap: anywhere; unicode-bidi: isolate; }
.lead { font-size: 1.125rem; line-height: 1.5; }
.notice { background: var(--notice); border-left: 4px solid var(--notice-line);
  padding: .7rem 1rem; }
.caveat { color: var(--soft); font-size: .92rem; border-left: 3px solid var(--line);
  padding-left: .8rem; }
.key { list-style: none; margin: 1.6rem 0 0; padding: 0; display: flex; flex-wrap: wrap;
  border: solid var(--line); border-width: 1px 0; }
.key li { flex: 1 1 9.5rem; padding: .9rem .9rem .9rem 0; font-size: .86rem; line-height: 1.4;
  color: var(--soft); }
.key li + li { padding-left: .9rem; border-left: 1px solid var(--line); }
.key strong { display: block; font-size: 1.55rem; font-weight: 650; line-height: 1.25;
  color: var(--ink); font-variant-numeric: tabular-nums lining-nums; white-space: nowrap; }
nav { margin: 2rem 0 0; font-size: .95rem; }
nav h2 { font-size: .95rem; margin: 0 0 .3rem; letter-spacing: 0; }
nav ol { margin: 0; padding-left: 1.6rem; columns: 2; column-gap: 2.5rem; }
nav li { break-inside: avoid; padding: .08rem 0 .08rem .2rem; }
nav li::marker { color: var(--soft); font-variant-numeric: tabular-nums; }
nav .plain { list-style: none; counter-increment: list-item 0; }
section { margin-top: 2.6rem; padding-top: 1.8rem; border-top: 1px solid var(--line); }
dl { margin: 0 0 1rem; font-size: .95rem; }
dl div { display: grid; grid-template-columns: 9.5rem 1fr; gap: .9rem; padding: .4rem 0;
  border-top: 1px solid var(--line); }
dl div:last-child { border-bottom: 1px solid var(--line); }
dt { font-weight: 650; }
dd { margin: 0; }
figure { margin: 1.8rem 0 2rem; }
figure svg { display: block; width: 100%; min-width: 600px; max-width: 720px; height: auto; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { font-size: .92rem; line-height: 1.5; margin-top: .7rem; color: var(--soft); }
figcaption strong { color: var(--ink); }
details { margin-top: .5rem; font-size: .92rem; }
summary { cursor: pointer; color: var(--accent); width: fit-content; }
.scroll { overflow-x: auto; margin: 0; }
.scroll:focus-visible, summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent);
  outline-offset: 2px; }
.scroll:has(> table) { margin: 1.4rem 0 1.6rem; }
table { border-collapse: collapse; font-size: .86rem; line-height: 1.4; min-width: 11rem;
  font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; font-weight: 650; padding: 0 0 .4rem; font-size: .92rem;
  caption-side: top; }
th, td { padding: .28rem .55rem; text-align: left; vertical-align: top;
  unicode-bidi: isolate; }
tr > :first-child { padding-left: 0; }
tr > :last-child { padding-right: .2rem; }
thead th, thead td { border-bottom: 1.5px solid var(--ink); border-top: 1.5px solid var(--ink);
  vertical-align: bottom; font-weight: 650; }
tbody th { font-weight: 400; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody tr:last-child > * { border-bottom: 1.5px solid var(--ink); }
th.n, td.n { text-align: right; }
.short, tbody .n { white-space: nowrap; }
tbody .ends { white-space: normal; }
.digest:not(thead *) { font-size: .75rem;
  font-family: ui-monospace, SFMono-Regular, Menlo, "DejaVu Sans Mono", monospace; }
.long { min-width: 18rem; overflow-wrap: anywhere; }
@media (max-width: 560px) {
  body { padding: 1.5rem 1rem 3rem; }
  nav ol { columns: 1; }
  dl div { grid-template-columns: 1fr; gap: 0; }
  caption.short { white-space: normal; }
}
@page { size: A4; margin: 18mm 16mm; }
@media print {
  :root { --page: #fff; --ink: #000; --soft: #444; --line: #bbb; --band: #fff; --accent: #000;
    --notice: #fff;
    /* light */
  }
  html { font-size: 10.5pt; }
  body { max-width: none; padding: 0; font-size: 1rem; line-height: 1.4; }
  h2 { break-after: avoid; }
  section { margin-top: 1.2rem; padding-top: 1rem; }
  nav a { text-decoration: none; }
  .scroll { overflow: visible; }
  figure, dl div, .key, .notice, tr { break-inside: avoid; }
  figure:has(details table) { break-inside: auto; }
  figure > .scroll, figcaption { break-inside: avoid; break-after: avoid; }
  figure svg { min-width: 0; max-height: 235mm; }
  thead { display: table-header-group; }
  caption { break-after: avoid; }
  table { font-size: 8pt; }
  .digest:not(thead *) { font-size: 6.5pt; }
  .long { min-width: 0; }
  .short { white-space: normal; }
  summary { display: none; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
  p { orphans: 3; widows: 3; }
}
""".replace("/* light */", _colours(0)).replace("/* dark */", _colours(1))
