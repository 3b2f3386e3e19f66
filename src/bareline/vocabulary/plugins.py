"""Find probes, platform types, importers, exhibits and studies: bareline's own and of plug-ins.

bareline's own objects of one kind are constants at the end of modules (``PROBE = ...``), in one
package of bareline. A plug-in is an object of an installed package, in the entry-point group of its
kind (``bareline.probes``). Names are unique: a second object with the same name is refused.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar

from bareline.vocabulary.errors import PluginError

T = TypeVar("T")

#: A thing that was found, and where: a module, or the value of an entry point.
Found = tuple[str, T]


def own(package: str, constant: str, *, deep: bool = False) -> Iterator[Found[Any]]:
    """Find the objects that the modules of one of bareline's packages define at their end.

    - `constant`: the name of the object; with an S at its end, the name of a tuple of objects.
      Modules without either are skipped.
    - `deep`: also search the packages inside the package.
    """
    path = importlib.import_module(package).__path__
    walk = pkgutil.walk_packages if deep else pkgutil.iter_modules
    for module in walk(path, f"{package}."):
        defined = vars(importlib.import_module(module.name))
        if constant in defined:
            yield module.name, defined[constant]
        yield from ((module.name, thing) for thing in defined.get(f"{constant}S", ()))


@cache
def has_plugins(group: str) -> bool:
    """Whether an installed package defines objects in an entry-point group."""
    return bool(entry_points(group=group))


def brought(group: str) -> Iterator[Found[Any]]:
    """Load the objects of an entry-point group; raises PluginError if one fails to load."""
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        try:
            thing = entry.load()
        except Exception as error:  # foreign code may raise anything
            raise PluginError(
                f"the plug-in '{entry.name}' cannot be loaded: {type(error).__name__}: {error}",
                where=f"{group}, {entry.value}",
                hint="repair or uninstall the package of the plug-in",
            ) from error
        yield f"{group}, {entry.value}", thing


def named(noun: str, objects: Iterable[Found[T]], name: Callable[[T], str]) -> dict[str, T]:
    """Return the found objects by name; `noun` is their kind, e.g. ``probe``.

    Raises PluginError: two objects have the same name.
    """
    things: dict[str, T] = {}
    places: dict[str, str] = {}
    for where, thing in objects:
        key = name(thing)
        if key in things:
            raise PluginError(
                f"the {noun} '{key}' comes from two plug-ins: this one and {places[key]}",
                where=where,
                hint="rename one of them, or uninstall the package that brings it",
            )
        things[key] = thing
        places[key] = where
    return things


def checked(noun: str, objects: Iterable[Found[Any]], kind: type[T]) -> Iterator[Found[T]]:
    """Check the class of the found objects; raises PluginError: an object has another class."""
    for where, thing in objects:
        if not isinstance(thing, kind):
            raise PluginError(
                f"the plug-in is not a valid {noun}: its type is {type(thing).__name__}",
                where=where,
                hint=f"give an instance of {kind.__module__}.{kind.__name__}",
            )
        yield where, thing
