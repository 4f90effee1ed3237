"""The process that loads libtpu: this folder is run as a program.

    python -I tpudist/tools/compile/compiler/worker < request.json > answer.json

It imports the standard library only, so that nothing of the user's environment is in the
process that may crash. The request and the answer are described in
:mod:`tpudist.tools.compile.compiler.worker.__main__`.
"""
