"""What the doctor says of machines that tests make up, and of this one."""

import pytest

from tests.tools.doctor.machines import CASES, CHIPS, MISFITS, SOUND, machine
from tpudist.cloud import runtimes
from tpudist.tools.doctor import checks, releases, report


def found(env):
    return {finding.check: finding for finding in checks.diagnose(env)}


def problems(env):
    return [finding for finding in checks.diagnose(env) if finding.level == "problem"]


@pytest.mark.parametrize("tensorflow", sorted(SOUND))
def test_sound_machines_have_no_problem(tensorflow):
    assert problems(machine(tensorflow)) == []


@pytest.mark.parametrize("name", sorted(CASES))
def test_case(name):
    env, level, check, words = CASES[name]
    finding = found(env)[check]
    assert finding.level == level
    assert words in " ".join(finding[2:])
    assert all(part.strip() for part in finding)


@pytest.mark.parametrize("name", sorted(MISFITS))
def test_misfit(name):
    tensorflow, otherwise, words = MISFITS[name]
    (finding,) = problems(machine(tensorflow, distributions=otherwise))
    assert (finding.level, finding.check) == ("problem", "packages_do_not_fit")
    ((package, version),) = otherwise.items()
    assert finding.seen.startswith("%s %s beside TensorFlow %s" % (package, version, tensorflow))
    assert words in " ".join(finding[2:])


def test_every_check_has_a_case():
    tested = {check for _, _, check, _ in CASES.values()} | {"packages_do_not_fit"}
    assert tested == {check.__name__ for check in checks.CHECKS}


def test_the_wheels_own_requirements_count():
    env = machine(
        "2.20.0",
        wheel="tensorflow-tpu",
        distributions={"libtpu": "0.0.10"},
        requires=[
            "libtpu~=0.0.14",
            "keras>=3.10.0",
            "wrapt>=1",
            'numpy>=9; python_version < "3"',
            'h5py>=9; extra == "x"',
        ],
    )
    seen = [finding.seen for finding in checks.diagnose(env)]
    assert sorted(seen, reverse=True) == [
        "libtpu 0.0.10 beside TensorFlow 2.20.0, which needs libtpu<0.0.32,>=0.0.14,~=0.0.14",
        "keras is missing beside TensorFlow 2.20.0, which needs keras>=3.0,>=3.10.0",
    ]


def test_a_libtpu_that_ends_the_process_is_named_with_the_line_to_type():
    """What ``pip install tensorflow-tpu==2.20.0`` gives."""
    env = machine(
        "2.20.0",
        wheel="tensorflow-tpu",
        distributions={"libtpu": "0.0.52"},
        requires=["libtpu~=0.0.14"],
        version=None,
        keras=None,
        error="import tensorflow ended the process with exit code -6: x not available",
    )
    broken, misfit = problems(env)
    assert broken.check == "tensorflow_broken"
    assert misfit.seen.startswith("libtpu 0.0.52 beside TensorFlow 2.20.0")
    assert misfit.instead == 'pip install "libtpu<0.0.32,>=0.0.14,~=0.0.14"'


@pytest.mark.parametrize("libtpu", ["0.0.14", "0.0.31"])
def test_a_libtpu_that_imports_is_no_problem(libtpu):
    requires = ["libtpu~=0.0.14"]
    distributions = {"libtpu": libtpu}
    assert problems(machine("2.20.0", "tensorflow-tpu", distributions, requires)) == []


def test_the_compilers_libtpu_is_free_beside_a_wheel_for_cpus():
    assert problems(machine("2.20.0", distributions={"libtpu": "0.0.52"})) == []


def test_requirements_of_old_wheels_are_read():
    env = machine(
        "2.15.1",
        distributions={"protobuf": "6.31.1"},
        requires=["protobuf (!=4.21.0,<5.0.0dev,>=3.20.3)", "not a requirement ==="],
    )
    (finding,) = checks.diagnose(env)
    assert finding.seen.startswith("protobuf 6.31.1 beside TensorFlow 2.15.1")


