"""Sentences about files: of scores, labels and sets, and of rules."""

from collections.abc import Sequence

from rankset.errors.base import RanksetError, join_names, short_repr


class FileError(RanksetError, ValueError):
    """A file of scores, labels or sets that cannot be read or written."""

    @classmethod
    def missing(cls, path: str) -> "FileError":
        return cls(f"{path}: there is no such file. Check the path.")

    @classmethod
    def unreadable(cls, path: str, reason: str) -> "FileError":
        return cls(f"{path}: it cannot be read: {reason.rstrip('.')}. Is it whole, and of the kind its name says?")

    @classmethod
    def no_shards(cls, path: str) -> "FileError":
        return cls(f"{path}: there are no files of scores. Check the folder or the pattern.")

    @classmethod
    def unpaired(cls, scores: int, labels: int) -> "FileError":
        return cls(
            f"every file of scores needs one of labels, got {scores} and {labels}. "
            f"Files are paired in the order of their names."
        )

    @classmethod
    def same_stem(cls, path: str) -> "FileError":
        return cls(
            f"{path}: files of labels are found by their names, and several have this one. "
            f"Give them different names, or pass both in the same order with the same names."
        )

    @classmethod
    def same_target(cls, path: str) -> "FileError":
        return cls(f"{path}: two files of scores would be written there. Give them different names.")

    @classmethod
    def within(cls, path: str, message: str) -> "FileError":
        return cls(f"{path}: {message}")

    @classmethod
    def unknown_kind(cls, path: str, known: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: its name must end in one of {', '.join(known)} (with .gz for texts). Rename or convert it."
        )

    @classmethod
    def no_class(cls, path: str, missing: Sequence[str]) -> "FileError":
        return cls(f"{path}: the columns must be the classes of the rule, got none for {join_names(missing)}. Add it.")

    @classmethod
    def unmatched(cls, path: str) -> "FileError":
        return cls(f"{path}: it has no partner of the same name. Every file of scores needs its file of labels.")

    @classmethod
    def twice(cls, path: str) -> "FileError":
        return cls(f"{path}: it was given twice. No row may count twice.")

    @classmethod
    def numbers_in_another_order(cls, path: str) -> "FileError":
        return cls(
            f"{path}: labels are column numbers, and its columns stand in another order than those of the classes. "
            f"Pass labels by name, or columns in that order."
        )

    @classmethod
    def numbers_or_names(cls, path: str, names: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: labels must tell their columns by name, got whole numbers, which may be column numbers or the "
            f"names {join_names(names)}. Write labels as the names are written."
        )

    @classmethod
    def first_class(cls, path: str, name: str) -> "FileError":
        return cls(
            f"{path}: a single column must hold the probability of the second class, got a column called as the first, "
            f"{short_repr(name)}. Write the probability of the second class, or rename the column."
        )

    @classmethod
    def no_array(cls, path: str, name: str) -> "FileError":
        return cls(
            f"{path}: columns kept in npz must hold numbers or texts, got lists or bytes in {short_repr(name)}. "
            f"Write jsonl or parquet."
        )

    @classmethod
    def other_type(cls, name: str, expected: object, received: object) -> "FileError":
        return cls(
            f"column {short_repr(name)} must be of one type in all files to be kept, got {expected} and then {received}. "
            f"Convert it, or write csv."
        )

    @classmethod
    def no_name(cls, path: str) -> "FileError":
        return cls(f"{path}: every column must have a name, got one without. If it is an index, say --drop ''.")

    @classmethod
    def no_arrays(cls, path: str, key: str) -> "FileError":
        return cls(f"{path}: --key picks an array of an .npz file, got {short_repr(key)} for another kind. Drop --key.")

    @classmethod
    def not_a_column(cls, path: str, shape: tuple[int, ...]) -> "FileError":
        return cls(f"{path}: it must have one entry per row, it has the shape {shape}. Pass a one-dimensional array.")

    @classmethod
    def one_column_twice(cls, name: str) -> "FileError":
        return cls(
            f"a column is one of labels, groups or ids, got {short_repr(name)} for two of them. Pass different ones."
        )

    @classmethod
    def other_names(cls, told: Sequence[str], names: Sequence[str]) -> "FileError":
        return cls(
            f"the classes that were told must be the names of the columns, got {join_names(told)} and {join_names(names)}. "
            f"Name the columns so, or pass a file without a header and --no-header."
        )

    @classmethod
    def own_input(cls, path: str) -> "FileError":
        return cls(f"{path}: it is an input of this command. Write to another file.")

    @classmethod
    def same_names(cls, path: str, name: str) -> "FileError":
        return cls(f"{path}: columns must have different names, got {short_repr(name)} twice. Rename one of them.")

    @classmethod
    def no_header(cls, path: str, names: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: the first line must name the columns, got {join_names(names, 3)}. "
            f"If there are no names say --no-header."
        )

    @classmethod
    def other_separator(cls, path: str, name: str) -> "FileError":
        return cls(
            f"{path}: columns must be separated by commas (.csv) or tabs (.tsv), got one column {short_repr(name)}."
        )

    @classmethod
    def suffix(cls, path: str, expected: str) -> "FileError":
        return cls(f"{path}: its name must end in {expected}. Call it so: other commands go by the name.")

    @classmethod
    def separator_in_name(cls, path: str, name: object) -> "FileError":
        return cls(
            f"{path}: a csv file puts | between labels, got the class {short_repr(name)}. Write jsonl or parquet."
        )

    @classmethod
    def not_for_spreadsheets(cls, path: str) -> "FileError":
        return cls(f"{path}: --excel writes csv for spreadsheets, got another kind. Write to a name that ends in .csv.")

    @classmethod
    def workers_ended(cls) -> "FileError":
        return cls(
            "every worker process must live until its files are done, got one that ended before. In a script, call "
            "this under if __name__ == '__main__': (every process imports the script again); if memory ran out, "
            "pass workers=1."
        )

    @classmethod
    def no_main_guard(cls) -> "FileError":
        return cls(
            "several processes are started from under if __name__ == '__main__':, got a call that runs while a script "
            "is imported. Put the call there, or pass workers=1."
        )

    @classmethod
    def taken(cls, name: str) -> "FileError":
        return cls(f"the sets have a column {name!r} of their own, so none of that name can be kept. Rename yours.")

    @classmethod
    def pickled(cls, path: str) -> "FileError":
        return cls(f"{path}: it holds Python objects, which are never loaded: that runs code. Save plain numbers.")

    @classmethod
    def bomb(cls, path: str, name: str, packed: int, size: int) -> "FileError":
        return cls(f"{path}: {name!r} would unpack from {packed:,} to {size:,} bytes. It is not read.")

    @classmethod
    def which_key(cls, path: str, keys: Sequence[str]) -> "FileError":
        return cls(f"{path}: it holds {join_names(keys) or 'no arrays'}; say which one with --key.")

    @classmethod
    def no_key(cls, path: str, key: str, keys: Sequence[str]) -> "FileError":
        return cls(f"{path}: it has no {short_repr(key)}, it has {join_names(keys)}.")

    @classmethod
    def no_column(cls, path: str, name: str, names: Sequence[str]) -> "FileError":
        has = f"it has {join_names(names)}" if names else "its columns have no names"
        return cls(f"{path}: it has no column {short_repr(name)}, {has}.")

    @classmethod
    def no_scores(cls, path: str, names: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: no column is left for scores, it has {join_names(names) or 'none'}. Pass a column per class."
        )

    @classmethod
    def one_column(cls, path: str, names: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: it must have one column, it has {join_names(names)}. Pass a file of labels alone, or --label."
        )

    @classmethod
    def ragged(cls, path: str, name: str, row: int) -> "FileError":
        return cls(
            f"{path}: the lists in {short_repr(name)} must have one length, row {row} has another. Pad or drop it."
        )

    @classmethod
    def not_numbers(cls, path: str, name: str, received: str) -> "FileError":
        told = received if len(received) <= 80 else f"{received[:79]}…"
        return cls(
            f"{path}: column {short_repr(name)} must hold numbers, it holds {told}. "
            f"If it is no class, name it as label, group or id, or drop it (--drop)."
        )

    @classmethod
    def missing_cell(cls, path: str, name: str, row: int) -> "FileError":
        return cls(f"{path}: column {short_repr(name)} has no value at row {row}. Drop that row.")

    @classmethod
    def no_pyarrow(cls, path: str) -> "FileError":
        return cls(f"{path}: reading it needs pyarrow, which is not installed. Install rankset with [cli].")

    @classmethod
    def unwritable(cls, path: str, reason: str) -> "FileError":
        return cls(f"{path}: it cannot be written: {reason}.")

    @classmethod
    def exists(cls, path: str) -> "FileError":
        return cls(f"{path}: it exists already. Pass --force (force=True) to replace it.")

    @classmethod
    def no_labels(cls) -> "FileError":
        return cls("labels are needed: pass a second file, or --label with the name of their column.")

    @classmethod
    def lists_and_columns(cls, path: str, lists: str, numbers: Sequence[str]) -> "FileError":
        return cls(
            f"{path}: scores must be a column of lists or a column per class, got the lists {short_repr(lists)} and the "
            f"columns {join_names(numbers)}. Leave one of them out (--drop)."
        )

    @classmethod
    def class_apart(cls, path: str, name: str) -> "FileError":
        return cls(
            f"{path}: column {short_repr(name)} is a class of the rule, and was given as labels, groups, ids or to be "
            f"dropped. Rename that column, or the classes."
        )

    @classmethod
    def mixed_groups(cls, names: Sequence[object]) -> "FileError":
        return cls(
            f"a group must be written alike in all files, as a number or as a text, got {join_names(names)}. "
            f"Convert the column in some of the files."
        )

    @classmethod
    def stdin_alone(cls) -> "FileError":
        return cls("standard input (-) can be read once, and not beside other files. Write it to a file first.")

    @classmethod
    def other_order(cls, path: str, scores: str, row: int) -> "FileError":
        return cls(
            f"{path}: labels must stand in the order of the rows of {scores}, got another index from row {row} on. "
            f"Sort both files alike, or write them without an index."
        )

    @classmethod
    def no_label_column(cls, path: str, name: str, names: Sequence[str]) -> "FileError":
        has = f"it has {join_names(names)}" if names else "its columns have no names"
        return cls(
            f"{path}: it has no column {short_repr(name)} of labels, {has}. With --label every file holds scores and that "
            f"column; pass a file of labels with --labels."
        )

    @classmethod
    def labels_alone(cls, path: str, name: str) -> "FileError":
        return cls(
            f"{path}: every file must hold scores beside the labels of --label {name}, it holds no scores. "
            f"Pass a file of labels with --labels."
        )

    @classmethod
    def too_large(cls, path: str, limit: int, needed: int | None) -> "FileError":
        takes = "more" if needed is None else f"{needed:,} or more"
        return cls(
            f"{path}: reading it may take {limit:,} bytes of memory, it takes {takes}. Allow more with --max-memory "
            f"(RANKSET_MAX_MEMORY), pass fewer rows or columns, or an .npy file, which is read from disk."
        )


