"""What a rule is given: one legacy use, and the ways to change it."""

import libcst as cst

from tpudist.tools.migrate import edits
from tpudist.tools.migrate.resolution import import_origins
from tpudist.tools.migrate.resolution.import_origins import first_name
from tpudist.tools.migrate.resolution.module import last_word

#: Steps, in order, with the era each one leads to.
STEPS = {"2.0": "v2_0", "2.2": "v2_2", "latest": "latest"}


class Plan:
    """What some steps, taken together, change in one file.

    Args:
      module: the `Module`.
      evaluator: the `Evaluator` of its code base.
      survey: what is known of the code base, a `Survey`.
      steps: keys of `STEPS`, taken together.
      renames: {a strategy's member: its name after the last of the steps}, of
        the rules that are wanted.
      located: whether places of rewritten uses are wanted; they cost time.

    Attributes:
      located: as given.
      words: where no strategy reaches the file, names that TensorFlow's begin with or
        are kept under; None if any may.
    """

    def __init__(self, module, evaluator, survey, steps, renames=(), located=True):
        self.module, self.evaluator = module, evaluator
        self.survey, self.steps, self._renames = survey, steps, dict(renames)
        self.located, self.edits = located, {}
        self.rewritten, self.left, self.others = [], [], []
        self.respelled = set()
        self.root_needed = False
        self.packages = []
        self.told, self.iterators = set(), set()
        self.home = self.target = ""
        self.words = None

    def replace(self, node, function):
        """Has `node` replaced by ``function(node)``, once the nodes inside it are done."""
        self.edits.setdefault(node, []).append(function)

    def final(self, member):
        """What a strategy's member is called after the last of the steps."""
        return self._renames.get(member, member)

    def done(self, node, rule, seen, instead):
        """Notes a use as rewritten."""
        place = self.module.place(node) if self.located else (0, 0)
        self.rewritten.append(place + (rule, seen, instead))

    def leave(self, node, rule, seen, instead, once=False):
        """Notes a use as left, unless a mark says that the rule is to pass over its line."""
        if self.ignores(node, rule):
            return self.other(node, self.module.code(node).split(".")[-1], "it is ignored")
        self.left.append(self.module.place(node) + (rule, seen, instead, once))

    def ignores(self, node, rule):
        """Whether a mark on a node's line says that a rule is to pass over it."""
        marks = self.module.marks
        return marks.any_ignored() and marks.ignored(self.module.place(node)[0], rule)

    def other(self, node, name, why):
        """Notes that a legacy name is something else's.

        Args:
          node: where it stands.
          name: the name.
          why: how that is known.
        """
        if self.located:
            self.others.append(self.module.place(node) + (name, why))

    def bound_root(self):
        """The name that ``tf`` has in this file, None if it has none."""
        for name in _globals(self.module):
            if self.evaluator.global_values(self.module, name) == {("tf", "")}:
                return name
        return None

    def package(self, full):
        """The expression for a full name outside of TensorFlow, whose import is asked for.

        Args:
          full: such as "tf_slim.nets.vgg".

        Returns:
          Its source; None if the file has something else under the name it begins with.
        """
        line, start = _import_of(full)
        bound = start.partition(".")[0]
        if line not in self.packages:
            if any(node.value == bound for node in self.module.nodes.names) and not any(
                self.module.code(node) == line for node in self.module.nodes.imports
            ):
                return None
            self.packages.append(line)
        return start + full[len(_whole(start)) :]

    def root(self):
        """As `bound_root`; asks for an import of ``tf`` if there is none."""
        name = self.bound_root()
        self.root_needed = self.root_needed or name is None
        return name or "tf"


#: {what a full name begins with: (the import, what a program calls it)}.
_IMPORTS = {
    "tensorflow_probability": ("import tensorflow_probability as tfp", "tfp"),
    "tf_slim.nets": ("import tf_slim.nets", "tf_slim.nets"),
    "tf_slim": ("import tf_slim", "tf_slim"),
    "tpudist.legacy.contrib_ports": ("from tpudist.legacy import contrib_ports", "contrib_ports"),
}


def _import_of(full):
    return next(_IMPORTS[each] for each in _IMPORTS if (full + ".").startswith(each + "."))


def _whole(start):
    return next(each for each, (_, spelled) in _IMPORTS.items() if spelled == start)


def _globals(module):
    names = [
        assignment.name
        for assignment in module.global_scope().assignments
        if "." not in assignment.name
    ]
    return sorted(set(names), key=lambda name: (name != "tf", name != "tensorflow", name))


