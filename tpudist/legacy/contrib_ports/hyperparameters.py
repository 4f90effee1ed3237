"""``tf.contrib.training.HParams``, and ``tf.contrib.learn.ModeKeys``."""

from __future__ import annotations

import json
import numbers
import re
from typing import Any, Callable, Iterable, Mapping

_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))\s*(?:,|$)\s*"
)


class ModeKeys:
    """The modes that a model function is called in (r1.15)."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError for what is no mode."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError("Invalid mode %s." % key)


class HParams:
    """Named hyperparameters as attributes, of the type of their first value (r1.15).

    Args:
      hparam_def: None; the protocol buffer of 1.15 went with it.
      model_structure: anything, kept.
      **kwargs: name and value of each: a number, a str, a bool, a list of these, or None.

    Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/contrib/training/HParams.md
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        if hparam_def is not None:
            raise ValueError("hparam_def: HParams of today are made of names and values only")
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: object) -> None:
        """Adds one; a list must not be empty, nor a name be taken (ValueError)."""
        if getattr(self, name, None) is not None:
            raise ValueError("Hyperparameter name is reserved: %s" % name)
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError("Multi-valued hyperparameters cannot be empty: %s" % name)
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets one that is there (else KeyError), to a value of its type (else ValueError)."""
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(
                "Must %spass a list for the parameter: %s" % ("" if is_list else "not ", name)
            )
        setattr(
            self, name, [_as(name, kind, v) for v in value] if is_list else _as(name, kind, value)
        )

    def del_hparam(self, name: str) -> None:
        """Removes one, if it is there."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Sets those of a text such as ``"rate=0.1,layers=[2,3]"``; self."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Sets those of a dictionary; self."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    set_from_map = override_from_dict

    def parse_json(self, values_json: str) -> HParams:
        """Sets those of a JSON object; self."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """All of them as a JSON object; functions are left out."""
        kept = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(kept, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """{name: value} of all."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> object:
        """The value of one, or `default`, which has to be of its type (ValueError)."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            kind, is_list = self._hparam_types[key]
            if is_list != isinstance(default, list):
                raise ValueError("%s: the default is %s" % (key, default))
            for value in default if is_list else [default]:
                _as(key, kind, value)
        return getattr(self, key)

    def set_model_structure(self, model_structure: object) -> None:
        """Keeps an object beside the values."""
        self._model_structure = model_structure

    def get_model_structure(self) -> object:
        """The structure that `set_model_structure` set."""
        return self._model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return "HParams(%s)" % self


def parse_values(
    values: str, type_map: Mapping[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """{name: value} of a text such as ``"rate=0.1,layers=[2,3],layers[1]=4"`` (r1.15).

    Args:
      values: assignments with commas between.
      type_map: the type of each name.
      ignore_unknown: whether other names are left out instead of a ValueError.

    Returns:
      A dictionary; elements of a list are a dictionary of index and value.

    Raises:
      ValueError: it cannot be read, is of another type, or assigned twice.
    """
    assigned: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError("Malformed hyperparameter value: %s" % values[position:])
        position = match.end()
        name = match.group("name")
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError("Unknown hyperparameter type for %s" % name)
        _assign(assigned, match, _reader(name, type_map[name], values))
    return assigned


def _assign(assigned: dict[str, Any], match: Any, read: Callable[[str], Any]) -> None:
    name, index, listed = match.group("name", "index", "list")
    if index is not None:
        elements = assigned.setdefault(name, {})
        if not isinstance(elements, dict) or int(index) in elements or listed is not None:
            raise ValueError("Multiple assignments to variable '%s'" % name)
        elements[int(index)] = read(match.group("value"))
        return
    if name in assigned:
        raise ValueError("Multiple assignments to variable '%s'" % name)
    if listed is None:
        assigned[name] = read(match.group("value"))
    else:
        assigned[name] = [read(part) for part in _parts(listed)]


def _parts(listed: str) -> Iterable[str]:
    return [part.strip() for part in listed.split(",") if part.strip()]


def _reader(name: str, kind: type, values: str) -> Callable[[str], Any]:
    def read(text: str) -> object:
        text = text.strip()
        try:
            if kind is bool:
                return {"true": True, "1": True, "false": False, "0": False}[text.lower()]
            return text if kind in (str, type(None)) else kind(text)
        except (KeyError, ValueError):
            raise ValueError(
                "Could not parse hparam '%s' of type '%s' with value '%s' in %s"
                % (name, kind.__name__, text, values)
            ) from None

    return read


def _as(name: str, kind: type, value: object) -> object:
    """`value` as `kind` where that loses nothing."""
    if kind is type(None) or value is None or kind is type(value):
        return value
    numeric = issubclass(kind, numbers.Number) and isinstance(value, numbers.Number)
    lost = issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral)
    if bool in (kind, type(value)) or (not numeric and kind is not str) or lost:
        raise ValueError(
            "Could not cast hparam '%s' of type '%s' from value %r" % (name, kind, value)
        )
    if kind is str and not isinstance(value, (str, bytes)):
        raise ValueError(
            "Could not cast hparam '%s' of type '%s' from value %r" % (name, kind, value)
        )
    return value.decode() if isinstance(value, bytes) else kind(value)
