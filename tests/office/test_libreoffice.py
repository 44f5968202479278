"""Files of a German, a French and an English Excel, through the command line and into LibreOffice Calc.

LibreOffice opens what rankset writes, with the separator and the language of the user; its own .xlsx files are compared
cell by cell: numbers must be numbers, and texts must have all their letters.
"""

import shutil
import subprocess
import sys

import numpy as np
import pytest

openpyxl = pytest.importorskip("openpyxl")
SOFFICE = shutil.which("soffice")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(SOFFICE is None, reason="needs LibreOffice Calc")]

RNG = np.random.default_rng(9)
UTF8, ANSI = 76, 1
GERMAN, FRENCH, ENGLISH = 1031, 1036, 1033
NAMES = {GERMAN: ["Bär", "Käfer", "Straße"], FRENCH: ["Été", "Noël", "Œuf"], ENGLISH: ["Café", "Piñata", "Zoë"]}
EXPORTS = {
    "german, ANSI": ("csv", ";", ",", "cp1252", GERMAN),
    "german, UTF-8": ("csv", ";", ",", "utf-8-sig", GERMAN),
    "french, ANSI": ("csv", ";", ",", "cp1252", FRENCH),
    "french, Unicode text": ("txt", "\t", ",", "utf-16", FRENCH),
    "english, UTF-8": ("csv", ",", ".", "utf-8-sig", ENGLISH),
    "english, ANSI": ("csv", ",", ".", "cp1252", ENGLISH),
}


@pytest.fixture(scope="module")
def convert(tmp_path_factory):
    """Return a function that opens a file in LibreOffice and saves it as another one."""
    profile = tmp_path_factory.mktemp("profile")

    def converted(path, to, *options):
        command = [SOFFICE, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", *options]
        folder = path.parent / f"{path.stem}-in-office"
        done = subprocess.run(
            [*command, "--convert-to", to, "--outdir", str(folder), str(path)],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        found = list(folder.glob("*"))
        assert found, done.stdout + done.stderr
        return found[0]

    return converted


def table(sep, decimal, names, n):
    """Return the text of a file that Excel would write: ids, scores with six decimals, labels and weights."""
    probs = RNG.dirichlet(np.ones(3), n).round(6)
    probs[:, 2] = (1 - probs[:, 0] - probs[:, 1]).round(6)
    labels = [names[RNG.choice(3, p=np.maximum(row, 0) / row.sum())] for row in probs]
    lines = [sep.join(["id", *names, "answer", "weight"])]
    for place, (row, label) in enumerate(zip(probs.tolist(), labels, strict=True)):
        numbers = [f"{value:.6f}".replace(".", decimal) for value in (*row, place / 4)]
        lines.append(sep.join([f"{names[0]} {place}", *numbers[:3], label, numbers[3]]))
    return "".join(f"{line}\r\n" for line in lines)


def rankset(folder, *arguments):
    command = [sys.executable, "-m", "rankset", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done


def cells(path):
    book = openpyxl.load_workbook(path, data_only=True)
    return [list(row) for row in book.active.iter_rows(values_only=True)]


@pytest.mark.parametrize("export", EXPORTS)
def test_files_of_excel_go_in_and_out(tmp_path, convert, export):
    suffix, sep, decimal, encoding, language = EXPORTS[export]
    names = NAMES[language]
    for name, n in (("val", 60), ("new", 12)):
        text = table(sep, decimal, names, n)
        (tmp_path / f"{name}.{suffix}").write_bytes(text.encode(encoding))
    val, new = f"val.{suffix}", f"new.{suffix}"
    columns = ("--label", "answer", "--id", "id", "--drop", "weight")
    rankset(tmp_path, "calibrate", val, *columns, "-o", "rule.rankset")
    assert b"coverage" in rankset(tmp_path, "evaluate", "rule.rankset", new, *columns, "--alpha", "20%").stdout
    predict = ("predict", "rule.rankset", new, "--id", "id", "--keep", "weight", "--alpha", "0,2", "-o")
    rankset(tmp_path, *predict, "plain.jsonl")
    rankset(tmp_path, *predict, "sets.csv", "--excel")
    rankset(tmp_path, *predict, "book.xlsx")

    opened_with = f"--infilter=CSV:{ord(';' if decimal == ',' else ',')},34,{UTF8},1,,{language},false,true"
    from_csv = cells(convert(tmp_path / "sets.csv", "xlsx", opened_with))
    from_book = cells(convert(tmp_path / "book.xlsx", "xlsx"))
    assert from_csv[0] == from_book[0] == ["id", "weight", "size", "top", "labels"]
    assert [row[0] for row in from_csv[1:]] == [f"{names[0]} {place}" for place in range(12)]
    assert [row[1] for row in from_csv[1:]] == [place / 4 for place in range(12)]
    assert {type(row[2]) for row in from_csv[1:]} == {int}
    assert {row[3] for row in from_csv[1:]} <= set(names)
    assert all(set(row[4].split("|")) <= set(names) and len(row[4].split("|")) == row[2] for row in from_csv[1:])
    assert from_book == from_csv


@pytest.mark.parametrize("export", ["german, ANSI", "english, ANSI"])
def test_workbooks_of_libreoffice_are_read(tmp_path, convert, export):
    """The same rule from a csv file and from the workbook that LibreOffice makes of it."""
    _, sep, decimal, encoding, language = EXPORTS[export]
    text = table(sep, decimal, NAMES[language], 40)
    (tmp_path / "val.csv").write_bytes(text.encode(encoding))
    book = convert(tmp_path / "val.csv", "xlsx", f"--infilter=CSV:{ord(sep)},34,{ANSI},1,,{language},false,true")
    columns = ("--label", "answer", "--drop", "id", "--drop", "weight")
    rankset(tmp_path, "calibrate", "val.csv", *columns, "-o", "csv.rankset")
    rankset(tmp_path, "calibrate", str(book), *columns, "-o", "book.rankset")
    assert (tmp_path / "csv.rankset").read_bytes() == (tmp_path / "book.rankset").read_bytes()


def test_formulas_stay_texts(tmp_path, convert):
    names = ["=1+1", "@x", "-y"]
    lines = [",".join([*names, "k"]), *(["0.5,0.25,0.25,=2+2"] * 5)]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    (tmp_path / "y.txt").write_text("\n".join(names[:1] * 5))
    rankset(tmp_path, "calibrate", "a.csv", "y.txt", "--drop", "k", "-o", "rule.rankset")
    rankset(tmp_path, "predict", "rule.rankset", "a.csv", "--keep", "k", "--excel", "-o", "sets.csv")
    rankset(tmp_path, "predict", "rule.rankset", "a.csv", "--keep", "k", "-o", "book.xlsx")
    read = f"--infilter=CSV:44,34,{UTF8},1,,{ENGLISH},false,true"
    for path, options, mark in (("sets.csv", [read], "'"), ("book.xlsx", [], "")):
        found = cells(convert(tmp_path / path, "xlsx", *options))
        assert {row[0] for row in found[1:]} == {f"{mark}=2+2"}
        assert {row[2] for row in found[1:]} == {f"{mark}=1+1"}
