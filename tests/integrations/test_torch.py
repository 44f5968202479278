"""Rules and sets from a PyTorch model and a loader are those of its logits; skipped where torch is not installed."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import rankset as rs
from rankset.errors import InputError, KindError, LabelError, LevelError
from refusals import like, refused

torch = pytest.importorskip("torch")

GENERATOR = torch.Generator().manual_seed(0)
X = torch.randn(203, 6, generator=GENERATOR)
Y = torch.randint(0, 4, (203,), generator=GENERATOR)


class Net(torch.nn.Module):
    """Dropout and batch norm, which behave differently while training."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.BatchNorm1d(6), torch.nn.Linear(6, 4), torch.nn.Dropout(0.5))
        self.widest, self.gradients = 0, []

    def forward(self, x):
        self.widest = max(self.widest, len(x))
        self.gradients.append(torch.is_grad_enabled())
        return 3 * self.layers(x)


@pytest.fixture
def model():
    torch.manual_seed(1)
    return Net()


def logits(model):
    was = model.training
    with torch.no_grad():
        out = model.eval()(X)
    model.train(was)
    return out


def loader(*tensors, batch_size=32):
    data = torch.utils.data.TensorDataset(*tensors)
    return torch.utils.data.DataLoader(data, batch_size=batch_size)


QUIET = {"show_progress": False}
CLASSES = int(Y.max()) + 1
CONDITIONS = [rs.Marginal(), rs.PerLabel(), rs.Pooled(rs.PerLabel()), rs.Balanced(range(1, CLASSES + 1))]


@pytest.mark.parametrize("score", [rs.Rank(), rs.Aps(), rs.TieBreak(rs.TopK())], ids=repr)
@pytest.mark.parametrize("condition", CONDITIONS, ids=repr)
def test_the_same_bits_as_from_all_logits_at_once(model, score, condition):
    options = {"score": score, "condition": condition}
    whole = logits(model)
    expected = rs.calibrate(whole, Y, kind="logits", **options)
    rule = rs.torch.calibrate(model, loader(X, Y), **options, **QUIET)
    assert rule == expected
    sets = rs.torch.predict(rule, model, loader(X), 0.2, **QUIET)
    assert sets == rs.torch.predict(rule, model, loader(X, Y), 0.2, **QUIET) == expected.predict(whole, 0.2)
    assert sets.law == expected.predict(whole, 0.2).law
    seen, same = rs.torch.evaluate(rule, model, loader(X, Y), 0.2, **QUIET), rs.evaluate(sets, Y)
    assert repr(seen) == repr(same)


def test_batches_are_taken_one_by_one_and_quietly(model):
    model.train()
    model.layers[0].eval()  # a frozen part of a model in training
    model.gradients.clear()
    before = [parameter.clone() for parameter in model.state_dict().values()]
    rs.torch.calibrate(model, loader(X, Y), **QUIET)
    assert [module.training for module in model.modules()] == [True, True, False, True, True]
    assert model.widest == 32
    assert model.gradients == [False] * 7
    assert all(torch.equal(*pair) for pair in zip(before, model.state_dict().values(), strict=True))
    assert torch.is_grad_enabled()


def test_the_mode_comes_back_after_an_error(model):
    with refused(LabelError, what="labels", part="batch 0") as caught:
        rs.torch.calibrate(model, loader(X, Y + torch.arange(203)), **QUIET)
    assert str(caught.value).startswith("batch 0: labels must be column numbers, integers from 0 to 3, ")
    assert model.training
    with pytest.raises(RuntimeError):
        rs.torch.calibrate(model, loader(X[:, :5], Y), **QUIET)
    assert model.training
    assert torch.is_grad_enabled()


class Named(Net):
    def forward(self, pixels, mask=None):
        return SimpleNamespace(loss=None, logits=super().forward(pixels))


