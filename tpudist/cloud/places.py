"""Says where a TPU's name comes from: a TPU VM, Colab, Kubernetes, or a name of Cloud TPU."""

from __future__ import annotations

import json
from typing import Any, Mapping, NamedTuple, Sequence

from tpudist import machine

KUBERNETES, NAME, COLAB = "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "TPU_NAME", "COLAB_TPU_ADDR"

#: Set on the hosts of TPU VMs; the second has the name of each host of the slice.
_ON_A_VM = ("TPU_ACCELERATOR_TYPE", "TPU_WORKER_HOSTNAMES")

#: Variables that name a TPU where a resolver gets no name, in the order it reads them.
READ = (KUBERNETES, NAME)

#: Variables that name a TPU on another machine; Colab's is read by its users' code only.
REMOTE = READ + (COLAB,)


#: JSON of a TPU's name and place, which newer resolvers read after those.
_CONFIG = "TPU_CONFIG"


class Place(NamedTuple):
    """The place of a TPU."""

    name: str | None  # what a resolver takes, or None if there is nothing
    source: str | None  # the variable it comes from; None for an argument
    words: str  # what it is


def of(tpu: str | None, variables: Mapping[str, str], chips: Sequence[str] = ()) -> Place:
    """Identifies the TPU that a resolver with an argument, or none, gets in an environment.

    `chips` are device files of TPU chips on this machine.
    """
    forced = variables.get(machine.TPU)
    if forced:
        return Place(forced, machine.TPU, _words(forced, variables))
    if tpu:
        return Place(tpu, None, _words(tpu, variables))
    if chips:
        return Place("local", chips[0], _words("local", variables))
    for variable in REMOTE:
        if variables.get(variable):
            return Place(variables[variable], variable, _words(variables[variable], variables))
    return Place(None, None, "no TPU is named")


def named(tpu: str | Sequence[str] | None, variables: Mapping[str, str]) -> str:
    """The name that a resolver with an argument, or a list of it, takes; empty if there is none."""
    given: Any = tpu if isinstance(tpu, str) or not tpu else tpu[0]
    name = given or next(filter(None, map(variables.get, READ)), None)
    try:
        return name or json.loads(variables.get(_CONFIG) or "{}").get("tpu_node_name") or ""
    except (ValueError, AttributeError):
        return ""


def _words(name: str, variables: Mapping[str, str]) -> str:
    if name.lower().startswith("virtual"):
        return "a virtual TPU, in this process"
    if name.lower() == "local":
        return "the chips of this machine, a TPU VM"
    if name in variables.get(KUBERNETES, ()) and variables.get(KUBERNETES):
        return "the endpoints that Kubernetes gives this pod"
    address = variables.get(COLAB)
    if address and name.endswith(address):
        return "the TPU of this Colab notebook, by its address"
    if "://" in name:
        return "a TPU by its address, which no API tells the state of"
    return "a TPU that Google Cloud knows by that name"


def unnamed(variables: Mapping[str, str]) -> tuple[str, str]:
    """The first two parts of an error where no TPU is named."""
    if variables.get(_CONFIG):
        seen = "no TPU is named in %s=%s" % (_CONFIG, variables[_CONFIG])
        return seen, "it is no JSON object with the tpu_node_name of a TPU"
    return "no TPU is named", "none of %s is set" % ", ".join(READ)


def advice(variables: Mapping[str, str], chips: Sequence[str] = ()) -> str:
    """Says what to pass where no TPU was named, by what the environment has."""
    hosts = variables.get(_ON_A_VM[1], "").count(",") + 1
    if hosts > 1:
        return (
            "tpu=NAME or TPU_NAME=NAME of the slice, in a program on its first host alone, with "
            "TPU_LOAD_LIBRARY=0: this is one of the slice's %d hosts, and tpu='local' means the "
            "chips of one" % hosts
        )
    if chips or any(variables.get(each) for each in _ON_A_VM):
        return "tpu='local': this is a TPU VM, whose chips need no name"
    if variables.get(COLAB):
        return "tpu='grpc://' + os.environ['%s']: this is a Colab notebook with a TPU" % COLAB
    return (
        "tpu=NAME or TPU_NAME=NAME, as 'gcloud compute tpus list' prints it; tpu='local' on a "
        "TPU VM; tpu='virtual:8' (or TPUDIST_TPU=virtual:8 in the environment) "
        "where there is no TPU"
    )
