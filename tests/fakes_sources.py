"""Real places that documents come from, small and local: one class for each way that a source is reached."""

import base64
import json
import sqlite3
import subprocess
import threading
import uuid
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from wsgiref.simple_server import WSGIServer, make_server

from pydantic import SecretStr

Answer = tuple[int, dict[str, str], bytes]


class Site:
    """An HTTP server on a free port. `trouble` answers instead of the site where it returns something."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.sent: list[dict[str, str]] = []
        self.bodies: list[str] = []
        """Paths that were answered with a body."""
        self.pages: dict[str, Callable[[dict[str, list[str]]], Answer]] = {}
        self.trouble: Callable[[str], Answer | None] = lambda _path: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def page(self, path: str, body: str, media: str = "text/html", etag: bool = True) -> None:
        """A fixed page that honours `If-None-Match`."""
        tag = f'"{uuid.uuid4().hex}"' if etag else ""
        self.pages[path] = lambda _query: (200, {"Content-Type": media, "ETag": tag}, body.encode())

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(site: "Site") -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                site.asked.append(self.path)
                site.sent.append({name.lower(): value for name, value in self.headers.items()})
                make = site.pages.get(parts.path, lambda _query: (404, {}, b"no such page"))
                status, headers, body = site.trouble(self.path) or make(parse_qs(parts.query))
                tag = headers.get("ETag")
                if status == 200 and tag and self.headers.get("If-None-Match") == tag:
                    status, body = 304, b""
                if status == 200:
                    site.bodies.append(self.path)
                self.send_response(status)
                for name, value in headers.items():
                    if value:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class FolderPlace:
    def __init__(self, root: Path) -> None:
        self.root = root / "kb"
        self.root.mkdir()
        self.entry: dict[str, Any] = {"kind": "folder", "location": str(self.root)}

    def uri(self, name: str) -> str:
        return f"{name}.md"

    def write(self, name: str, text: str) -> None:
        (self.root / f"{name}.md").write_text(text, encoding="utf-8")

    def remove(self, name: str) -> None:
        (self.root / f"{name}.md").unlink()

    def vanish(self) -> None:
        self.root.rename(self.root.with_name("elsewhere"))

    def close(self) -> None:
        pass


class GitPlace(FolderPlace):
    """A repository on disk."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._git("init", "--quiet", "--initial-branch=main")
        self._git("commit", "--quiet", "--allow-empty", "--message=start")
        self.entry = {"kind": "git", "location": str(self.root), "git": {"ref": "main"}}

    def write(self, name: str, text: str) -> None:
        super().write(name, text)
        self._commit()

    def remove(self, name: str) -> None:
        super().remove(name)
        self._commit()

    def _commit(self) -> None:
        self._git("add", "--all")
        self._git("commit", "--quiet", "--message=change")

    def _git(self, *words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=self.root, check=True, capture_output=True)


class GitServerPlace(GitPlace):
    """The same behind http."""

    def __init__(self, root: Path) -> None:
        from dulwich.repo import Repo
        from dulwich.server import DictBackend
        from dulwich.web import make_wsgi_chain

        super().__init__(root)
        self._repo = Repo(str(self.root))
        self.password = ""
        self._app = make_wsgi_chain(DictBackend({"/kb.git": self._repo}))
        self._server: WSGIServer = make_server("127.0.0.1", 0, self._answer, handler_class=_Quiet())
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{self._server.server_port}/kb.git"
        self.entry = {"kind": "git", "location": url, "git": {"ref": "main"}}

    def _answer(self, environ: dict[str, Any], start: Any) -> Any:
        told = base64.b64encode(f"git:{self.password}".encode()).decode()
        if self.password and environ.get("HTTP_AUTHORIZATION") != f"Basic {told}":
            start("401 Unauthorized", [("WWW-Authenticate", 'Basic realm="kb"'), ("Content-Length", "0")])
            return [b""]
        return self._app(environ, start)

    def vanish(self) -> None:
        self.entry["git"]["ref"] = "no-such-branch"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._repo.close()


def _Quiet() -> type:
    from wsgiref.simple_server import WSGIRequestHandler

    return type("Quiet", (WSGIRequestHandler,), {"log_message": lambda *_: None})


class MemoryPlace:
    """fsspec's file system in memory, in the place of a bucket."""

    def __init__(self, root: Path) -> None:
        import fsspec

        self._fs = fsspec.filesystem("memory")
        self._root = f"/bucket-{uuid.uuid4().hex}"
        self.entry: dict[str, Any] = {"kind": "s3", "location": f"memory:/{self._root}"}

    def uri(self, name: str) -> str:
        return f"deep/{name}.md"

    def write(self, name: str, text: str) -> None:
        self._fs.pipe_file(f"{self._root}/deep/{name}.md", text.encode())

    def remove(self, name: str) -> None:
        self._fs.rm_file(f"{self._root}/deep/{name}.md")

    def vanish(self) -> None:
        self._fs.rm(self._root, recursive=True)

    def close(self) -> None:
        if self._fs.exists(self._root):
            self._fs.rm(self._root, recursive=True)


