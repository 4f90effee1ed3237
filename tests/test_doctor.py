"""What the doctor says of machines that tests make up, and of this one."""

import io
import json

import pytest

from tests.doctor_machines import SOUND, machine
from tpudist import cli, doctor
from tpudist.doctor import checks, environment, releases, report, tpus

BROKEN = dict(version=None, keras=None)
CHIPS = ["/dev/accel0", "/dev/accel1"]

#: name: (machine, level, check, words of the finding). Every check has a case.
CASES = {
    "no TensorFlow": (
        machine(None), "problem", "tensorflow_missing", 'pip install "tpudist[tensorflow]"'),
    "no TensorFlow, Python too new": (
        machine(None, python="3.14.0"), "problem", "tensorflow_missing", "from 3.7 to 3.13"),
    "tensorflow.py in the way": (
        machine("2.15.1", path="/home/me/tensorflow.py", error="AttributeError: no"),
        "problem", "tensorflow_shadowed", "mv /home/me/tensorflow.py /home/me/my_tensorflow.py"),
    "import fails": (
        machine("2.2.3", error="TypeError: Descriptors", **BROKEN), "problem",
        "tensorflow_broken", "--force-reinstall tensorflow-cpu==2.2.3"),
    "import is killed": (
        machine("2.15.1", error="import tensorflow ended the process with exit code -4: x",
                **BROKEN), "problem", "tensorflow_broken", "AVX"),
    "keras fails": (
        machine("2.15.1", keras=None, keras_error="ImportError: Keras cannot be imported"),
        "problem", "keras_broken", "Keras cannot be imported"),
    "1.12": (machine("1.12.3"), "problem", "tensorflow_too_old", "1.13"),
    "two wheels of two releases": (
        machine("2.15.1", distributions={"tensorflow": "2.16.2"}), "problem",
        "tensorflow_twice", "pip uninstall -y tensorflow tensorflow-cpu && pip install "
        "--no-deps --force-reinstall tensorflow-cpu==2.15.1"),
    "two wheels of one release": (
        machine("2.16.2", distributions={"tensorflow": "2.16.2"}), "note",
        "tensorflow_twice", "tf-keras"),
    "TPU wheel under a CPU wheel": (
        machine("2.20.0", distributions={"tensorflow-tpu": "2.20.0"}), "problem",
        "tensorflow_twice", "--force-reinstall tensorflow-tpu==2.20.0"),
    "legacy Keras missing": (
        machine("2.21.0", variables={"TF_USE_LEGACY_KERAS": "1"}), "problem",
        "legacy_keras_missing", 'pip install --no-deps "tf-keras==2.21.*"'),
    "Keras 3 makes slots late": (
        machine("2.21.0", distributions={"keras": "3.15.1"}), "note", "keras_slots",
        "optimizer.build(model.trainable_variables)"),
    "CPU wheel on a TPU VM": (
        machine("2.20.0", chips=CHIPS), "problem", "chip_without_kernels",
        "ConfigureDistributedTPU"),
    "GPU wheel on a TPU VM": (
        machine("2.20.0", wheel="tensorflow", cuda=True, chips=CHIPS), "problem",
        "chip_without_kernels", 'pip uninstall -y tensorflow && pip install "tpudist[tpu]"'),
    "the TPU VM image's own wheel, perhaps": (
        machine("2.12.1", wheel="tensorflow", chips=CHIPS), "note",
        "chip_without_kernels", "the wheel that a TPU VM image brings"),
    "runtime of another release": (
        machine("2.8.4", runtime="2.9.0"), "problem", "runtime_does_not_match",
        "configure_tpu_version('2.8.0', restart_type='ifNeeded')"),
    "runtime of another release, by its image": (
        machine("2.12.1", runtime="tpu-vm-tf-2.15.0-pjrt", variables={"TPU_NAME": "mine"}),
        "problem", "runtime_does_not_match", "Client(tpu='mine')"),
    "runtime unknown": (
        machine("2.8.4", variables={"TPU_NAME": "mine"}), "note", "runtime_does_not_match",
        "tpudist doctor --runtime VERSION"),
    "name without Google's client": (
        machine("2.0.4", variables={"TPU_NAME": "mine"}), "problem", "resolver_cannot_ask",
        'pip install "tpudist[tpu]"'),
}

