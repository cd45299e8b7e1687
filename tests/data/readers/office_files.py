"""Files as other programs write them: spreadsheets, Word and PDF."""

import zipfile
from collections.abc import Sequence
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

import openpyxl

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def xlsx(rows: Sequence[Sequence[Any]], *others: str, title: str = "Articles") -> bytes:
    """Return a workbook with a sheet of these rows, and empty ones of other names."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(list(row))
    for name in others:
        book.create_sheet(name)
    buffer = BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def docx(*paragraphs: str, inside: str = "") -> bytes:
    """Return a Word file of paragraphs; `inside` is XML that stands after them."""
    body = "".join(f"<w:p><w:r><w:t>{escape(each)}</w:t></w:r></w:p>" for each in paragraphs)
    inner = f"<w:body>{body}{inside}</w:body>"
    return archive({"word/document.xml": f'<w:document xmlns:w="{WORD}">{inner}</w:document>'})


def archive(parts: dict[str, str]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return buffer.getvalue()


def pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text a page."""
    shown = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "" for text in pages]
    return pdf_of(*(each.encode("latin-1") for each in shown))


def pdf_of(*streams: bytes, filter: str = "") -> bytes:
    """Return a PDF with these streams as pages, packed as `filter` says."""
    kids = " ".join(f"{4 + 2 * k} 0 R" for k in range(len(streams)))
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for k, stream in enumerate(streams):
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        parts.append(f"<< /Type /Page /Parent 2 0 R {fonts} /Contents {5 + 2 * k} 0 R >>".encode())
        head = f"<< /Length {len(stream)} {filter} >>"
        parts.append(head.encode() + b"\nstream\n" + stream + b"\nendstream")
    content, starts = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        starts.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    end = f"xref\n0 {len(parts) + 1}\n0000000000 65535 f \n{table}"
    end += f"trailer << /Root 1 0 R /Size {len(parts) + 1} >>\nstartxref\n{len(content)}\n%%EOF\n"
    return content + end.encode()
