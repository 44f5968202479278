"""Errors about several files at once: which files belong together, and processes that read them."""

from collections.abc import Sequence
from typing import Any, Self

from rankset.errors.fields import Either, Text

ONE_WORKER = Either("workers=1", "one file at a time")
GUARD = "`if __name__ == '__main__':`"
IN_A_SCRIPT = Either(f"In a script, call this under {GUARD}, because every process imports the script again. ", "")


class ManyFilesErrors:
    """Constructors of ``FileError`` about several files."""

    @classmethod
    def _of(cls, path: str, what: str, expected: Text, received: Text = "", remedy: Text = "", **more: Any) -> Self:  # noqa: ANN401
        raise NotImplementedError

    @classmethod
    def no_shards(cls, path: str) -> Self:
        remedy = "Check the path and the suffixes of the files."
        return cls._of(path, "the folder or pattern", "contain at least one file of scores", "none", remedy)

    @classmethod
    def unpaired(cls, scores: int, labels: int) -> Self:
        expected, received = "have one file of labels", f"{scores} files of scores and {labels} files of labels"
        return cls._of("", "every file of scores", expected, received, "Pass one file of labels per file of scores.")

    @classmethod
    def unmatched(cls, path: str) -> Self:
        expected = "have a file of labels with the same name"
        remedy = "Add a file of labels with this name, or rename the existing file of labels."
        return cls._of(path, "every file of scores", expected, "none", remedy)

    @classmethod
    def unclear_pairs(cls, scores: Sequence[str], labels: Sequence[str]) -> Self:
        pairs = [f"{ours} and {theirs}" for ours, theirs in zip(scores[:3], labels[:3], strict=False)]
        remedy = "Give files of scores and labels the same names, or list both one by one in the same order."
        return cls._of("", "names of files", "say which labels belong to which scores", "; ".join(pairs), remedy)

    @classmethod
    def two_formats(cls, path: str, first: str) -> Self:
        remedy = "If both files contain the same rows, remove one of them. Otherwise rename one of them."
        return cls._of(path, "file names without suffix", "be different", f"the same name as {first}", remedy)

    @classmethod
    def same_stem(cls, path: str) -> Self:
        remedy = "Scores and labels are matched by file name. Rename one of the two files with this name."
        return cls._of(path, "file names without suffix", "be different", "this name twice", remedy)

    @classmethod
    def same_target(cls, path: str) -> Self:
        received = "two files with the same output file"
        return cls._of(path, "files of scores", "have different names", received, "Rename one of the two files.")

    @classmethod
    def stdin_alone(cls) -> Self:
        expected, remedy = "be used once, and not in a list of files", "Save the data to a file and pass that file."
        return cls._of("", "standard input (-)", expected, "it twice or in a list", remedy)

    @classmethod
    def workers_ended(cls) -> Self:
        remedy = (IN_A_SCRIPT, "If memory ran out, pass ", ONE_WORKER, ".")
        return cls._of("", "every worker process", "run until its files are done", "one that ended too early", remedy)

    @classmethod
    def no_main_guard(cls) -> Self:
        expected, received = f"be started under {GUARD}", "a call that runs during the import of a script"
        return cls._of("", "several processes", expected, received, ("Move the call there, or pass ", ONE_WORKER, "."))
