"""Law 4: the members of each facade class equal its rows: none missing, hidden or extra."""

import inspect

import pytest

from tests.helpers.signatures import shown
from tests.laws import source
from tpudist import surfaces
from tpudist.dropin import load

#: Packages whose classes make up a facade's strategy.
OURS = tuple("tpudist.%s." % name for name in source.FACADES + ("common",))


def written(facade):
    """{member: the class that defines it} of what our classes say themselves."""
    found = {}
    for owner in facade.__mro__:
        if owner.__module__.startswith(OURS):
            for name in vars(owner):
                if name == "__init__" or not name.startswith("_"):
                    found.setdefault(name, owner)
    return found


def hidden(facade):
    """Our members that a class of TensorFlow's stands before."""
    return sorted(
        name
        for name, owner in written(facade).items()
        if next(each for each in facade.__mro__ if name in vars(each)) is not owner
    )


def differences(facade, rows):
    """["what: member", ...] by which a class and its rows differ."""
    ours = written(facade)
    found = ["missing: " + name for name in rows if name not in ours]
    found += ["extra: " + name for name in ours if name not in rows]
    found += ["hidden: " + name for name in hidden(facade)]
    for name in sorted(set(rows) & set(ours)):
        member = vars(ours[name])[name]
        function = member.fget if isinstance(member, property) else member
        if isinstance(member, property) != (rows[name].kind == "property"):
            found.append("property or method: " + name)
        elif rows[name].kind != "property" and shown(member) != rows[name].signature:
            found.append("signature: %s%s" % (name, shown(member)))
        operation = rows[name].leads_to.rpartition(":")[2]
        if "adapter.%s(" % operation not in inspect.getsource(inspect.unwrap(function)):
            found.append("leads elsewhere: " + name)
    return sorted(found)


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_members_equal_rows(era):
    facade = load(surfaces.EXPORTS[era]["TPUStrategy"])
    assert len(written(facade)) > 10, "where did the facade's members go?"
    source.hold(differences(facade, surfaces.members(era)))


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_rule_sees_each_kind_of_difference(era):
    facade = load(surfaces.EXPORTS[era]["TPUStrategy"])
    rows = surfaces.members(era)
    scope = rows.pop("scope")
    rows["reduce"] = rows["reduce"]._replace(signature="()")
    rows["extended"] = rows["extended"]._replace(leads_to="tpudist.adapter:run")
    rows["group"] = rows["group"]._replace(kind="property", signature="")
    rows["gather"] = scope

    class Shadowing:
        def scope(self):
            """Stands before ours, as a base class of TensorFlow's might."""

    shadowed = type("TPUStrategy", (Shadowing, facade), {})
    found = "\n".join(differences(shadowed, rows))
    for what in (
        "missing: gather",
        "extra: scope",
        "hidden: scope",
        "signature: reduce(",
        "leads elsewhere: extended",
        "property or method: group",
    ):
        assert what in found, what