def test_batches_with_names(model):
    named = Named()
    named.load_state_dict(model.state_dict())
    batches = [{"pixels": x, "labels": y, "site": list("ab") * (len(y) // 2)} for x, y in loader(X[:200], Y[:200])]
    plain = rs.calibrate(logits(model)[:200], Y[:200], kind="logits")
    assert rs.torch.calibrate(named, batches, forward=lambda m, b: m(b["pixels"]), **QUIET) == plain
    by_site = rs.torch.calibrate(named, batches, groups="site", condition=rs.PerGroup(), **QUIET)
    sites = list("ab") * 100
    again = rs.calibrate(logits(model)[:200], Y[:200], kind="logits", condition=rs.PerGroup(), groups=sites)
    assert by_site == again
    sets = rs.torch.predict(by_site, named, batches, 0.2, groups="site", **QUIET)
    assert sets == again.predict(logits(model)[:200], 0.2, groups=sites)


def test_places_functions_and_class_names(model):
    names = np.array(["ant", "bee", "cat", "dog"])
    batches = [("id", x, names[y], list(range(start, start + len(y)))) for start, x, y in numbered()]
    options = {"score": rs.TieBreak(rs.TopK()), "classes": names}
    where = {"labels": 2, "ids": lambda batch: batch[3], "forward": lambda model, batch: (model(batch[1]), "hidden")}
    rule = rs.torch.calibrate(model, batches, **options, **where, **QUIET)
    expected = rs.calibrate(logits(model), names[Y], kind="logits", ids=range(203), **options)
    assert rule == expected
    sets = rs.torch.predict(rule, model, iter(batches), 0.1, **where, empty="top", **QUIET)
    assert sets == expected.predict(logits(model), 0.1, ids=range(203), empty="top")


def numbered():
    start = 0
    for x, y in loader(X, Y):
        yield start, x, y
        start += len(y)


def test_half_precision_and_plain_functions(model):
    def halves(x):
        with torch.no_grad():
            return model.eval()(x).to(torch.bfloat16)

    expected = rs.calibrate(logits(model).to(torch.bfloat16), Y, kind="logits")
    assert rs.torch.calibrate(halves, loader(X, Y), **QUIET) == expected
    softmax = torch.softmax(logits(model), 1)
    batches = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(softmax, Y), batch_size=50)
    rule = rs.torch.calibrate(torch.nn.Identity(), batches, kind="probs", **QUIET)
    assert rule == rs.calibrate(softmax, Y)


def test_inputs_go_to_the_device_of_the_model():
    class Elsewhere(torch.nn.Linear):
        def forward(self, x):
            assert x.device == self.weight.device
            return torch.zeros(len(x), 4)

    model = Elsewhere(6, 4, device="meta")
    rule = rs.torch.calibrate(model, loader(X, Y), **QUIET)
    assert rule == rs.calibrate(np.zeros((203, 4)), Y, kind="logits")


def test_no_rows(model):
    rule = rs.torch.calibrate(model, loader(X, Y), **QUIET)
    assert len(rs.torch.predict(rule, model, [], 0.1, **QUIET)) == 0
    with refused(InputError.no_rows()):
        rs.torch.calibrate(model, [], **QUIET)
    with refused(InputError.no_rows_to_evaluate()):
        rs.torch.evaluate(rule, model, [], 0.1, **QUIET)


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (lambda model: rs.torch.calibrate(model, loader(X), **QUIET), KindError.no_labels_in_batch()),
        (
            lambda model: rs.torch.calibrate(model, [{"x": X, "y": Y}], labels="z", **QUIET),
            KindError.batch("z", "keys ['x', 'y']"),
        ),
        (lambda model: rs.torch.calibrate(model, loader(X, Y), labels=2, **QUIET), KindError.batch(2, "a list")),
    ],
)
def test_labels_that_are_not_there(model, ask, refusal):
    with refused(refusal, part="batch 0"):
        ask(model)


