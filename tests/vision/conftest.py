"""What tests of the eye share: how much work its networks are given."""

from __future__ import annotations

from collections import Counter

import pytest

from vision.eye import aligned, close_ups, square_on
from vision.eye.nets import Net, Scores, shared_net


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many close-ups each network is given."""
    counted: Counter[str] = Counter()

    def counting(name: str) -> Net:
        net = shared_net(name)

        def run(blob: Scores) -> Scores:
            counted[name] += len(blob)
            return net(blob)

        return run  # type: ignore[return-value]

    for module in (close_ups, aligned, square_on):
        monkeypatch.setattr(module, "shared_net", counting)
    return counted
