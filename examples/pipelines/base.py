"""The base pipeline: fetch an archive of tables, and merge them. No line says where it runs, and all of it runs on demand.

kfp dsl compile --py base.py --output base.yaml
"""

from kfp import dsl

IMAGE = "python:3.12.14-slim-bookworm@sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579"


@dsl.component(base_image=IMAGE)
def fetch(url: str, archive: dsl.Output[dsl.Dataset]) -> None:
    """Download an archive (.tgz) of CSV files with the same columns; without a URL, make a small one."""
    import io
    import random
    import tarfile
    import urllib.request

    if url:
        urllib.request.urlretrieve(url, archive.path)
        return
    generator = random.Random(7)
    with tarfile.open(archive.path, "w:gz") as packed:
        for name in ("first", "second", "third"):
            rows = [f"{generator.uniform(4, 8):.1f},{generator.uniform(2, 5):.1f},{name}" for _ in range(50)]
            content = "\n".join(["length,width,kind", *rows, ""]).encode()
            member = tarfile.TarInfo(f"{name}.csv")
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content))


@dsl.component(base_image=IMAGE)
def merge(archive: dsl.Input[dsl.Dataset], table: dsl.Output[dsl.Dataset]) -> int:
    """Join all tables in the archive, in the order of their names; return the number of rows."""
    import csv
    import io
    import tarfile

    with tarfile.open(archive.path) as packed:
        members = sorted((m for m in packed.getmembers() if m.name.endswith(".csv")), key=lambda member: member.name)
        tables = [list(csv.reader(io.TextIOWrapper(packed.extractfile(member)))) for member in members]
    rows = [row for content in tables for row in content[1:]]
    with open(table.path, "w", newline="") as file:
        csv.writer(file).writerows([tables[0][0], *rows])
    return len(rows)


@dsl.pipeline(name="base-pipeline", description="Fetches an archive of tables and merges them.")
def base_pipeline(url: str = "") -> int:
    fetched = fetch(url=url)
    merged = merge(archive=fetched.outputs["archive"])
    return merged.outputs["Output"]
