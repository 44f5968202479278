"""Tensors give the bits that arrays give. Each framework's tests are skipped where it is not installed."""

import numpy as np
import pytest

import rankset as rs
from rankset.errors import KindError
from refusals import refused

RNG = np.random.default_rng(0)
PROBS = RNG.dirichlet(np.full(5, 0.5), 200).astype(np.float32)
LABELS = RNG.integers(0, 5, 200)
SCORES = [rs.Rank(), rs.Aps(), rs.Thr()]


def same(score, probs, labels, expected=PROBS):
    rule, theirs = (rs.calibrate(*given, score=score) for given in ((probs, labels), (expected, LABELS)))
    assert rule == theirs
    assert rule.predict(probs, 0.1) == theirs.predict(expected, 0.1)
    assert rule.p_values(probs).tobytes() == theirs.p_values(expected).tobytes()
    assert rule.predict(probs, 0.1).covers(labels).tolist() == theirs.predict(expected, 0.1).covers(LABELS).tolist()


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("gradients", [False, True])
def test_torch(score, dtype, gradients):
    torch = pytest.importorskip("torch")
    probs = torch.from_numpy(PROBS.copy()).to(getattr(torch, dtype)).requires_grad_(gradients)
    numbers = probs.detach().double().numpy() if dtype == "float64" else probs.detach().float().numpy()
    same(score, probs, torch.from_numpy(LABELS), numbers)
    same(score, probs.T.contiguous().T, torch.from_numpy(LABELS)[:, None], numbers)


def test_torch_logits_and_other_devices():
    torch = pytest.importorskip("torch")
    logits = torch.log(torch.from_numpy(PROBS))
    assert rs.calibrate(logits, LABELS, kind="logits") == rs.calibrate(logits.numpy(), LABELS, kind="logits")
    with refused(KindError, what="probs", expected="be a matrix of real numbers"):
        rs.calibrate(torch.empty((3, 5), device="meta"), [0, 1, 2])
    with refused(KindError, what="probs", expected="be a matrix of real numbers"):
        rs.calibrate(torch.eye(3).to_sparse(), [0, 1, 2])


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_jax(score, dtype):
    numpy = pytest.importorskip("jax.numpy")
    probs = numpy.asarray(PROBS).astype(dtype)
    same(score, probs, numpy.asarray(LABELS), np.asarray(probs).astype(np.float32))


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_the_array_standard(score):
    strict = pytest.importorskip("array_api_strict")
    same(score, strict.asarray(PROBS), strict.asarray(LABELS))


class Packed:
    """Nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_dlpack(score):
    same(score, Packed(PROBS), Packed(LABELS))


class Tensor:
    """What a tensor on another device that needs gradients looks like."""

    dtype = "torch.float32"

    def __init__(self, array, *, ready=False):
        self.array, self.ready = array, ready

    def detach(self):
        return self

    def cpu(self):
        return Tensor(self.array, ready=True)

    def __array__(self, dtype=None, copy=None):
        if not self.ready:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        return self.array


def test_another_device():
    same(rs.Rank(), Tensor(PROBS), Tensor(LABELS))
