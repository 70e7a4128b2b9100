"""Data with types: records that JSON becomes and that become JSON, and tables of columns.

The classes themselves are generated: `anabranch.plan` and `anabranch.tables`.
"""

from __future__ import annotations

import dataclasses
import json
import keyword
import types
from collections.abc import Callable, Iterator
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import NDArray

from .offers import UnknownName, find, offering

Numbers: TypeAlias = NDArray[np.float64]
"""A column of measured values, or a matrix of them with one row for each sample; NaN where a world
has no value. Counts are whole numbers, and stored as such where the world counts them."""

Indices: TypeAlias = NDArray[np.int64]
"""A column of numbers that say which row of another table, or which user or path."""

Words: TypeAlias = list[str]
"""A column of names."""

Flags: TypeAlias = NDArray[np.bool_]
"""A column of truth values."""

Read: TypeAlias = Callable[..., Any]


class Missing(AttributeError, UnknownName):
    """A record has no such field, or its world does not know it."""

    __str__ = UnknownName.__str__


class Composed:
    """Base of objects that become a table of JSON."""

    def json_parts(self) -> dict[str, Any]:
        """The fields by key; records and arrays are not yet plain data."""
        return {name.rstrip("_"): value for name, value in vars(self).items()}

    def to_json(self) -> dict[str, Any]:
        """The table as plain data; NaN becomes null, infinity the string "inf"."""
        return {key: plain(value) for key, value in self.json_parts().items()}


R = TypeVar("R")


@dataclass_transform(kw_only_default=True, field_specifiers=(dataclasses.field,))
def record(
    *, frozen: bool = False, eq: bool = True, repr: bool = True
) -> Callable[[type[R]], type[R]]:
    """A dataclass whose fields are given by name.

    `dataclasses` compiles five methods of its own for each class. These here are the same functions
    for all, so that a command which needs a hundred classes starts sooner.
    """

    def decorate(cls: type[R]) -> type[R]:
        made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=True)(cls)
        made.__init__ = initialise
        if repr:
            made.__repr__ = shown
        if eq:
            made.__eq__ = equal
            made.__hash__ = hashed if frozen else None
        made.__dataclass_params__.frozen = frozen  # what `dataclasses` asks of the base of a class
        if frozen:
            made.__setattr__ = made.__delattr__ = refuse
        return cls

    return decorate


def initialise(self: Any, **values: Any) -> None:
    """Sets each field to its value, or to its default."""
    own, name_of_class = vars(self), type(self).__name__
    for field in dataclasses.fields(self):
        if field.name in values:
            own[field.name] = values.pop(field.name)
        elif field.default is not dataclasses.MISSING:
            own[field.name] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            own[field.name] = field.default_factory()
        else:
            raise TypeError(f"{name_of_class}() lacks {field.name!r}")
    if values:
        raise TypeError(f"{name_of_class}() has no {next(iter(values))!r}")
    if hasattr(type(self), "__post_init__"):
        self.__post_init__()


def shown(self: Any) -> str:
    """The name of the class, and every field."""
    own = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
    return f"{type(self).__qualname__}({own})"


def equal(self: Any, other: Any) -> Any:
    """Whether both have the same class and equal fields."""
    return vars(self) == vars(other) if type(self) is type(other) else NotImplemented


def hashed(self: Any) -> int:
    """A hash of the fields, which must have one."""
    return hash(tuple(vars(self).values()))


def refuse(self: Any, name: str, *_: Any) -> None:
    """A frozen record does not change."""
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


class Record(Composed):
    """A dataclass that can be read from JSON and written as JSON.

    A field that is a keyword in Python has an underscore behind its name.

    Runs were dictionaries in 0.1.0. For scripts of that time fields can also be read as the JSON
    has them, by subscript (`run["flows"]["throughput_bps"]`), `get`, `in` and `keys`. Type checkers
    do not see these, and the package does not use them.
    """

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """The record in `content`.

        Files of older versions lack the fields that came later. Such a field is off: None, false,
        zero, an empty list or the first of its words. A field that was renamed is taken from its
        former name where the file has only that. Raises ValueError if there is nothing to take for
        a field, or something is of an unknown kind.
        """
        if not isinstance(content, dict):
            raise ValueError(f"{cls.__name__}: {content!r} is not a table")
        return cls(**{name: read(content) for name, read in readers(cls).items()})

    def __repr__(self) -> str:
        """The fields; of lists of records only how many there are. Most records are shown whole."""
        return f"{type(self).__name__}({', '.join(map(counted, vars(self).items()))})"

    def has(self, name: str) -> bool:
        """Whether the record has the field: its world may not know it."""
        return identifier(name) in vars(self)

    if not TYPE_CHECKING:  # attributes have types

        def __getitem__(self, key: str) -> Any:
            try:
                return vars(self)[identifier(key)]
            except KeyError:
                raise Missing(missing(self, key)) from None

        def __contains__(self, key: str) -> bool:
            return identifier(key) in vars(self)

        def __iter__(self) -> Iterator[str]:
            return (name.rstrip("_") for name in vars(self))

        def keys(self) -> list[str]:
            """The names of its fields, as the JSON has them."""
            return list(self)

        def get(self, key: str, default: Any = None) -> Any:
            """A field, or `default` if absent."""
            return vars(self).get(identifier(key), default)

        def __getattr__(self, name: str) -> Any:
            raise Missing(missing(self, name))


