"""Errors that are planted in copies of a page: a check that does not find each of them is too weak."""

import base64
import hashlib
import re


def once(page, old, new):
    """Replaces the first place."""
    if old not in page:
        raise SystemExit(f"a fault cannot be planted: the page has no {old[:60]!r}")
    return page.replace(old, new, 1)


def style(rules):
    return lambda page: once(page, "</style>", f"{rules}</style>")


def inserted(html):
    return lambda page: once(page, "</main>", f"{html}</main>")


def source(script):
    """What the Content-Security-Policy says of a script that may run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def script(old, new):
    """Another text in the page's own script, which the policy lets run as if it had been built so."""

    def plant(page):
        was = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[-1]
        now = once(was, old, new)
        return once(
            once(page, f"<script>{was}</script>", f"<script>{now}</script>"), source(was), source(now)
        )

    return plant


def without_a_table(page):
    return re.sub(r'<section class="table".*?</section>', "", page, count=1, flags=re.DOTALL)


# name, how it is planted, width, whether scripts run, a part of what the check must say
FAULTS = [
    (
        "an exception",
        script('"use strict";', '"use strict"; setTimeout(() => null.x);'),
        1280,
        True,
        "TypeError",
    ),
    (
        "an error on the console",
        script('"use strict";', '"use strict"; console.error("oh");'),
        1280,
        True,
        "oh",
    ),
    (
        "a script that came in with a text",
        inserted("<script>document.title = 1</script>"),
        1280,
        True,
        "Content Security Policy",
    ),
    (
        "a picture from elsewhere",
        inserted('<img src="https://example.org/x.png" alt="">'),
        420,
        True,
        "Content Security Policy",
    ),
    (
        "a table that is cut",
        style(".scroll { overflow: hidden } table { min-width: 1500px }"),
        420,
        True,
        "the table is cut",
    ),
    (
        "a table that is cut, without scripts",
        style(".scroll { overflow: hidden } table { min-width: 1500px }"),
        420,
        False,
        "the table is cut",
    ),
    (
        "a table that pushes the page",
        style(".scroll { overflow: visible } table { min-width: 1500px }"),
        420,
        True,
        "pixels wide, not 420",
    ),
    ("a table that scrolls on a desktop", style("table { min-width: 1500px }"), 1280, True, "its box"),
    (
        "a cell that is cut",
        style("tbody th { max-width: 2rem; overflow: hidden; white-space: nowrap }"),
        1280,
        True,
        "cut: ",
    ),
    (
        "a heading without a scope",
        lambda page: once(page, '<th scope="col">', "<th>"),
        1280,
        True,
        "without a scope",
    ),
    (
        "a mark that is missing",
        script("if (p.ours !== null) {", "if (p.ours !== null && (drawPoint.first ??= p) !== p) {"),
        1280,
        True,
        "marks are drawn",
    ),
    (
        "a mark beside its plot",
        script("const margin = ", "y += 1e4 * !(drawPoint.first ??= u); const margin = "),
        1280,
        True,
        "marks are drawn",
    ),
    ("plots that are not there", style(".plot { display: none !important }"), 1280, True, "plots are blank"),
    (
        "a plot's place that shows empty",
        style(".plot:empty { display: block !important; height: 9rem }"),
        1280,
        False,
        "a plot shows that is empty",
    ),
    (
        "a row that is hidden",
        lambda page: once(page, "<tr data-row=", "<tr hidden data-row="),
        1280,
        False,
        "rows show",
    ),
    ("a table that is missing", without_a_table, 1280, False, "there is no place for a plot"),
    (
        "filters that do not show",
        style("#filters { display: none !important }"),
        420,
        True,
        "the filters do not show",
    ),
    (
        "filters that do nothing",
        script("filterRows(count);\n          drawAll();", ";"),
        1280,
        True,
        "are selected",
    ),
    (
        "a read-out that stays empty",
        script("plot.readout.hidden = points.length === 0;", "return;"),
        1280,
        True,
        "shows []",
    ),
    (
        "keys that read nothing",
        script('addEventListener("keydown"', 'addEventListener("keyless"'),
        420,
        True,
        "arrows read",
    ),
    (
        "a link that leads nowhere",
        inserted('<a href="#nowhere">there</a>'),
        1280,
        True,
        "a link leads nowhere",
    ),
]


def all_found(chromium, path, folder, look):
    """The faults that the check does not find."""
    page = path.read_text()
    wrong = []
    for name, plant, width, scripts, says in FAULTS:
        copy = folder / "fault.html"
        copy.write_text(plant(page))
        texts = look(chromium, copy, width, scripts=scripts)
        copy.unlink()
        if any(says in text for text in texts):
            print(f"found: {name}")
        else:
            wrong.append(f"not found: {name}; the check says: {'; '.join(texts[:3]) or 'nothing'}")
    return wrong