@pytest.mark.parametrize(
    "env",
    [
        machine("2.20.0", wheel="tensorflow-tpu", chips=CHIPS),
        machine("2.20.0", chips=CHIPS, variables={"TPUDIST_TPU": "virtual:8"}),
        machine("2.8.4", variables={"TPU_NAME": "local"}),
        machine("2.8.4", variables={"TPU_NAME": "mine", "TPUDIST_TPU": "virtual"}),
        machine(
            "2.15.1", variables={"TF_USE_LEGACY_KERAS": "1"}, distributions={"tf-keras": "2.15.1"}
        ),
        machine("2.4.4", distributions={"keras": "3.10.0"}),
        machine("2.12.1", wheel="tensorflow", distributions={"tensorflow-intel": "2.12.1"}),
        machine(
            "2.21.0",
            distributions={"keras": "3.15.1", "tf-keras": "2.21.0"},
            variables={"TF_USE_LEGACY_KERAS": "True"},
        ),
    ],
)
def test_no_false_alarm(env):
    assert checks.diagnose(env) == []


def test_problems_come_before_notes():
    env = machine("2.21.0", distributions={"tf-keras": None, "protobuf": "x"}, chips=CHIPS)
    assert [finding.level for finding in checks.diagnose(env)] == ["problem", "note"]


@pytest.mark.parametrize(
    ("env", "kind", "name"),
    [
        (machine(), None, None),
        (machine(chips=CHIPS), "local", "local"),
        (machine(variables={"TPU_NAME": "local"}), None, None),
        (machine(variables={"TPU_NAME": "mine"}), "remote", "mine"),
        (machine(variables={"COLAB_TPU_ADDR": "10.0.0.2:8470"}), "remote", "10.0.0.2:8470"),
        (
            machine(variables={"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "grpc://10.0.0.2:8470"}),
            "remote",
            "grpc://10.0.0.2:8470",
        ),
        (machine(variables={"TPU_NAME": "a", "TPUDIST_TPU": "b"}), "remote", "b"),
        (
            machine(chips=CHIPS, variables={"TPUDIST_TPU": "virtual:v3-32"}),
            "virtual",
            "virtual:v3-32",
        ),
    ],
)
def test_which_tpu_a_script_gets(env, kind, name):
    tpu = env.tpu
    assert (tpu["kind"], tpu["name"]) == (kind, name)


@pytest.mark.parametrize(
    ("wheel", "cuda", "variant"),
    [
        ("tensorflow-cpu", False, "cpu"),
        ("tensorflow", True, "gpu"),
        ("tensorflow", False, "cpu"),
        ("tensorflow-gpu", None, "gpu"),
        ("tensorflow-tpu", False, "tpu"),
    ],
)
def test_variant(wheel, cuda, variant):
    assert machine("2.12.1", wheel=wheel, cuda=cuda).variant == variant


@pytest.mark.parametrize(
    ("env", "generation", "version"),
    [
        (machine("2.2.3"), "tensorflow", None),
        (machine("2.15.1"), "keras 2", "2.15.0"),
        (machine("2.21.0"), "Keras 3", "3.16.0"),
        (machine("2.22.0rc0"), "Keras 3", "3.16.0.dev"),
        (machine("2.16.2", keras="tf_keras"), "tf_keras", "2.16.0"),
        (machine(None), None, None),
    ],
)
def test_keras_generation(env, generation, version):
    assert report.keras(env) == {"generation": generation, "version": version}


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("2.8.4", "2.8.0"),
        ("2.16.2", "2.16.0"),
        ("2.22.0rc0", "2.22.0"),
        ("1.15", "1.15.0"),
        (None, None),
        ("unknown", None),
    ],
)
def test_patch_releases_map_to_their_runtime(text, target):
    assert runtimes.runtime_for(text) == target


@pytest.mark.parametrize(
    ("text", "since", "until", "inside"),
    [
        ("2.8.4", "2.8", "2.8", True),
        ("2.8.4", "2.4", "2.7", False),
        ("2.10.0", "2.9", None, True),
        ("1.12.3", None, "1.12", True),
        ("2.22.0rc0", "2.22", "", True),
        ("3", "2.9", "3.0", True),
        ("x", None, None, False),
        (None, None, None, False),
    ],
)
def test_within(text, since, until, inside):
    assert releases.within(text, since, until) == inside
