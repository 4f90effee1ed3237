"""The process that loads libtpu: this folder is run as a program.

    python -I tpudist/tools/compile/worker < request.json > answer.json

It needs the standard library only, so that nothing of the user's environment
is in the process that may crash. See :mod:`tpudist.tools.compile.worker.__main__`.
"""