#: name: (TensorFlow, what is otherwise, words of the finding), all of packages_do_not_fit.
MISFITS = {
    "estimator": ("1.15.0", {"tensorflow-estimator": "1.13.0"}, "tensorflow-estimator==1.15.*"),
    "old keras": ("2.15.1", {"keras": "2.12.0"}, 'pip install "keras==2.15.*"'),
    "new keras": ("2.15.1", {"keras": "3.10.0"}, "Keras cannot be imported"),
    "keras 2": ("2.21.0", {"keras": "2.15.0"}, "keras>=3.0"),
    "tf-keras": ("2.16.2", {"tf-keras": "2.21.0"}, '--no-deps "tf-keras==2.16.*"'),
    "protobuf 4": ("2.8.4", {"protobuf": "4.25.9"}, "Descriptors cannot be created directly"),
    "numpy 1.20": ("2.4.4", {"numpy": "1.20.3"}, "symbolic Tensor"),
    "numpy 2": ("2.15.1", {"numpy": "2.2.6"}, 'pip install "numpy<2"'),
    "h5py 3": ("1.15.0", {"h5py": "3.8.0"}, "'decode'"),
    "gast on 1.14": ("1.14.0", {"gast": "0.7.0"}, "gast==0.2.2"),
    "gast on 2.2": ("2.2.3", {"gast": "0.4.0"}, "gast==0.3.3"),
}


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
    finding, = problems(machine(tensorflow, distributions=otherwise))
    assert (finding.level, finding.check) == ("problem", "packages_do_not_fit")
    (package, version), = otherwise.items()
    assert finding.seen.startswith("%s %s beside TensorFlow %s" % (package, version, tensorflow))
    assert words in " ".join(finding[2:])


def test_every_check_has_a_case():
    tested = {check for _, _, check, _ in CASES.values()} | {"packages_do_not_fit"}
    assert tested == {check.__name__ for check in checks.CHECKS}


def test_the_wheels_own_requirements_count():
    env = machine("2.20.0", wheel="tensorflow-tpu", distributions={"libtpu": "0.0.10"},
                  requires=["libtpu~=0.0.14", "keras>=3.10.0", "wrapt>=1",
                            'numpy>=9; python_version < "3"', 'h5py>=9; extra == "x"'])
    seen = [finding.seen for finding in checks.diagnose(env)]
    assert sorted(seen, reverse=True) == [
        "libtpu 0.0.10 beside TensorFlow 2.20.0, which needs libtpu~=0.0.14",
        "keras is missing beside TensorFlow 2.20.0, which needs keras>=3.0,>=3.10.0"]


def test_requirements_of_old_wheels_are_read():
    env = machine("2.15.1", distributions={"protobuf": "6.31.1"},
                  requires=["protobuf (!=4.21.0,<5.0.0dev,>=3.20.3)", "not a requirement ==="])
    finding, = checks.diagnose(env)
    assert finding.seen.startswith("protobuf 6.31.1 beside TensorFlow 2.15.1")


@pytest.mark.parametrize("env", [
    machine("2.20.0", wheel="tensorflow-tpu", chips=CHIPS),
    machine("2.20.0", chips=CHIPS, variables={"TPUDIST_TPU": "virtual:8"}),
    machine("2.8.4", runtime="2.8.0"),
    machine("2.8.4", variables={"TPU_NAME": "mine"}, runtime="2.8"),
    machine("2.8.4", variables={"TPU_NAME": "local"}),
    machine("2.8.4", variables={"TPU_NAME": "mine", "TPUDIST_TPU": "virtual"}),
    machine("2.0.4", variables={"TPU_NAME": "grpc://10.0.0.2:8470"}, runtime="2.0"),
    machine("2.15.1", variables={"TF_USE_LEGACY_KERAS": "1"},
            distributions={"tf-keras": "2.15.1"}),
    machine("2.4.4", distributions={"keras": "3.10.0"}),
    machine("2.12.1", wheel="tensorflow", distributions={"tensorflow-intel": "2.12.1"}),
    machine("2.21.0", distributions={"keras": "3.15.1", "tf-keras": "2.21.0"},
            variables={"TF_USE_LEGACY_KERAS": "True"}),
])
def test_no_false_alarm(env):
    assert checks.diagnose(env) == []


def test_problems_come_before_notes():
    env = machine("2.21.0", distributions={"keras": "3.15.1", "protobuf": "x"}, chips=CHIPS)
    assert [finding.level for finding in checks.diagnose(env)] == ["problem", "note"]


@pytest.mark.parametrize("env, kind, name", [
    (machine(), None, None),
    (machine(chips=CHIPS), "local", "local"),
    (machine(variables={"TPU_NAME": "mine"}), "remote", "mine"),
    (machine(variables={"COLAB_TPU_ADDR": "10.0.0.2:8470"}), "remote", "10.0.0.2:8470"),
    (machine(variables={"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS": "grpc://10.0.0.2:8470"}),
     "remote", "grpc://10.0.0.2:8470"),
    (machine(variables={"TPU_NAME": "a", "TPUDIST_TPU": "b"}), "remote", "b"),
    (machine(chips=CHIPS, variables={"TPUDIST_TPU": "virtual:v3-32"}), "virtual",
     "virtual:v3-32"),
])
def test_which_tpu_a_script_gets(env, kind, name):
    tpu = tpus.found(env)
    assert (tpu["kind"], tpu["name"]) == (kind, name)