class Partial(Record):
    """A record with fields that only some worlds know. Reading an absent field is an error."""

    def __post_init__(self) -> None:
        """Leaves out absent fields."""
        for name in [name for name, value in vars(self).items() if value is ABSENT]:
            del vars(self)[name]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(vars(self))})"


class Table(Partial):
    """Columns of one length."""

    PLACE: ClassVar[str]
    """Path of the table in a run, such as "series.paths"."""

    def __post_init__(self) -> None:
        """Leaves out absent columns, and makes arrays of the others."""
        super().__post_init__()
        for name, hint in hints(type(self)).items():
            if name in vars(self) and hint in COLUMNS:
                vars(self)[name] = COLUMNS[hint](vars(self)[name])

    def column(self, name: str) -> Numbers:
        """A column of numbers by its name, in any case and with spaces or hyphens for underscores.

        Raises KeyError if there is no such column, or if it holds names.
        """
        key = identifier(name)
        if key not in vars(self):
            found = find(name, vars(self))
            if found is None:
                raise Missing(missing(self, name))
            key = found
        column: Numbers = vars(self)[key]
        if not isinstance(column, np.ndarray):
            raise Missing(f"{name} of {type(self).__name__} is not a column of numbers")
        return column


ABSENT: Any = object()


@dataclasses.dataclass(frozen=True)
class Meaning:
    """Unit and description of a column."""

    unit: str
    text: str


def absent() -> Any:
    """The mark of a field that the world does not know, while a record is made."""
    return ABSENT


def part() -> Any:
    """A field of a `Partial` that some worlds lack."""
    return dataclasses.field(default_factory=absent)


def column(unit: str, text: str) -> Any:
    """A column of a table: its unit and its meaning."""
    return dataclasses.field(default_factory=absent, metadata={"meaning": Meaning(unit, text)})


def renamed(former: str) -> Any:
    """A field that files of older versions have under another name."""
    return dataclasses.field(metadata={"formerly": former})


def meanings(table: type[Table]) -> dict[str, Meaning]:
    """The columns of a table, by their names in JSON."""
    fields = dataclasses.fields(table)  # type: ignore[arg-type]
    return {
        field.name.rstrip("_"): field.metadata["meaning"]
        for field in fields
        if "meaning" in field.metadata
    }


def plain(value: Any) -> Any:
    """Records and arrays as plain data; JSON has neither NaN nor infinity."""
    if isinstance(value, Composed):
        return value.to_json()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        finite = value.dtype.kind != "f" or np.isfinite(value).all()
        return value.tolist() if finite else plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and value != value:
        return None
    if value in (float("inf"), float("-inf")) and isinstance(value, float):
        return "inf" if value > 0 else "-inf"
    return value


PIECE = 8192
"""Values of a list that are made text at one time."""


