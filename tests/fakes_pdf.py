"""PDF files made for tests."""

from pathlib import Path

BODY = "The committee met in March and agreed on the budget for the coming year."


def picture(shade: int, text: str = "") -> bytes:
    """A grey picture as PNG, with words that are pixels only."""
    import pymupdf

    with pymupdf.open() as drawing:
        page = drawing.new_page(width=300, height=200)
        page.draw_rect(page.rect, fill=(shade / 255,) * 3, color=None)
        page.draw_circle((150, 100), 60, color=(0.2, 0.2, 0.6), width=4)
        page.insert_text((40, 100), text)
        return bytes(page.get_pixmap().tobytes("png"))


def report(path: Path) -> Path:
    """Four pages: a logo on each, an ornament on three, one figure with a caption."""
    import pymupdf

    with pymupdf.open() as pdf:
        for number in range(4):
            page = pdf.new_page()
            page.insert_image(pymupdf.Rect(500, 20, 560, 60), stream=picture(200, "ACME"))
            for line in range(6):
                page.insert_text((72, 120 + 16 * line), f"{BODY} Part {number}.{line}.")
            if number < 3:
                page.insert_image(pymupdf.Rect(200, 560, 400, 700), stream=picture(230, "ornament"))
            else:
                page.insert_image(pymupdf.Rect(100, 300, 460, 540), stream=picture(245, "Intake pump"))
                page.insert_text((110, 560), "Figure 3 Flow of water through the intake")
        pdf.save(path)
    return path


def with_bad_page(path: Path) -> Path:
    """Three pages, of which the second is a picture of text: without OCR no route reads it."""
    import pymupdf

    with pymupdf.open() as pdf:
        for number in range(3):
            page = pdf.new_page()
            if number == 1:
                page.insert_image(page.rect, stream=picture(250, "A scanned page"))
                continue
            for line in range(8):
                page.insert_text((72, 120 + 16 * line), f"Laptops of group {number}{line} are replaced every year.")
        pdf.save(path)
    return path
