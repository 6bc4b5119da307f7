"""Networks in training: their batches, the inputs of their heads, and their states unpacked and
exported."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnx")

from torch.utils.data import DataLoader  # noqa: E402

from vision.detector import models  # noqa: E402
from vision.detector.context import correct_by_context  # noqa: E402
from vision.detector.models import (  # noqa: E402
    FEATURES,
    FLOAT,
    INT8,
    SCORES,
    UPRIGHT,
    UPRIGHT_OUTPUTS,
    UPRIGHT_TILTED,
    OnnxRuntimeNet,
    OpenCvNet,
    opencv_alone,
    shared_layers,
    shared_net,
    unpacked,
)
from vision.detector.tilt import estimate_tilt, fit_floor_plane  # noqa: E402
from vision.simulation.looks import TRAINED  # noqa: E402
from vision.training.average import averaged  # noqa: E402
from vision.training.checkpoints import save, unpack  # noqa: E402
from vision.training.dataset import frame_row  # noqa: E402
from vision.training.networks import ContextHead, TiltHead  # noqa: E402
from vision.training.reader_loss import tokens  # noqa: E402
from vision.training.shards import mapped, shards_for  # noqa: E402
from vision.training.tasks import TASKS, body_of  # noqa: E402
from vision.training.train import Batches  # noqa: E402
from vision.training.upright_loss import upright_inputs  # noqa: E402

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
    assert [path.name for path in shards_for(TASKS["finder"], data)] == ["scenes_1_0000.npz"]
    assert not shards_for(TASKS["reader"], data)


def test_columns_are_mapped_as_they_were_stored(data: Path) -> None:
    shard = data / "scenes_1_0000.npz"
    keys = TASKS["finder"].keys
    columns = mapped(shard, keys)
    with np.load(shard) as stored:
        for key in keys:
            np.testing.assert_array_equal(columns[key], stored[key], strict=True)
    with pytest.raises(KeyError):
        mapped(shard, ["patch_pixels"])


def test_unpacked_weights_give_the_outputs_of_the_committed_ones(data: Path) -> None:
    unpack("finder", data, data / "finder.pt")
    net = TASKS["finder"].net()
    net.load_state_dict(torch.load(data / "finder.pt"))
    net.eval()
    pixels = np.random.default_rng(2).random((1, 3, 256, 320), np.float32)
    with torch.no_grad():
        restored = net(torch.from_numpy(pixels)).numpy()
    with opencv_alone():
        committed = shared_net("finder")(pixels)
    np.testing.assert_allclose(restored, committed, atol=5e-3)


def test_a_mean_has_the_weights_between_and_norms_measured_anew(data: Path) -> None:
    torch.manual_seed(3)
    one, two = (TASKS["finder"].net().state_dict() for _ in range(2))
    mean = averaged("finder", [one, two], data).state_dict()
    torch.testing.assert_close(
        mean["two.0.weight"], (one["two.0.weight"] + two["two.0.weight"]) / 2
    )
    spread = mean["two.1.running_var"]
    assert torch.isfinite(spread).all()
    assert (spread - 1.0).abs().min() > 1e-3


def test_saved_weights_give_the_outputs_of_the_network(data: Path) -> None:
    net = TASKS["upright"].net().eval()
    save("upright", net, data / "saved")
    pixels = np.random.default_rng(2).random((2, 3, UPRIGHT, UPRIGHT), np.float32)
    with torch.no_grad():
        alive = body_of("upright", net)(torch.from_numpy(pixels)).numpy()
    np.testing.assert_allclose(OpenCvNet(data / "saved" / "upright.onnx")(pixels), alive, atol=5e-3)
    assert (data / "saved" / "tilt_head.npz").exists()


def test_both_forms_of_a_packed_network_share_their_weights(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    from vision.training import quantize

    pixels = np.random.default_rng(2).random((4, 3, UPRIGHT, UPRIGHT), np.float32)

    class Pictures(quantize.Pictures):
        def __init__(self, *_: object) -> None:
            self._rest = iter([pixels])

    monkeypatch.setattr(quantize, "Pictures", Pictures)
    folder = data / "packed" / "weights"
    save("upright", TASKS["upright"].net().eval(), folder)
    quantize.pack("upright", data, folder)
    monkeypatch.setattr(models.resources, "files", lambda _: folder.parent)
    with unpacked("upright", FLOAT) as plain, unpacked("upright", INT8) as small:
        one, other = OnnxRuntimeNet(plain)(pixels), OnnxRuntimeNet(small)(pixels)
        assert small.stat().st_size < 1.1 * plain.stat().st_size
    assert np.array_equal(one, OnnxRuntimeNet(folder / "upright.onnx")(pixels))
    off = np.sqrt(np.square(other - one).mean())
    assert 0.0 < off < 0.1 * one.std()


def test_a_batch_is_the_same_whichever_process_makes_it(data: Path) -> None:
    shard = mapped(data / "scenes_1_0000.npz", TASKS["finder"].keys)
    batches = Batches(TASKS["finder"], [shard], 2, (1, 0))
    assert len(batches) == 3
    inline = list(DataLoader(batches, batch_size=None))
    apart = list(DataLoader(batches, batch_size=None, num_workers=2))
    for one, other in zip(inline, apart, strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[key], other[key]) for key in one)


def _scene_of(count: int) -> dict[str, np.ndarray]:
    """What the networks say of the dice of one picture, at random."""
    rng = np.random.default_rng(3)
    logits = rng.normal(0, 1, (count, SCORES + 1 + FEATURES))
    logits[:, 0] = 9.0
    columns = {
        "logits": logits,
        "views": rng.normal(0, 1, (count, UPRIGHT_OUTPUTS)) - 1.0,
        "places": rng.uniform(-0.4, 0.4, (count, 2)),
        "shares": rng.uniform(0.03, 0.1, count),
        "slants": rng.normal(0, 0.2, (count, 2)),
        "shades": rng.normal(-1, 0.5, (count, 3)),
    }
    return {name: column.astype(np.float32) for name, column in columns.items()}


def _filled(head: torch.nn.Module, name: str) -> torch.nn.Module:
    head.load_state_dict({k: torch.from_numpy(v) for k, v in shared_layers(name).items()})
    return head


def test_both_heads_get_the_same_inputs_in_training_as_at_the_table() -> None:
    seen = _scene_of(6)
    logits, places, shares, slants = (seen[k] for k in ("logits", "places", "shares", "slants"))
    batch = {name: torch.from_numpy(column)[None] for name, column in seen.items()}
    place = torch.cat([batch["places"], batch["shares"].log()[..., None]], dim=-1)
    with torch.no_grad():
        surely = torch.sigmoid(batch["logits"][..., 0])
        token = tokens(batch["logits"], place, batch["slants"], batch["shades"], surely)
        corrections = _filled(ContextHead(), "context")(token, surely)[0].numpy()
        made = {
            "where": torch.tensor([[0, n] for n in range(6)]),
            "back": torch.eye(2).expand(6, 2, 2),
            "place": place,
            "up": batch["slants"],
            "labels": torch.ones(6, 7),
        }
        views = batch["views"][0]
        tilt = views[:, UPRIGHT_TILTED] + _filled(TiltHead(), "tilt_head")(
            upright_inputs(views, made)
        )
    fit = fit_floor_plane(logits, places, slants)
    at_table = correct_by_context(logits, fit, seen["shades"], places, shares)
    assert at_table == pytest.approx(corrections, abs=1e-4)
    odds = estimate_tilt(seen["views"], list(range(6)), logits, places, shares, slants)
    assert odds == pytest.approx(tilt.numpy(), abs=1e-4)