class Terminal:
    """A stderr that is one."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("library", ["tqdm", "none"])
def test_progress_is_shown_on_terminals_by_tqdm(model, monkeypatch, library):
    if library == "none":
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    else:
        pytest.importorskip("tqdm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    rs.torch.calibrate(model, loader(X, Y))
    assert ("calibrating" in terminal.text and "7/7" in terminal.text) is (library == "tqdm")
    terminal.text = ""
    rs.torch.calibrate(model, loader(X, Y), show_progress=False)
    assert terminal.text == ""


def test_elsewhere_it_is_quiet(model, capsys):
    rs.torch.calibrate(model, loader(X, Y))
    assert capsys.readouterr().err == ""


def test_labels_may_be_column_numbers_where_classes_are_texts(model):
    names = ["ant", "bee", "cat", "dog"]
    expected = rs.calibrate(logits(model), np.array(names)[Y], kind="logits", classes=names)
    rule = rs.torch.calibrate(model, loader(X, Y), classes=dict(enumerate(names)), **QUIET)
    assert rule == expected
    seen = rs.torch.evaluate(rule, model, loader(X, Y), 0.2, **QUIET)
    assert repr(seen) == repr(rs.evaluate(expected.predict(logits(model), 0.2), np.array(names)[Y]))
    with refused(KindError, what="classes", expected="be a list of names in column order"):
        rs.torch.calibrate(model, loader(X, Y), classes=set(names), **QUIET)


def test_batches_without_rows_do_not_matter(model):
    batches = [(X[:0], Y[:0]), (X[:100], Y[:100]), (X[:0], Y[:0]), (X[100:], Y[100:])]
    rule = rs.torch.calibrate(model, batches, **QUIET)
    assert rule == rs.torch.calibrate(model, loader(X, Y), **QUIET)
    assert rs.torch.predict(rule, model, batches, 0.1, **QUIET) == rule.predict(logits(model), 0.1)
    groups = [["a"] * len(y) for _, y in batches]
    grouped = [(x, y, g) for (x, y), g in zip(batches, groups, strict=True)]
    rule = rs.torch.calibrate(model, grouped, groups=2, condition=rs.PerGroup(), **QUIET)
    assert len(rs.torch.predict(rule, model, [], 0.1, groups=2, **QUIET)) == 0


def test_labels_belong_to_their_batch(model):
    batches = [(X[:10], Y[:9]), (X[10:20], Y[9:20])]
    rule = rs.torch.calibrate(model, loader(X, Y), **QUIET)
    for ask in (lambda: rs.torch.calibrate(model, batches), lambda: rs.torch.evaluate(rule, model, batches, 0.1)):
        with refused(
            InputError, what="labels", expected="have one entry for each of the 10 rows", received="9 entries"
        ):
            ask()


def test_other_shapes_of_batches_and_outputs(model):
    from collections import namedtuple

    pair = namedtuple("pair", "x y")  # noqa: PYI024
    expected = rs.calibrate(logits(model), Y, kind="logits")
    assert rs.torch.calibrate(model, [pair(X, Y)], **QUIET) == expected
    assert rs.torch.calibrate(model, [(Y, X)], labels=0, **QUIET) == expected
    assert rs.torch.calibrate(model, [(X, Y)], forward=lambda m, b: {"logits": m(b[0])}, **QUIET) == expected
    one = rs.torch.calibrate(lambda x: x[:, :1], [(X, Y % 2)], **QUIET)
    both = np.column_stack((np.zeros(203, np.float32), X[:, 0].numpy()))
    assert one == rs.calibrate(both, Y % 2, kind="logits")


def test_absent_labels_in_batches(model):
    labels = [rs.ABSENT if row % 10 == 0 else int(label) for row, label in enumerate(Y)]
    batches = [(X[start : start + 50], labels[start : start + 50]) for start in range(0, len(X), 50)]
    rule = rs.torch.calibrate(model, batches, **QUIET)
    assert rule == rs.calibrate(logits(model), labels, kind="logits")
    told = rs.torch.evaluate(rule, model, batches, 0.2, **QUIET)
    assert told.absent == sum(label is rs.ABSENT for label in labels)
    assert repr(told) == repr(rs.evaluate(rule.predict(logits(model), 0.2), labels))


def test_a_warning_is_given_once(model):
    rule = rs.torch.calibrate(model, loader(X[:5], Y[:5]), **QUIET)
    with pytest.warns(rs.RanksetWarning, match="calibration rows are needed") as told:
        rs.torch.predict(rule, model, loader(X), 0.01, **QUIET)
    assert len(told) == 1


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (lambda model: rs.torch.calibrate(loader(X, Y), model), like(KindError, what="model")),
        (lambda model: rs.torch.calibrate(model, 5), like(KindError, what="loader", received="'int'")),
        (lambda model: rs.torch.calibrate(model, X), like(KindError, what="loader", received="'Tensor'")),
        (
            lambda model: rs.torch.calibrate(model, [()]),
            like(KindError, expected="contain the entry 'inputs'", received="a tuple of 0", part="batch 0"),
        ),
        (lambda model: rs.torch.predict(None, model, [X], 0.1), like(KindError, what="rule", received="None")),
    ],
)
def test_what_cannot_be_is_told(model, ask, refusal):
    with refused(refusal):
        ask(model)


def test_a_model_that_takes_other_names_is_told_how_to_call_it(model):
    with pytest.raises(TypeError, match="unexpected keyword") as caught:
        rs.torch.calibrate(model, [{"x": X, "idx": Y, "labels": Y}])
    assert "forward=" in caught.value.__notes__[0]


def test_confidence_instead_of_alpha(model):
    rule = rs.torch.calibrate(model, loader(X, Y), **QUIET)
    for ask, batches in ((rs.torch.predict, loader(X)), (rs.torch.evaluate, loader(X, Y))):
        with pytest.warns(rs.RanksetWarning, match=r"Did you mean alpha=0\.05\?") as caught:
            ask(rule, model, batches, 0.95, **QUIET)
        assert len(caught) == 1
        with pytest.raises(TypeError, match=r"pass alpha=0\.05 for coverage 0\.95"):
            ask(rule, model, batches, coverage=0.95, **QUIET)


CARER, TRUTH = (torch.tensor(part[:1200]) for part in rs.datasets.load("carer"))
SAME = torch.nn.Identity()


def carer(batch_size=100):
    return loader(CARER, TRUTH, batch_size=batch_size)


def test_auto_of_batches_is_auto_of_all_rows():
    told = {"condition": rs.PerLabel(), "share": 0.4, "class_factors": False, "seed": 5}
    rule = rs.torch.auto(SAME, carer(), 0.05, **told, **QUIET)
    assert rule == rs.auto(CARER, TRUTH, 0.05, kind="logits", **told)
    assert isinstance(rule.score.score, rs.Recalibrated)
    assert rs.torch.auto(SAME, carer(7), **QUIET) == rs.auto(CARER, TRUTH, kind="logits")
    probs = torch.softmax(CARER, 1)
    assert rs.torch.auto(SAME, loader(probs, TRUTH), kind="probs", **QUIET) == rs.auto(probs, TRUTH)


def test_method_in_calibrate_takes_names_and_auto(model):
    whole = logits(model)
    for method in ("raps", "LAC", rs.Aps()):
        expected = rs.calibrate(whole, Y, kind="logits", method=method)
        assert rs.torch.calibrate(model, loader(X, Y), method=method, **QUIET) == expected
        assert rs.torch.calibrate(model, loader(X, Y), score=method, **QUIET) == expected
    chosen = rs.torch.calibrate(SAME, carer(), method="auto", alpha=0.05, seed=2, **QUIET)
    assert chosen == rs.auto(CARER, TRUTH, 0.05, kind="logits", seed=2)
    with refused(KindError.method_twice("aps", "rank")):
        rs.torch.calibrate(model, loader(X, Y), method="aps", score="rank", **QUIET)
    with refused(LevelError.not_at_calibration(0.1)):
        rs.torch.calibrate(model, loader(X, Y), method="aps", alpha=0.1, **QUIET)
    with refused(KindError.ids_with_auto()):
        rs.torch.calibrate(SAME, [(CARER, TRUTH, range(1200))], method="auto", ids=2, **QUIET)


def test_compare_and_choose_are_those_of_all_rows():
    told = {"repeats": 5, "seed": 3}
    found = rs.torch.compare(SAME, carer(), 0.05, scores=["rank", rs.Thr(), "aps"], **told, **QUIET)
    expected = rs.compare(CARER, TRUTH, 0.05, scores=["rank", "thr", "aps"], kind="logits", **told)
    assert found.scores == (rs.Rank(), rs.Thr(), rs.Aps())
    assert repr(found) == repr(expected)
    for objective in ("size", "worst_class"):
        several = rs.grid(rs.Raps, penalty=[0.0, 0.5], free_ranks=[1])
        options = {"objective": objective, **told}
        best = rs.torch.choose(several, SAME, carer(), 0.05, **options, **QUIET)
        assert best == rs.choose(several, CARER, TRUTH, 0.05, kind="logits", **options)


def test_compare_and_choose_take_and_document_lists_of_alphas():
    found = rs.torch.compare(SAME, carer(), [0.05, 0.1], scores=["rank"], repeats=2, **QUIET)
    assert isinstance(found, rs.Comparisons)
    assert found.alphas == (0.05, 0.1)
    assert rs.torch.choose(["rank"], SAME, carer(), [0.05, 0.1], repeats=2, **QUIET) == rs.Rank()
    for function in (rs.torch.compare, rs.torch.choose):
        assert "Alphas" in function.__annotations__["alpha"]
        assert "or a list of several" in function.__doc__


COLLECTED = {
    "auto": lambda model, batches, **options: rs.torch.auto(model, batches, **options, **QUIET),
    "compare": lambda model, batches, **options: rs.torch.compare(model, batches, scores=["rank"], **options, **QUIET),
    "choose": lambda model, batches, **options: rs.torch.choose(["rank"], model, batches, **options, **QUIET),
    "calibrate": lambda model, batches, **options: rs.torch.calibrate(
        model, batches, method="auto", **options, **QUIET
    ),
}
every_collected = pytest.mark.parametrize("ask", COLLECTED.values(), ids=COLLECTED.keys())


@every_collected
def test_what_needs_all_rows_is_quiet_too_and_restores_flags(model, ask):
    model.train()
    model.layers[0].eval()
    model.gradients.clear()
    ask(model, loader(X, Y))
    assert [module.training for module in model.modules()] == [True, True, False, True, True]
    assert model.gradients == [False] * 7
    with pytest.raises(RuntimeError):
        ask(model, loader(X[:, :5], Y))
    assert model.training
    assert torch.is_grad_enabled()


@every_collected
def test_what_needs_all_rows_names_the_batch_in_errors(model, ask):
    with refused(InputError, part="batch 1", row=2):
        ask(
            SAME,
            [(CARER[:9], TRUTH[:9]), (torch.where(torch.arange(9)[:, None] == 2, torch.nan, CARER[:9]), TRUTH[:9])],
        )
    with refused(InputError, part="batch 1"):
        ask(SAME, [(CARER[:9], TRUTH[:9]), (CARER[:9, :5], TRUTH[:9] % 5)])
    with refused(LabelError, part="batch 0"):
        ask(SAME, [(CARER[:9], TRUTH[:9] + 6)])
    with refused(KindError.no_labels_in_batch(), part="batch 0"):
        ask(SAME, [CARER[:9]])
    with refused(InputError.no_rows()):
        ask(SAME, [])
    with refused(KindError, what="model"):
        ask(3, [])


def test_what_needs_all_rows_takes_names_groups_and_ragged_rows():
    names = ["sad", "joy", "love", "rage", "fear", "awe"]
    sites = ["north", "south"] * 600
    batches = [
        {"x": CARER[a : a + 100], "labels": TRUTH[a : a + 100], "site": sites[a : a + 100]} for a in range(0, 1200, 100)
    ]
    told = {"classes": names, "groups": "site", "condition": rs.PerGroup(), "forward": lambda _, batch: batch["x"]}
    rule = rs.torch.auto(SAME, batches, **told, **QUIET)
    labels = np.array(names)[TRUTH]
    expected = rs.auto(CARER, labels, kind="logits", classes=names, groups=sites, condition=rs.PerGroup())
    assert rule == expected
    assert rs.torch.calibrate(SAME, batches, method="auto", **told, **QUIET) == expected
    by_function = {"labels": lambda batch: [names[code] for code in batch["labels"]], "classes": names}
    same = rs.torch.auto(SAME, batches, forward=told["forward"], **by_function, **QUIET)
    assert same == rs.auto(CARER, labels, kind="logits", classes=names)
    cut = [row[: 3 + at % 3] for at, row in enumerate(CARER.numpy())]
    answers = [int(row.argmax()) for row in cut]
    pieces = [(rs.Ragged.of(cut[a : a + 100]), answers[a : a + 100]) for a in range(0, 1200, 100)]
    assert rs.torch.auto(lambda x: x, pieces, **QUIET) == rs.auto(rs.Ragged.of(cut), answers, kind="logits")


def test_groups_and_ids_of_batches_are_those_of_all_rows():
    sites = torch.arange(len(TRUTH)) % 3
    told = {"condition": rs.PerGroup(), "groups": 2, "ids": 3, "repeats": 3}
    batches = loader(CARER, TRUTH, sites, torch.arange(len(TRUTH)))
    asked = {
        "kind": "logits",
        "condition": rs.PerGroup(),
        "groups": sites,
        "ids": torch.arange(len(TRUTH)),
        "repeats": 3,
    }
    found = rs.torch.compare(SAME, batches, scores=["aps", "auto"], **told, **QUIET)
    expected = rs.compare(CARER, TRUTH, scores=["aps", "auto"], **asked)
    assert (found.values == expected.values).all()
    assert (found.auto_values == expected.auto_values).all()
    assert rs.torch.choose(["aps", "thr"], SAME, batches, **told, **QUIET) == rs.choose(
        ["aps", "thr"], CARER, TRUTH, **asked
    )


def test_absent_labels_of_batches_are_those_of_all_rows():
    names = list("uvwxyz")
    for classes, labels in ((names, [names[k] for k in TRUTH.tolist()]), (None, TRUTH.tolist())):
        labels[:200] = [rs.ABSENT] * 200
        batches = [(CARER[:700], labels[:700]), (CARER[700:], labels[700:])]
        rule = rs.torch.auto(SAME, batches, 0.3, classes=classes, **QUIET)
        assert rule == rs.auto(CARER, labels, 0.3, kind="logits", classes=classes)
        assert rule.calibration.n_absent > 0
        found = rs.torch.compare(SAME, batches, 0.3, scores=["thr"], classes=classes, repeats=2, **QUIET)
        asked = {"scores": ["thr"], "kind": "logits", "classes": classes, "repeats": 2}
        assert (found.values == rs.compare(CARER, labels, 0.3, **asked).values).all()
        assert rs.torch.choose(["thr"], SAME, batches, 0.3, classes=classes, **QUIET) == rs.Thr()


@pytest.mark.filterwarnings("ignore:the weights make:rankset.RanksetWarning")
@pytest.mark.parametrize("method", ["rank", "auto"])
def test_weights_of_batches_are_those_of_rows(method):
    rng = np.random.default_rng(0)
    logits, weights = torch.tensor(rng.normal(size=(200, 3))), torch.tensor(rng.uniform(0.5, 1.5, 200))
    labels = torch.tensor(rng.integers(0, 3, 200))
    loader = [
        {"x": logits[a : a + 64], "labels": labels[a : a + 64], "w": weights[a : a + 64]} for a in (0, 64, 128, 192)
    ]
    model = lambda x: x  # noqa: E731
    rule = rs.torch.calibrate(model, loader, weights="w", method=method)
    assert rule == rs.calibrate(logits.numpy(), labels.numpy(), kind="logits", weights=weights.numpy(), method=method)
    sets = rs.torch.predict(rule, model, loader, alpha=0.2, weights="w")
    assert sets.to_lists() == rule.predict(logits.numpy(), 0.2, weights=weights.numpy()).to_lists()
    assert rs.torch.evaluate(rule, model, loader, alpha=0.2, weights="w").n == 200
    with pytest.raises(rs.RanksetError, match="weights"):
        rs.torch.predict(rule, model, loader, alpha=0.2, forward=lambda model, batch: model(batch["x"]))


def streams(model, **options):
    """Two streams of one rule, calibrated on the first rows."""
    rule = rs.calibrate(logits(model)[:100], Y[:100], kind="logits", **options)
    return rs.Stream(rule, alpha=0.2), rs.Stream(rule, alpha=0.2)


def states(stream):
    return stream.exact_level, stream.n_rows, stream.n_labels, stream.misses, [one.log_wealth for one in stream.alarms]


def test_a_stream_follows_a_loader_as_it_follows_the_logits(model):
    one, other = streams(model)
    whole, found = logits(model), []
    for sets in rs.torch.follow(one, model, loader(X[100:], Y[100:]), **QUIET):
        found.append(sets)
        assert one.n_labels == one.n_rows == sum(map(len, found))
    for start in range(100, 203, 32):
        assert found.pop(0) == other.predict(whole[start : start + 32])
        other.update(Y[start : start + 32])
    assert found == []
    assert states(one) == states(other)
    assert not any(model.gradients)


def test_batches_without_labels_wait_for_them_by_id(model):
    one, other = streams(model)
    names = torch.arange(100, 203)
    batches = [(X[100:150], names[:50]), (X[150:203], names[50:])]
    sets = list(rs.torch.follow(one, model, batches, labels=lambda batch: None, ids=1, **QUIET))
    assert [len(one) for one in sets] == [50, 53]
    assert (one.n_waiting, one.n_labels) == (103, 0)
    assert one.update(Y[100:203].flip(0), ids=names.flip(0)).rows == 103
    other.predict(logits(model)[100:203])
    other.update(Y[100:203].flip(0), ids=names.flip(0) - 100)
    assert one.misses == other.misses


def test_the_model_has_its_own_mode_between_batches_and_after_an_error(model):
    stream, _ = streams(model)
    model.train()
    model.layers[2].eval()
    modes = [module.training for module in model.modules()]
    model.gradients.clear()
    for _ in rs.torch.follow(stream, model, loader(X[100:], Y[100:]), **QUIET):
        assert torch.is_grad_enabled()
        assert [module.training for module in model.modules()] == modes
    assert model.gradients == [False] * 4
    with refused(LabelError, part="batch 1"):
        list(rs.torch.follow(stream, model, [(X[:3], Y[:3]), (X[:2], [0, 9])], **QUIET))
    assert [module.training for module in model.modules()] == modes
    assert torch.is_grad_enabled()
    assert (stream.n_rows, stream.n_labels, stream.n_waiting) == (108, 106, 2)


def test_a_stream_with_names_groups_and_mappings(model):
    names, groups = ["a", "b", "c", "d"], np.array(["x", "y"])[np.arange(203) % 2]
    rule = rs.calibrate(
        logits(model)[:100],
        np.array(names)[Y[:100]],
        kind="logits",
        classes=names,
        condition=rs.PerGroup(),
        groups=groups[:100],
    )
    one, other = rs.Stream(rule, alpha=0.2), rs.Stream(rule, alpha=0.2)
    batches = [
        {"x": X[at : at + 20], "label": Y[at : at + 20], "site": groups[at : at + 20]} for at in range(100, 200, 20)
    ]
    found = list(rs.torch.follow(one, model, batches, groups="site", **QUIET))
    for at, sets in zip(range(100, 200, 20), found, strict=True):
        assert sets == other.predict(logits(model)[at : at + 20], groups=groups[at : at + 20])
        other.update(np.array(names)[Y[at : at + 20]])
    assert states(one) == states(other)


def test_what_cannot_be_followed(model):
    stream, _ = streams(model)
    with refused(KindError.argument("stream", "a Stream", None)):
        rs.torch.follow(None, model, [])
    with refused(like(KindError)):
        rs.torch.follow(stream, "model", [])
    with refused(like(KindError)):
        rs.torch.follow(stream, model, X)
    assert list(rs.torch.follow(stream, model, [], **QUIET)) == []
    assert [len(sets) for sets in rs.torch.follow(stream, model, [(X[:0], Y[:0])], **QUIET)] == [0]
    assert stream.n_rows == 0


@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16, "gradients"], ids=str)
def test_streams_take_tensors(model, kind):
    one, other = streams(model)
    rows = logits(model)[100:120]
    rows = rows.clone().requires_grad_() if kind == "gradients" else rows.to(kind)
    plain = rows.detach().to(torch.float64).numpy()
    assert one.predict(rows).to_lists() == other.predict(plain).to_lists()
    assert one.update(Y[100:120]) == other.update(Y[100:120].numpy())
    assert one.predict(rows[0]).to_lists() == other.predict(plain[0]).to_lists()
    assert one.update(Y[100:101]) == other.update([int(Y[100])])
    assert one.predict(rows[:2], ids=torch.tensor([500, 501])).to_lists() == other.predict(plain[:2]).to_lists()
    assert one.update(Y[[101, 100]], ids=torch.tensor([501, 500])).rows == 2
