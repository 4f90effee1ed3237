"""What names are bound to and read, as libcst's ``ScopeProvider`` has it."""

import builtins


class Access:
    """A name that is read: its node, the longest ``a.b`` that an import binds, or a string."""

    __slots__ = ("index", "node", "scope")

    def __init__(self, node, scope):
        self.node, self.scope, self.index = node, scope, scope.count


class Assignment:
    """A name that is bound.

    Attributes:
      name: the name.
      scope: the `Scope` that it is bound in.
      node: a Name, a definition, a Param or an import.
      references: the `Access`es to it, the keys of a dict, in the order of the walk.
    """

    def __init__(self, name, scope, node=None):
        self.name, self.scope, self.node = name, scope, node
        self._index = scope.count
        self.references = {}

    def read(self, scope, accesses):
        """Notes accesses from a scope; those before it in its own are to what it hides."""
        own = self.scope
        if scope is not own:
            self.references.update(dict.fromkeys(accesses))
            return
        earlier = [each for each in accesses if self._index >= each.index]
        later = [each for each in accesses if self._index < each.index] if earlier else accesses
        self.references.update(dict.fromkeys(later))
        if earlier and own.parent is not own:
            for hidden in own.parent[self.name]:
                hidden.read(scope, earlier)


class ImportAssignment(Assignment):
    """A name that an import binds; `as_name` is where it stands in it."""

    def __init__(self, name, scope, node, as_name):
        super().__init__(name, scope, node)
        self.as_name = as_name


class BuiltinAssignment(Assignment):
    """A name of Python's own."""

    def __init__(self, name, scope):
        super().__init__(name, scope)
        self._index = -1


class Scope:
    """The names of a module, function, class or comprehension.

    Args:
      parent: the scope around it.
      is_class: whether it is a class: what is inside does not see its names.

    Attributes:
      found: {name: its `Assignment`s, in order} of the scope itself.
      count: how many statements that assign were walked in it.
    """

    def __init__(self, parent, is_class=False):
        self.parent, self.is_class, self.count = parent, is_class, 0
        self.found, self._elsewhere = {}, {}

    def release(self):
        """Lets go of the names; nothing may be asked any more."""
        for each in self.assignments:
            each.references.clear()
        self.found = {}

    @property
    def assignments(self):
        """The `Assignment`s of the scope itself."""
        return [each for found in self.found.values() for each in found]

    def _visible(self, scope):
        while scope.is_class:
            scope = scope.parent
        return scope

    def bind(self, name, kind, *details):
        """Notes that a name is bound, here or where ``global`` says."""
        scope = self._bound_in(name)
        scope.found.setdefault(name, []).append(kind(name, scope, *details))

    def _bound_in(self, name):
        if name not in self._elsewhere:
            return self
        return self._visible(self._elsewhere[name])._bound_in(name)

    def elsewhere(self, name, scope):
        """Notes that a name is that of another scope."""
        self._elsewhere[name] = scope

    def __contains__(self, name):
        return bool(self[name])

    def __getitem__(self, name):
        """The assignments that a name may mean here, in order."""
        found = self.found.get(name)
        if found is not None and name not in self._elsewhere:
            return found
        if name in self._elsewhere:
            return self._visible(self._elsewhere[name])[name]
        return self._visible(self.parent)[name]


class GlobalScope(Scope):
    """The names of a module."""

    def __init__(self):
        super().__init__(_BuiltinScope())

    def elsewhere(self, name, scope):
        """Names of the module are its own."""


class _BuiltinScope(Scope):
    def __init__(self):
        super().__init__(self)

    def __getitem__(self, name):
        if name not in self.found and hasattr(builtins, name):
            self.found[name] = [BuiltinAssignment(name, self)]
        return self.found.get(name, [])
