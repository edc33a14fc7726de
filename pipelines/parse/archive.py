"""Archives: what is inside, as a list, and each member as a file of its own where the policy says so."""

import zipfile
from pathlib import Path, PurePosixPath

from pipelines.errors import Code, Rejected
from pipelines.parse import sink
from pipelines.parse.formats import build, whole
from pipelines.parse.settings import ParseSettings
from schemas.document import Attachment, Block, Document


def check_archive(path: Path, settings: ParseSettings) -> list[zipfile.ZipInfo]:
    """Its members, by its directory only; nothing is unpacked.

    Raises Rejected(PARSE_CORRUPT | PARSE_BOMB | PARSE_TRAVERSAL | PARSE_ENCRYPTED).
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    # zipfile says NotImplementedError of a version or a compression that it cannot read.
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
        raise Rejected(Code.PARSE_CORRUPT, f"the archive's directory cannot be read: {error}") from error
    unpacked = sum(member.file_size for member in members)
    packed = max(1, sum(member.compress_size for member in members))
    megabytes = unpacked / 2**20
    if megabytes > settings.max_unpacked_mb or (megabytes > 50 and unpacked / packed > settings.max_ratio):
        reason = f"the archive unpacks to {megabytes:.0f} MB, {unpacked // packed} times its size"
        raise Rejected(Code.PARSE_BOMB, reason)
    for member in members:
        parts = member.filename.replace("\\", "/").split("/")
        if ".." in parts or parts[0] == "" or parts[0].endswith(":"):
            raise Rejected(Code.PARSE_TRAVERSAL, "an archive member points outside its folder")
        if member.flag_bits & 1:
            raise Rejected(Code.PARSE_ENCRYPTED, "the archive asks for a password")
    return members


def parse_archive(path: Path, *, name: str, settings: ParseSettings) -> Document:
    """Raises Rejected(PARSE_UNSUPPORTED) unless `settings.archives` is `members`, or (PARSE_BOMB)."""
    if settings.archives == "reject":
        raise Rejected(Code.PARSE_UNSUPPORTED, "an archive: unpack it in its source, or set parse.archives to members")
    members = [one for one in check_archive(path, settings) if not one.is_dir() and one.file_size]
    if len(members) > settings.max_attachments:
        raise Rejected(Code.PARSE_BOMB, f"{len(members)} members, {settings.max_attachments} are allowed")
    with whole("archive"), zipfile.ZipFile(path) as archive:
        attachments = tuple(_attachment(archive, one, settings) for one in members)
    names = "\n".join(f"- {one.name}" for one in attachments)
    document = build([Block(kind="list", text=names, engine="zip")], name=name, media_type="application/zip")
    return document.model_copy(update={"attachments": attachments})


def _attachment(archive: zipfile.ZipFile, member: zipfile.ZipInfo, settings: ParseSettings) -> Attachment:
    with archive.open(member) as file:
        data = file.read(settings.max_attachment_mb * 2**20 + 1)
    return attach(member.filename, data, settings)


def attach(name: str, data: bytes, settings: ParseSettings) -> Attachment:
    """A file inside a file, kept in the sink. Raises Rejected(PARSE_BOMB) where it is larger than allowed."""
    if len(data) > settings.max_attachment_mb * 2**20:
        raise Rejected(Code.PARSE_BOMB, f"an attachment of more than {settings.max_attachment_mb} MB")
    shown = PurePosixPath(name.replace("\\", "/")).as_posix()
    return Attachment(name=shown, size=len(data), key=sink.current().attachment(data) or "")
