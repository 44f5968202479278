"""The paper's kinds of models, small, seeded, for the processor: what they say of test rows, as logits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from readers import Data
from torch import Tensor, nn
from torch.nn import functional

Floats = NDArray[np.float32]

IMAGENET_MEAN, IMAGENET_SD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def perceptron(data: Data, *, epochs: int, seed: int) -> Floats:
    """Test logits of a perceptron with hidden layers of 256 and 128."""
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(256, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )
    x, y, new = _pixels(data.train), torch.from_numpy(data.train_labels), _pixels(data.test)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, epochs=epochs, steps_per_epoch=-(-len(x) // 128))
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(128):
            _step(optimizer, functional.cross_entropy(model(x[rows]), y[rows]))
            schedule.step()
    return _asked(model, new)


def text_model(data: Data, *, n_classes: int, dim: int, epochs: int, rate: float, least: int, seed: int) -> Floats:
    """Test logits of a linear layer on the mean of learned word embeddings."""
    torch.manual_seed(seed)
    words = Counter(word for text in data.train for word in tokens(text))
    known = {word: number for number, (word, count) in enumerate(words.most_common(), start=1) if count >= least}
    bags = [_bag(text, known) for text in data.train]
    model = MeanOfWords(len(known) + 1, dim, n_classes)
    labels = torch.from_numpy(data.train_labels)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(epochs):
        for rows in torch.randperm(len(bags)).split(64):
            loss = functional.cross_entropy(model([bags[row] for row in rows.tolist()]), labels[rows])
            _step(optimizer, loss)
    model.eval()
    with torch.no_grad():
        new = [_bag(text, known) for text in data.test]
        return torch.cat([model(new[start : start + 512]) for start in range(0, len(new), 512)]).numpy()


def tokens(text: str) -> list[str]:
    """Words, numbers and marks that carry feeling, in lower case."""
    return re.findall(r"[a-z0-9']+|[!?]", text.lower())


class MeanOfWords(nn.Module):
    """A text model of the paper's kind: words that occur are averaged, then weighed."""

    def __init__(self, n_words: int, dim: int, n_classes: int) -> None:
        super().__init__()
        self.words = nn.EmbeddingBag(n_words, dim, mode="mean")
        nn.init.normal_(self.words.weight, std=0.1)
        self.dropout = nn.Dropout(0.3)
        self.classes = nn.Linear(dim, n_classes)

    def forward(self, bags: Sequence[Tensor]) -> Tensor:
        """Logits of texts given as word numbers."""
        starts = torch.tensor([0, *map(len, bags)][:-1]).cumsum(0)
        return self.classes(self.dropout(self.words(torch.cat(list(bags)), starts)))


def _bag(text: str, known: Mapping[str, int]) -> Tensor:
    return torch.tensor([known.get(word, 0) for word in tokens(text)] or [0])


def resnet56(images: NDArray[np.uint8], weights: Mapping[str, NDArray[np.float32]]) -> Floats:
    """Logits of a ResNet56 for CIFAR-10 with given weights."""
    model = ResNet56()
    model.load_state_dict({name: torch.from_numpy(np.asarray(array)) for name, array in weights.items()})
    mean, sd = (torch.tensor(values).view(3, 1, 1) for values in (IMAGENET_MEAN, IMAGENET_SD))
    x = torch.from_numpy(images).permute(0, 3, 1, 2)
    model.eval()
    with torch.no_grad():
        return torch.cat([model((part / 255 - mean) / sd) for part in x.split(250)]).numpy()


class Block(nn.Module):
    """Two convolutions around a shortcut; where the picture shrinks, new channels of the shortcut are zero."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.conv2 = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.stride, self.missing = stride, after - before

    def forward(self, x: Tensor) -> Tensor:
        """One block."""
        out = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        half = self.missing // 2
        shortcut = functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, half, self.missing - half))
        return functional.relu(out + shortcut)


class ResNet56(nn.Module):
    """He et al.'s ResNet for CIFAR: 3 x 9 blocks of 16, 32 and 64 channels."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(*(Block(16, 16, 1) for _ in range(9)))
        self.layer2 = nn.Sequential(Block(16, 32, 2), *(Block(32, 32, 1) for _ in range(8)))
        self.layer3 = nn.Sequential(Block(32, 64, 2), *(Block(64, 64, 1) for _ in range(8)))
        self.linear = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = functional.relu(self.bn1(self.conv1(x)))
        return self.linear(self.layer3(self.layer2(self.layer1(x))).mean(dim=(2, 3)))


def _pixels(images: NDArray[np.uint8]) -> Tensor:
    return (torch.from_numpy(images).float() / 255 - 0.2) / 0.33


def _step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def _asked(model: nn.Module, x: Tensor) -> Floats:
    model.eval()
    with torch.no_grad():
        return model(x).numpy()