class Use:
    """A use of a legacy name.

    Args:
      plan: the `Plan`.
      rule: the rule's name.
      kind: "strategy", "context", "tf", ...: what the name belongs to.
      name: the member, or the dotted name below ``tf``.
      node: the Attribute or Name.
    """

    def __init__(self, plan, rule, kind, name, node):
        self.plan, self.module = plan, plan.module
        self._rule = rule
        self.kind, self.name, self.node = kind, name, node
        parent = self.module.parent(node)
        is_called = isinstance(parent, cst.Call) and parent.func is node
        self.call = parent if is_called else None

    @property
    def evaluator(self):
        """The `Evaluator`."""
        return self.plan.evaluator

    def rewrite(self, node, function, instead):
        """Replaces `node` by what `function` makes of it; notes the use as rewritten."""
        self.plan.replace(node, function)
        self.note(instead)

    def note(self, instead):
        """Notes the use as rewritten, without a change of its own."""
        self.plan.done(self.node, self._rule, self.code(), instead)

    def leave(self, why, instead, once=False):
        """Leaves the use as it is.

        Args:
          why: why it cannot be rewritten.
          instead: what to do.
          once: as of `tpudist.tools.migrate.outcomes.Use`.
        """
        self.plan.leave(self.node, self._rule, "%s: %s" % (self.code(), why), instead, once)

    def code(self, node=None):
        """The source of a node, of the name itself if None, on one line."""
        return " ".join(self.module.code(node if node is not None else self.node).split())

    def renamed(self, member, updated):
        """The Attribute `updated` with its last name replaced by `member`, maybe dotted."""
        if self.kind == "strategy":
            member = self.plan.final(member)
        first, *rest = member.split(".")
        node = updated.with_changes(attr=cst.Name(first))
        for name in rest:
            node = cst.Attribute(node, cst.Name(name))
        return node

    def renamed_text(self, member, source):
        """As `renamed`, of its source; None if it does not end with the name."""
        old = self.node.attr.value
        new = self.plan.final(member) if self.kind == "strategy" else member
        return source[: -len(old)] + new if source.endswith("." + old) else None

    def rename(self, member):
        """Rewrites ``x.old`` to ``x.member``."""
        old = self.node.attr.value
        new = self.plan.final(member) if self.kind == "strategy" else member

        def renamed(source):
            return source[: -len(old)] + new if source.endswith(old) else None

        edit = edits.Spelled(lambda updated: self.renamed(member, updated), renamed)
        self.rewrite(self.node, edit, member)

    def respelled(self, dotted):
        """A function from the updated node of a name below ``tf`` to its new spelling.

        A name that a ``from`` import or a variable gives is left as it is: its
        import, or what was assigned to the variable, is what changes.
        """
        if isinstance(self.node, cst.Name):
            return lambda updated: updated
        base = self.node
        while isinstance(base, cst.Attribute) and (
            self.evaluator.values(self.module, base) != {("tf", "")}
        ):
            base = base.value
        above, rest, first = self.tensorflow_name(base), dotted, self.module.copied(base)
        if above and dotted.startswith(above + "."):
            rest = dotted[len(above) + 1 :]
        elif above != "":
            self.plan.respelled.add(base)
            first = edits.dotted(self.plan.root())

        def respelled(updated):
            node = first
            for name in rest.split("."):
                node = cst.Attribute(node, cst.Name(name))
            return node.with_changes(lpar=updated.lpar, rpar=updated.rpar)

        def as_text(source):
            return None if source[0] == "(" else cst.Module([]).code_for_node(first) + "." + rest

        return edits.Spelled(respelled, as_text)

    def respell(self, dotted, remark=""):
        """Rewrites a name below ``tf`` to another one, and notes it with a remark."""
        function = self.respelled(dotted)
        self.plan.replace(self.node, function)
        if not isinstance(self.node, cst.Name):
            self.note("tf." + dotted + remark)

    def respell_whole(self, full):
        """Rewrites a name below ``tf`` to one outside of TensorFlow; whether it could.

        Args:
          full: such as "tf_slim.conv2d"; its import is asked for.
        """
        text = self.plan.package(full)
        if text is None:
            return False
        base = first_name(self.node)
        if self.tensorflow_name(base) != "":
            self.plan.respelled.add(base)
        node = cst.parse_expression(text)
        self.rewrite(self.node, lambda old: node.with_changes(lpar=old.lpar, rpar=old.rpar), text)
        return True

    def spelled(self, dotted):
        """A new node for a name below ``tf``."""
        return edits.dotted("%s.%s" % (self.plan.root(), dotted))

    def argument(self, index, *keywords):
        """The Arg of the call at a position or of a keyword, or None.

        Args:
          index: position, -1 if it can only be a keyword.
          *keywords: its possible keywords.
        """
        positional = [each for each in self.call.args if each.keyword is None]
        for each in self.call.args:
            if each.keyword is not None and each.keyword.value in keywords:
                return each
        if 0 <= index < len(positional) and not any(each.star for each in positional[: index + 1]):
            return positional[index]
        return None

    def is_v1(self):
        """Whether ``tf`` in the file is, or becomes, that of ``tf.compat.v1``."""
        path = self.module.path
        return self.plan.survey.wants_v1(path) or import_origins.is_v1(self.module)

    @property
    def has_stars(self):
        """Whether the call has ``*`` or ``**`` arguments."""
        return any(each.star for each in self.call.args)

    def tensorflow_name(self, node):
        """The dotted name below ``tf`` that an expression is, or None."""
        return self.evaluator.tensorflow_name(self.module, node)

    def line_of(self):
        """The SimpleStatementLine around the use, or None."""
        return self.module.around(self.node, cst.SimpleStatementLine)

    def last_word(self, node):
        """The last identifier of an expression."""
        return last_word(node)
