"""States of networks in training: unpacked, averaged, exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from vision.detector.models import shared_net  # noqa: E402
from vision.simulation.looks import TRAINED  # noqa: E402
from vision.training.checkpoints import average, shards_for, unpack  # noqa: E402
from vision.training.dataset import frame_row  # noqa: E402
from vision.training.tasks import LESSONS  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(8)
    rows = [frame_row(rng, TRAINED) for _ in range(6)]
    np.savez(folder / "scenes_1_0000.npz", **{k: np.stack([r[k] for r in rows]) for k in rows[0]})
    np.savez(folder / "scenes_2_0000.npz", patch_pixels=np.zeros(3))
    (folder / "scenes_1_0001.part.npz").write_bytes(b"half a shard")
    return folder


def test_shards_without_the_columns_of_a_network_are_passed_over(data: Path) -> None:
    assert [path.name for path in shards_for(LESSONS["finder"], data)] == ["scenes_1_0000.npz"]
    assert not shards_for(LESSONS["reader"], data)


def test_unpacked_weights_give_the_outputs_of_the_committed_ones(data: Path) -> None:
    unpack("finder", data, data / "finder.pt")
    net = LESSONS["finder"].net()
    net.load_state_dict(torch.load(data / "finder.pt"))
    net.eval()
    pixels = np.random.default_rng(2).random((1, 3, 256, 320), np.float32)
    with torch.no_grad():
        unpacked = net(torch.from_numpy(pixels)).numpy()
    np.testing.assert_allclose(unpacked, shared_net("finder")(pixels), atol=5e-3)


def test_the_mean_of_a_state_and_itself_keeps_its_weights(data: Path) -> None:
    unpack("finder", data, data / "finder.pt")
    average("finder", data, data / "mean", (data / "finder.pt", data / "finder.pt"), 0.5)
    before, after = torch.load(data / "finder.pt"), torch.load(data / "mean" / "finder.pt")
    assert torch.equal(before["head.weight"], after["head.weight"])
    assert (data / "mean" / "finder.onnx.gz").stat().st_size > 100_000
