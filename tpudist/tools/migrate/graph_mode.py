"""Programs that build a graph and run it in a Session: they say so where they start.

TensorFlow 2 builds no graph by itself. ``tf.disable_v2_behavior()``, after the import
of TensorFlow in the file that a program starts with, makes it one of TensorFlow 1.
"""

import re

import libcst as cst

from tpudist.tools.migrate import statements

RULE = "sessions"
MAIN = re.compile(r"^if __name__ == ", re.M)


def starts(sessions, importers, imported, is_main, chooses):
    """The files that programs with Sessions start with.

    Args:
      sessions: paths of the files that make Sessions.
      importers: a function from a path to those of the files that import it.
      imported: the same, to those of the files that it imports.
      is_main: whether a path's file has ``if __name__ == "__main__"``, a function.
      chooses: whether a path's file chooses itself between graphs and eager
        execution, a function.

    Returns:
      A set of paths: with ``if __name__ == "__main__"``, or that no file imports.
    """
    reaching, todo, found = set(sessions), sorted(sessions), set()
    for path in todo:
        above = importers(path)
        if is_main(path) or path.endswith("__main__.py") or not above:
            found.add(path)
        for each in above:
            if each not in reaching:
                reaching.add(each)
                todo.append(each)
    return {path for path in found if not any(map(chooses, _below(path, imported)))}


def _below(path, imported):
    """A file and all that it imports."""
    seen, todo = {path}, [path]
    for each in todo:
        for other in imported(each):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def plan(plan_, is_v1):
    """Plans the call in the file that a program starts with.

    Args:
      plan_: the `Plan`, with all edits of imports.
      is_v1: whether the file's ``tf`` becomes that of ``tf.compat.v1``.
    """
    module = plan_.module
    root = plan_.bound_root()
    statement = root and statements.binding(module, root)
    if statement is None:
        name = "tf" if root is None else "tensorflow_v1"
        text = "import tensorflow.compat.v1 as %s\n%s.disable_v2_behavior()\n" % (name, name)
        node = statements.put_first(plan_, cst.parse_module(text).body)
        return plan_.done(node, RULE, "", text.replace("\n", "; ").strip("; "))
    is_v1 = is_v1 and not plan_.ignores(statement, "imports")
    call = "%s.%sdisable_v2_behavior()" % (root, "" if is_v1 else "compat.v1.")
    statements.put_after(plan_, statement, cst.parse_statement(call))
    return plan_.done(statement, RULE, module.code(statement).split("\n")[-1], call)