class SqlPlace:
    """A table in SQLite; `updated` is a counter, as a trigger would keep it."""

    def __init__(self, root: Path) -> None:
        self._file = root / "source.db"
        self._run("CREATE TABLE article (slug TEXT PRIMARY KEY, heading TEXT, content TEXT, changed INTEGER)")
        self.secrets = {"SLUICE_SOURCE_ARTICLES": f"sqlite:///{self._file}"}
        options = {"url": "SLUICE_SOURCE_ARTICLES", "key": "slug", "updated": "changed", "body": "content"}
        self.entry: dict[str, Any] = {"kind": "sql", "location": "article", "sql": {**options, "format": "markdown"}}

    def uri(self, name: str) -> str:
        return f"{name}.md"

    def write(self, name: str, text: str) -> None:
        self._run(
            "REPLACE INTO article VALUES (?, NULL, ?, (SELECT 1 + COUNT(*) + TOTAL(changed) FROM article))", name, text
        )

    def remove(self, name: str) -> None:
        self._run("DELETE FROM article WHERE slug = ?", name)

    def vanish(self) -> None:
        self._run("DROP TABLE article")

    def close(self) -> None:
        pass

    def _run(self, statement: str, *values: Any) -> None:
        connection = sqlite3.connect(self._file)
        with connection:
            connection.execute(statement, values)
        connection.close()


class PagesPlace:
    """Pages by their addresses, with ETags."""

    def __init__(self, root: Path) -> None:
        self.site = Site()
        self._names: list[str] = []
        self.entry: dict[str, Any] = {"kind": "http", "location": f"{self.site.url}/", "http": {"pages": self._names}}

    def uri(self, name: str) -> str:
        return f"{urlsplit(self.site.url).netloc}/{name}.md"

    def write(self, name: str, text: str) -> None:
        self.site.page(f"/{name}.md", text, "text/markdown")
        if f"{name}.md" not in self._names:
            self._names.append(f"{name}.md")

    def remove(self, name: str) -> None:
        del self.site.pages[f"/{name}.md"]

    def vanish(self) -> None:
        self.site.pages.clear()

    def close(self) -> None:
        self.site.close()


class SitemapPlace(PagesPlace):
    """A sitemap that tells dates, behind an index of sitemaps."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self._dates: dict[str, int] = {}
        index = f"<sitemapindex><sitemap><loc>{self.site.url}/part.xml</loc></sitemap></sitemapindex>"
        self.site.pages["/sitemap.xml"] = lambda _query: (200, {}, index.encode())
        self.site.pages["/part.xml"] = lambda _query: (200, {}, self._part())
        self.entry = {"kind": "http", "location": f"{self.site.url}/sitemap.xml", "http": {"sitemap": True}}

    def write(self, name: str, text: str) -> None:
        self.site.page(f"/{name}.md", text, "text/markdown")
        self._dates[name] = self._dates.get(name, 0) + 1

    def remove(self, name: str) -> None:
        del self._dates[name]

    def _part(self) -> bytes:
        rows = (
            f"<url><loc>{self.site.url}/{name}.md</loc><lastmod>2026-01-{day:02d}</lastmod></url>"
            for name, day in self._dates.items()
        )
        return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(rows)}</urlset>'.encode()


class ApiPlace:
    """A JSON API as Confluence has it: two items a page, `_links.next` below `_links.base`, bodies asked one by one."""

    def __init__(self, root: Path) -> None:
        self.site = Site()
        self.items: dict[str, dict[str, Any]] = {}
        self.site.pages["/wiki/rest/content"] = self._page
        api: dict[str, Any] = {"items": "results", "next": "_links.next", "next_base": "_links.base"}
        api |= {"updated": "version.number", "content": "body.storage.value", "format": "html"}
        api |= {"item": "/wiki/rest/content/{id}"}
        self.entry: dict[str, Any] = {"kind": "http", "location": f"{self.site.url}/wiki/rest/content"}
        self.entry["http"] = {"api": api}

    def uri(self, name: str) -> str:
        return f"{name}.html"

    def write(self, name: str, text: str) -> None:
        number = self.items.get(name, {"version": {"number": 0}})["version"]["number"] + 1
        lines = "".join(f"<p>{line.strip('# ')}</p>" for line in text.splitlines() if line)
        self.items[name] = {"id": name, "title": name, "version": {"number": number, "when": formatdate()}}
        whole = {**self.items[name], "body": {"storage": {"value": lines}}}
        self.site.pages[f"/wiki/rest/content/{name}"] = lambda _query: (200, {}, json.dumps(whole).encode())

    def remove(self, name: str) -> None:
        del self.items[name], self.site.pages[f"/wiki/rest/content/{name}"]

    def vanish(self) -> None:
        self.site.pages.clear()

    def close(self) -> None:
        self.site.close()

    def _page(self, query: dict[str, list[str]]) -> Answer:
        start = int(query.get("start", ["0"])[0])
        found = list(self.items.values())
        links = {"base": f"{self.site.url}/wiki"}
        if start + 2 < len(found):
            links["next"] = f"/rest/content?start={start + 2}"
        return (
            200,
            {"Content-Type": "application/json"},
            json.dumps({"results": found[start : start + 2], "_links": links}).encode(),
        )


PLACES: dict[str, type[Any]] = {
    "folder": FolderPlace,
    "s3": MemoryPlace,
    "git": GitPlace,
    "git behind http": GitServerPlace,
    "sql": SqlPlace,
    "pages": PagesPlace,
    "sitemap": SitemapPlace,
    "api": ApiPlace,
}


def secrets_of(place: Any) -> Callable[[str], SecretStr]:
    return lambda name: SecretStr(getattr(place, "secrets", {})[name])