class StorageError(RanksetError, ValueError):
    """A file that cannot be read or written."""

    @classmethod
    def unreadable(cls, path: object, reason: str) -> "StorageError":
        return cls(f"{path} is not a whole rankset file: {reason}. Save the rule again, or fetch an undamaged copy.")

    @classmethod
    def future(cls, path: object, number: int, known: int) -> "StorageError":
        return cls(
            f"{path} has format {number}, this version of rankset reads up to {known}. Upgrade rankset to read it."
        )

    @classmethod
    def too_large(cls, path: object, what: str, size: int, limit: int) -> "StorageError":
        return cls(f"{path} has {what} of {size:,} bytes, at most {limit:,} are read. Is this a rankset file?")

    @classmethod
    def names_too_long(cls, path: object, size: int, limit: int) -> "StorageError":
        return cls(
            f"{path} was not written: its class and group names would take {size:,} bytes, at most {limit:,} are read. "
            f"Use shorter names, or calibrate without classes= and keep the names elsewhere."
        )

    @classmethod
    def too_many_classes(cls, count: int, limit: int) -> "StorageError":
        return cls(
            f"a file holds a rule of at most {limit:,} classes, got {count:,}; nothing was written. "
            f"Merge classes that never occur, or keep the calibration scores and calibrate again."
        )

    @classmethod
    def nested_too_far(cls, limit: int) -> "StorageError":
        return cls(
            f"a file holds at most {limit:,} scores or conditions inside one another, got more; nothing was written. "
            f"Combine fewer of them."
        )

    @classmethod
    def not_storable(cls, what: str, value: object) -> "StorageError":
        return cls(
            f"only rankset's own {what} can be stored, because loading a file must never run foreign code, "
            f"got {value!r}. Keep the calibration scores and calibrate again after loading."
        )