@pytest.mark.parametrize("wheel, cuda, variant", [
    ("tensorflow-cpu", False, "cpu"), ("tensorflow", True, "gpu"),
    ("tensorflow", False, "cpu"), ("tensorflow-gpu", None, "gpu"),
    ("tensorflow-tpu", False, "tpu")])
def test_variant(wheel, cuda, variant):
    assert machine("2.12.1", wheel=wheel, cuda=cuda).variant == variant


@pytest.mark.parametrize("env, generation, version", [
    (machine("2.2.3"), "tensorflow", None), (machine("2.15.1"), "keras 2", "2.15.0"),
    (machine("2.21.0"), "Keras 3", "3.16.0"),
    (machine("2.22.0rc0"), "Keras 3", "3.16.0.dev"),
    (machine("2.16.2", keras="tf_keras"), "tf_keras", "2.16.0"), (machine(None), None, None),
])
def test_keras_generation(env, generation, version):
    assert report.keras(env) == {"generation": generation, "version": version}


@pytest.mark.parametrize("text, target", [
    ("2.8.4", "2.8.0"), ("2.16.2", "2.16.0"), ("2.22.0rc0", "2.22.0"), ("1.15", "1.15.0"),
    (None, None), ("unknown", None)])
def test_patch_releases_map_to_their_runtime(text, target):
    assert tpus.runtime_for(text) == target


@pytest.mark.parametrize("text, since, until, inside", [
    ("2.8.4", "2.8", "2.8", True), ("2.8.4", "2.4", "2.7", False), ("2.10.0", "2.9", None, True),
    ("1.12.3", None, "1.12", True), ("2.22.0rc0", "2.22", "", True), ("3", "2.9", "3.0", True),
    ("x", None, None, False), (None, None, None, False)])
def test_within(text, since, until, inside):
    assert releases.within(text, since, until) == inside


def test_native_names_follow_the_release():
    old, new = report.surfaces("1.12.3"), report.surfaces("2.21.0")
    assert "TPUStrategy.call_for_each_tower" in old["contrib"]["native"]
    assert "TPUStrategy.call_for_each_tower" in new["contrib"]["provided"]
    assert "TPUStrategy.run" in new["v2_2"]["native"]
    assert "TPUStrategy.run" in report.surfaces("2.1.4")["v2_2"]["provided"]
    assert not any(names["native"] for names in report.surfaces(None).values())


def answer(env, **options):
    out = io.StringIO()
    return doctor.run(environment=env, out=out, **options), out.getvalue()


@pytest.mark.parametrize("env, code", [
    (machine(), 0), (machine(None), 1), (CASES["import is killed"][0], 1),
    (CASES["Keras 3 makes slots late"][0], 0)], ids=["sound", "none", "broken", "note"])
def test_exit_code_and_json_agree(env, code):
    returned, text = answer(env, as_json=True)
    assert returned == code == int(not json.loads(text)["ok"])


def test_json_is_stable():
    _, text = answer(CASES["runtime unknown"][0], as_json=True)
    data = json.loads(text)
    assert sorted(data) == ["findings", "keras", "ok", "python", "surfaces", "tensorflow",
                            "tpu", "tpudist"]
    assert sorted(data["tensorflow"]) == ["distributions", "path", "variant", "version"]
    assert sorted(data["tpu"]) == ["chips", "kind", "libtpu", "name", "source"]
    assert sorted(data["findings"][0]) == ["check", "instead", "level", "seen", "why"]
    assert sorted(data["surfaces"]) == ["contrib", "v2_0", "v2_2"]


def test_text_says_it_at_a_glance():
    code, text = answer(machine("2.15.1", distributions={"keras": "2.12.0"},
                                variables={"TPUDIST_TPU": "virtual:8"}))
    assert code == 1
    for words in ("TensorFlow  2.15.1, cpu build (tensorflow-cpu)", "keras 2 (2.12.0)",
                  "virtual virtual:8 (TPUDIST_TPU)", "PROBLEM  keras 2.12.0 beside",
                  '  type  pip install "keras==2.15.*"', "1 problem."):
        assert words in text
    assert max(map(len, text.split("Native")[1].split("PROBLEM")[0].splitlines())) <= 88


@pytest.mark.parametrize("env, last", [
    (machine(), "No problems."), (CASES["runtime unknown"][0], "No problems, 1 note."),
    (machine(None), "1 problem.")])
def test_verdict(env, last):
    assert answer(env)[1].splitlines()[-1] == last


def test_this_machine(capsys):
    code = cli.main(["doctor", "--json"])
    data = json.loads(capsys.readouterr().out)
    installed, _ = environment.installed()
    wheels = [name for name in environment.TENSORFLOWS if name in installed]
    assert code == int(not data["ok"])
    assert list(data["tensorflow"]["distributions"]) == sorted(wheels)
    if wheels:
        assert data["tensorflow"]["version"] == installed[wheels[0]]
        assert data["tensorflow"]["path"].endswith("__init__.py")
        assert data["keras"]["generation"]
