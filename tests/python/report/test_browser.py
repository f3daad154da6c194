"""Pages in Chromium: no error, no request but for themselves, nothing blank, in both widths and colours."""

import io
import struct
import zlib

import pytest
from pages import KINDS

WIDTHS = (1200, 360)


def open_page(browser, path, width=1200, scheme="light", scripts=True):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
    )
    page = context.new_page()
    page.complaints, page.requested = [], []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.on("requestfailed", lambda request: page.complaints.append(f"failed: {request.url[:60]}"))
    page.on("request", lambda request: page.requested.append(request.url))
    page.goto(path.as_uri())
    return page


def colours_in(shot):
    """How many different pixels a screenshot has: PNG in true colour, rows unfiltered by the standard."""
    chunks, at, data = {}, 8, b""
    while at < len(shot):
        length, kind = struct.unpack(">I4s", shot[at : at + 8])
        if kind == b"IDAT":
            data += shot[at + 8 : at + 8 + length]
        chunks[kind] = shot[at + 8 : at + 8 + length]
        at += 12 + length
    width, height, _, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    size = {2: 3, 6: 4}[colour]
    stream = io.BytesIO(zlib.decompress(data))
    above, seen = bytearray(width * size), set()
    for _ in range(height):
        method = stream.read(1)[0]
        row = bytearray(stream.read(width * size))
        for k in range(len(row)):
            left = row[k - size] if k >= size else 0
            up, corner = above[k], above[k - size] if k >= size else 0
            estimate = left + up - corner
            nearest = min(
                (abs(estimate - left), 0, left), (abs(estimate - up), 1, up), (abs(estimate - corner), 2, corner)
            )[2]
            row[k] = (row[k] + (0, left, up, (left + up) // 2, nearest)[method]) & 255
        seen.update(bytes(row[k : k + size]) for k in range(0, len(row), size))
        above = row
    return len(seen)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_error_no_request_no_overflow(browser, kept_page, kind, width):
    path = kept_page(kind)
    page = open_page(browser, path, width, "dark" if width == 360 else "light")
    assert page.complaints == []
    assert page.requested[0] == path.as_uri()
    assert all(url.startswith("data:") for url in page.requested[1:])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width  # wide tables scroll by themselves
    page.context.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_blank(browser, kept_page, kind, scheme):
    path = kept_page(kind)
    page = open_page(browser, path, 390, scheme)
    for shown in page.query_selector_all(".chart .narrow svg, .square"):
        box = shown.bounding_box()
        assert box["width"] > 100 and box["height"] > 20
        assert colours_in(shown.screenshot()) > 2  # paper, border, and what is drawn
    for image in page.query_selector_all("img"):
        assert image.evaluate(
            "i => i.complete && i.naturalWidth > 0 && i.naturalWidth == i.width || getComputedStyle(i).imageRendering == 'pixelated'"
        )
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_follow_the_colours_of_the_reader(browser, kept_page, scheme):
    path = kept_page("solve")
    page = open_page(browser, path, 1200, scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    ink = page.evaluate("getComputedStyle(document.body).color")
    fills = page.evaluate("[...document.querySelectorAll('.wide svg text')].map(t => getComputedStyle(t).fill)")
    assert ink in fills and len(set(fills)) == 2  # ink and muted
    page.context.close()


def test_without_scripts_all_is_there(browser, kept_page):
    path = kept_page("solve")
    page = open_page(browser, path, 390, scripts=False)
    assert page.query_selector(".sentence").is_visible()
    charts = page.query_selector_all(".chart .narrow svg")
    assert charts and all(chart.is_visible() for chart in charts)
    details = page.query_selector("details")
    details.query_selector("summary").click()
    assert details.query_selector("table").is_visible()
    page.context.close()


def test_marks_say_what_they_are(browser, kept_page):
    page = open_page(browser, kept_page("solve"))
    mark = page.query_selector(".wide [role=graphics-symbol][aria-label*='iteration 1:']")
    mark.hover()
    tip = page.query_selector("#tip")
    assert tip.is_visible()
    assert tip.inner_text() == mark.get_attribute("aria-label")
    page.context.close()


def test_it_can_be_printed(browser, kept_page):
    path = kept_page("solve")
    page = open_page(browser, path, scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
    page.context.close()


def test_hostile_names_run_nothing(browser, report, make_page):
    name = "<img src=x onerror=\"document.title='hacked'\">.json"
    data = report("solve")
    data["matrix"]["source"] = "</title><script>document.title='hacked'</script>"
    path, _ = make_page(data, report("solve"), names=[name, "b.json"])
    page = open_page(browser, path)
    assert "hacked" not in page.title().replace("'hacked'", "")
    assert page.complaints == []
    assert page.query_selector("h1").inner_text().startswith("<img src=x")
    page.context.close()
