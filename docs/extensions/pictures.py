"""The directive {plot}: runs code of a Markdown page and shows its figures.

The code may use the names of the Python blocks above it on the page. Options: ``include-source`` shows the code,
``alt`` describes the figure for those who cannot see it.
"""

import contextlib
import importlib.util
import io
import tempfile
import warnings
from pathlib import Path
from typing import ClassVar

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import directives
from page_blocks import CODE, Block, blocks
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

STYLE = {"svg.hashsalt": "rankset", "savefig.facecolor": "white", "figure.dpi": 100}


class Plot(SphinxDirective):
    """Shows the figures that a block of code draws."""

    has_content = True
    option_spec: ClassVar = {"include-source": directives.unchanged, "alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        source = "\n".join(self.content)
        page = Path(self.env.doc2path(self.env.docname))
        folder = Path(self.env.srcdir) / "_pictures" / self.env.docname
        shown: list[nodes.Node] = []
        if self.options.get("include-source", "false") != "false":
            shown.append(nodes.literal_block(source, source, language="python"))
        for path in draw(page, source, folder):
            uri = f"/{path.relative_to(self.env.srcdir).as_posix()}"
            image = nodes.image(uri=uri, alt=self.options.get("alt", ""))
            shown.append(nodes.container("", image, classes=["picture"]))
        self.env.note_dependency(str(page))
        return shown


def draw(page: Path, source: str, folder: Path) -> list[Path]:
    """Run the code of a page up to this block, and save the figures that the block leaves open."""
    above = blocks(page.read_text(encoding="utf-8"))
    number, block = next(
        (i, block)
        for i, block in enumerate(above)
        if block.language == "{plot}" and block.code.strip() == source.strip()
    )
    names = {"__name__": page.stem}
    with (
        tempfile.TemporaryDirectory() as empty,
        contextlib.chdir(empty),
        plt.rc_context(STYLE),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for earlier in above[:number]:
            if earlier.language in CODE and earlier.note != "raises" and installed(earlier):
                execute(earlier, page, names)
        plt.close("all")
        execute(block, page, names)
        folder.mkdir(parents=True, exist_ok=True)
        if not plt.get_fignums():
            raise ValueError(f"{page.name}, line {block.line}: no figure is open at the end of this block")
        paths = [folder / f"{block.line}-{figure}.svg" for figure in plt.get_fignums()]
        for path, figure in zip(paths, plt.get_fignums(), strict=True):
            plt.figure(figure).savefig(path, bbox_inches="tight", metadata={"Date": None})
        plt.close("all")
    return paths


def execute(block: Block, page: Path, names: dict[str, object]) -> None:
    """Run one block; what it prints is not wanted here."""
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile("\n" * block.line + block.code, str(page), "exec", dont_inherit=True), names)  # noqa: S102


def installed(block: Block) -> bool:
    """Tell whether the packages that a block needs are there."""
    return block.note != "needs" or all(map(importlib.util.find_spec, block.value.replace(",", " ").split()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx about the directive."""
    app.add_directive("plot", Plot)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