def pieces(value: Any) -> Iterator[str]:
    """The JSON of what `plain` takes, piece by piece: of a long series the whole text, and each
    number as an object of Python, take several times the memory of the series.
    """
    if isinstance(value, Composed):
        value = value.json_parts()
    if isinstance(value, dict):
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield f"{',' if number else ''}{dumped(str(key))}:"
            yield from pieces(item)
        yield "}"
    elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim):
        of_row = int(np.prod(value.shape[1:])) if isinstance(value, np.ndarray) else 1
        at_once = max(1, PIECE // max(1, of_row))
        yield "["
        for first in range(0, len(value), at_once):
            yield "," if first else ""
            yield from items(value[first : first + at_once])
        yield "]"
    else:
        yield dumped(plain(value))


def items(values: Any) -> Iterator[str]:
    """Some items of a list, with commas between them."""
    if isinstance(values, np.ndarray) and values.size > PIECE:  # one long row
        yield from pieces(values[0])
    elif isinstance(values, np.ndarray) or not any(isinstance(one, NESTED) for one in values):
        yield dumped(plain(values))[1:-1]
    else:
        for number, one in enumerate(values):
            yield "," if number else ""
            yield from pieces(one)


NESTED = (Composed, dict, list, tuple, np.ndarray)
"""List items that may themselves be long."""


def dumped(value: Any) -> str:
    """The JSON of plain data, without spaces."""
    return json.dumps(value, separators=(",", ":"))


def restored(value: Any) -> Any:
    """The inverse of `plain` for nested lists of numbers: NaN and infinity back in place."""
    if isinstance(value, list):
        return [restored(item) for item in value]
    return float("nan") if value is None else float(value) if isinstance(value, str) else value


def identifier(key: str) -> str:
    """The attribute for a key of JSON."""
    return f"{key}_" if keyword.iskeyword(key) else key


def missing(record: Record, key: str) -> str:
    """Says that a record has no such field, and which it has."""
    known = [name.rstrip("_") for name in vars(record)]
    return offering(f"{type(record).__name__} has no {key!r}", key, known, "it has")


def counted(field: tuple[str, Any]) -> str:
    """A field and its value; of a list of records their number."""
    name, value = field
    if isinstance(value, list) and value and isinstance(value[0], Record):
        return f"{name}=[{len(value)} of {type(value[0]).__name__}]"
    return f"{name}={value!r}"


def hints(cls: type[Any]) -> dict[str, Any]:
    """The types of the fields of a record."""
    if cls not in HINTS:
        known = get_type_hints(cls)
        HINTS[cls] = {field.name: known[field.name] for field in dataclasses.fields(cls)}
    return HINTS[cls]


HINTS: dict[type[Any], dict[str, Any]] = {}


def readers(cls: type[Record]) -> dict[str, Read]:
    """For each field, the function that reads its value from JSON."""
    if cls not in READERS:
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        READERS[cls] = {
            field.name: field_reader(cls, field, hints(cls)[field.name]) for field in fields
        }
    return READERS[cls]


READERS: dict[type[Record], dict[str, Read]] = {}


def field_reader(cls: type[Record], field: dataclasses.Field[Any], hint: Any) -> Read:
    """The function that reads a field from JSON."""
    key, read = field.name.rstrip("_"), reader(hint)
    former = field.metadata.get("formerly", key)
    off = ABSENT if issubclass(cls, Partial) else switched_off(hint)

    def find(content: Any) -> Any:
        known = key if key in content else former
        if known in content and (content[known] is not None or off is not ABSENT):
            return read(content[known])
        if off is NEEDED:
            raise ValueError(f"{cls.__name__} has no {key!r}")
        return list(off) if isinstance(off, list) else off

    return find


NEEDED: Any = object()
"""Stands for the value of a field that must be there."""


def switched_off(hint: Any) -> Any:
    """The value of a field that an older version did not know."""
    if type(None) in get_args(hint):
        return None
    if get_origin(hint) is list:
        return []
    if get_origin(hint) is Literal:
        return get_args(hint)[0]
    return hint() if hint in (bool, int, float) else NEEDED


def array(value: Any) -> NDArray[Any]:
    """A column of numbers, from an array or a list of JSON."""
    found = np.asarray(restored(value) if isinstance(value, list) else value)
    return found if found.size else found.astype(float)


def indices(value: Any) -> Indices:
    """A column of indices, from an array or a list."""
    return np.asarray(value, dtype=np.int64)


def flags(value: Any) -> Flags:
    """A column of truth values, from an array or a list."""
    return np.asarray(value, dtype=np.bool_)


def same(value: Any) -> Any:
    """The identity, for data that needs no conversion."""
    return value


COLUMNS: dict[Any, Read] = {Numbers: array, Indices: indices, Words: list, Flags: flags}
"""Converters for each kind of column."""


def reader(hint: Any) -> Read:
    """The function that makes a value of a type from JSON."""
    origin, inner = get_origin(hint), get_args(hint)
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.from_json
    if hint is float:
        return restored
    if origin in (Union, types.UnionType):
        return one_of([each for each in inner if each is not type(None)])
    if origin is tuple:
        return tuple
    if origin is list and reader(inner[0]) is not same:
        each = reader(inner[0])
        return lambda value: [each(item) for item in value]
    return same


def one_of(hints: list[Any]) -> Read:
    """A value of one of several types, or None: `kind` selects the type of a record. Where no type
    is a record, the value stays what it is."""
    if len(hints) == 1:
        only = reader(hints[0])
        return lambda value: None if value is None else only(value)
    kinds: dict[str, Read] = {}
    for hint in hints:
        if isinstance(hint, type) and issubclass(hint, Record):
            (kind,) = get_args(get_type_hints(hint)["kind"])
            kinds[kind] = hint.from_json

    def chosen(value: Any) -> Any:
        if value is None or not kinds:
            return value
        value = tagged(value)
        if value.get("kind") not in kinds:
            raise ValueError(f"{value.get('kind')!r} is not one of {', '.join(kinds)}")
        return kinds[value["kind"]](value)

    return chosen


def tagged(value: Any) -> dict[str, Any]:
    """A table with its `kind`. In files of older versions a kind without parameters is its name,
    and one with parameters a table below its name."""
    if isinstance(value, str):
        return {"kind": value}
    if isinstance(value, dict) and "kind" not in value and len(value) == 1:
        ((kind, parameters),) = value.items()
        return {"kind": kind, **parameters}
    return dict(value)
