"""Commands that tests run, and the rows that their files hold."""

import numpy as np
import pandas as pd
from click.testing import CliRunner

import rankset as rs
from rankset.cli.commands import rankset

NAMES = ["sadness", "joy", "love", "anger", "fear", "surprise"]
LOGITS, LABELS = rs.datasets.load("carer")
VAL, TEST = slice(0, 600), slice(600, 1000)
RULE = rs.calibrate(LOGITS[VAL], LABELS[VAL], kind="logits")
FRAME = pd.DataFrame(LOGITS.astype(float), columns=NAMES).assign(answer=np.array(NAMES)[LABELS], site=["a", "b"] * 1000)


def run(*arguments, stdin=None):
    return CliRunner().invoke(rankset, [str(argument) for argument in arguments], input=stdin)


def fine(*arguments, **options):
    done = run(*arguments, **options)
    assert done.exit_code == 0, done.output
    return done
