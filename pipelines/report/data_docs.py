"""Great Expectations' Data Docs of one run, made self-contained: its pages ask a dozen hosts for scripts and styles."""

import tempfile
import warnings
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from pipelines.app import App

_STYLE = """
body{font:15px/1.5 system-ui,"Noto Sans CJK SC",sans-serif;color:#1d2733;background:#fff;max-width:1100px;
margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{border:1px solid #d5dce4;padding:.3rem .6rem;text-align:left;vertical-align:top}a{color:#0b5cad}
ul{padding-left:1.2rem}.modal,.navbar-toggler,.cooltip,.navigation,button,form,input{display:none}
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_HEAD = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"><style>{_STYLE}</style>'


def store_docs(app: "App", run: int, context: Any) -> str:
    """Build the pages and put them into the artifact store. Returns the key of the first one."""
    prefix = f"reports/{app.kb}/{run}"
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as where the suites are run
        site = {
            "class_name": "SiteBuilder",
            "show_how_to_buttons": False,
            "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": folder},
            "site_index_builder": {"class_name": "DefaultSiteIndexBuilder", "show_cta_footer": False},
        }
        context.add_data_docs_site(site_name="sluice", site_config=site)
        context.build_data_docs(site_names=["sluice"])
        names = [path.relative_to(folder).as_posix() for path in sorted(Path(folder).rglob("*.html"))]
        names.remove("index.html")
        for name in names:
            made = contained((Path(folder) / name).read_text(encoding="utf-8"))
            app.artifacts.put(f"{prefix}/{name}", made.encode())
        app.artifacts.put(f"{prefix}/index.html", _index(names).encode())
    return f"{prefix}/index.html"


def _index(names: Sequence[str]) -> str:
    """The library's own is drawn by script."""
    groups = (("Validation results", "validations/"), ("Expectation suites", "expectations/"))
    parts = [f"<!doctype html><html><head><meta charset='utf-8'><title>Data Docs</title>{_HEAD}</head><body>"]
    for title, folder in groups:
        links = [
            f'<li><a href="{escape(quote(name))}">{escape(name.split("/")[1].removesuffix(".html"))}</a></li>'
            for name in names
            if name.startswith(folder)
        ]
        parts.append(f"<h2>{title}</h2><ul>{''.join(links)}</ul>")
    return "".join([*parts, "</body></html>"])


def contained(html: str) -> str:
    """A page without script, and with nothing that is loaded from elsewhere."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    for node in tree.css("script, link, style, iframe, object, embed, img, base, footer, meta[http-equiv]"):
        node.decompose()
    for node in tree.css(".card"):  # buttons that only a script could answer
        if (head := node.css_first(".card-header")) and head.text(strip=True) == "Actions":
            node.decompose()
    for node in tree.css("*"):
        for name in list(node.attributes):
            if name.lower().startswith("on") or (name == "href" and _outside(node.attributes[name] or "")):
                del node.attrs[name]
    return (tree.html or "").replace("<head>", f"<head>{_HEAD}", 1)


def _outside(href: str) -> bool:
    return ":" in href.split("/", 1)[0] or href.startswith("//")
