# Written by: python -m compat.stubs
from tpudist import cli as cli
from tpudist import cloud as cloud
from tpudist import common as common
from tpudist import completion as completion
from tpudist import console as console
from tpudist import contrib as contrib
from tpudist import core as core
from tpudist import dropin as dropin
from tpudist import errors as errors
from tpudist import estimator as estimator
from tpudist import files as files
from tpudist import guides as guides
from tpudist import legacy as legacy
from tpudist import machine as machine
from tpudist import options as options
from tpudist import surfaces as surfaces
from tpudist import tfcompat as tfcompat
from tpudist import tools as tools
from tpudist import v2_0 as v2_0
from tpudist import v2_2 as v2_2
from tpudist import virtual as virtual
from tpudist.legacy.notebook import load_ipython_extension as load_ipython_extension
from tpudist.legacy.notebook import unload_ipython_extension as unload_ipython_extension
from tpudist.tools.compile.step import compile_step as compile_step
from tpudist.virtual.tpu_check.telling import tpu_refusals as tpu_refusals

__version__: str
