"""Networks in training: their batches, and their states unpacked and exported."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from torch.utils.data import DataLoader  # noqa: E402

from vision.detector.models import UPRIGHT, OpenCvNet, shared_net  # noqa: E402
from vision.simulation.looks import TRAINED  # noqa: E402
from vision.training.checkpoints import save, shards_for, unpack  # noqa: E402
from vision.training.dataset import frame_row  # noqa: E402
from vision.training.tasks import LESSONS, body_of  # noqa: E402
from vision.training.train import Batches  # noqa: E402

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


def test_saved_weights_give_the_outputs_of_the_network(data: Path) -> None:
    net = LESSONS["upright"].net().eval()
    save("upright", net, data / "saved")
    pixels = np.random.default_rng(2).random((2, 3, UPRIGHT, UPRIGHT), np.float32)
    with torch.no_grad():
        alive = body_of("upright", net)(torch.from_numpy(pixels)).numpy()
    path = data / "saved" / "upright.onnx"
    path.write_bytes(gzip.decompress(path.with_suffix(".onnx.gz").read_bytes()))
    np.testing.assert_allclose(OpenCvNet(path)(pixels), alive, atol=5e-3)
    assert (data / "saved" / "tilt_head.npz").exists()


def test_a_batch_is_the_same_whichever_process_makes_it(data: Path) -> None:
    with np.load(data / "scenes_1_0000.npz") as columns:
        shard = {key: columns[key] for key in LESSONS["finder"].keys}
    batches = Batches(LESSONS["finder"], [shard], 2, (1, 0))
    assert len(batches) == 3
    inline = list(DataLoader(batches, batch_size=None))
    apart = list(DataLoader(batches, batch_size=None, num_workers=2))
    for one, other in zip(inline, apart, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)
