"""What a stack was doing beside training, by the libraries that the script called and by the text of its line."""

from __future__ import annotations

import pytest

from trainrx.profiler.recording import Frame
from trainrx.profiler.timeline.activities import activity_of
from trainrx.profiler.vocabulary import Activity


@pytest.mark.parametrize(
    ("called", "text", "activity"),
    [
        (["/lib/python3.11/logging/__init__.py:emit"], "log.info(x)", Activity.LOGGING),
        (["/site-packages/torch/utils/tensorboard/writer.py:add_scalar"], "report(x)", Activity.LOGGING),
        (["/site-packages/tqdm/std.py:refresh"], "for x in bar:", Activity.LOGGING),
        ([], 'print(f"{step}")', Activity.PRINTING),
        ([], "sys.stderr.write(text)", Activity.PRINTING),
        ([], "writer.writerow(values)", Activity.LOGGING),
        (["/site-packages/PIL/PngImagePlugin.py:_save", "/site-packages/PIL/Image.py:Image.save"], "", Activity.PLOTTING),
        (["/site-packages/matplotlib/figure.py:draw"], "show(step)", Activity.PLOTTING),
        ([], "pickle.dump(state, file)", Activity.SAVING),
        ([], "np.savez(path, weights)", Activity.SAVING),
        (["/site-packages/safetensors/torch.py:save_file"], "trainer.train()", Activity.SAVING),
        (["/site-packages/transformers/trainer.py:Trainer._save_checkpoint"], "trainer.train()", Activity.SAVING),
        # decoding an image is loading, not drawing
        (["/site-packages/PIL/Image.py:Image.resize"], "crop = image.resize(size)", None),
        (["/site-packages/sklearn/metrics/_ranking.py:roc_auc_score"], "area = roc_auc_score(a, b)", Activity.MEASURING),
        (["/site-packages/sklearn/utils/fixes.py:fix"], "rows = scaler.transform(a)", None),
        ([], "loss = fingerprint(x)", None),
        ([], "catalog = blog(x)", None),
        ([], "y = torch.log(x)", None),
        ([], "", None),
    ],
)  # fmt: skip
def test_activities(called: list[str], text: str, activity: Activity | None) -> None:
    frames = [Frame(file, 1, function) for file, _, function in (entry.rpartition(":") for entry in called)]
    script = Frame("/home/me/train.py", 12, "main", text)
    assert activity_of((*frames, script, Frame("/home/me/train.py", 40, "<module>")), script) is activity


def test_a_stack_without_text_is_named_by_its_libraries_alone() -> None:
    script = Frame("train.py", 3, "main")
    assert activity_of((script,), script) is None
    assert activity_of((), script) is None


@pytest.mark.parametrize(
    ("caller", "text", "loads"),
    [
        ("get_batch", "", True),
        ("Corpus.next_train_batch", "", True),
        ("iterate_minibatches", "", True),
        ("batch_generator", "", True),
        ("load_image", "", True),
        ("ReplayBuffer.sample_batch", "", True),
        ("pad_collate", "", True),
        ("Photos.__getitem__", "", True),
        ("train_batch", "", False),
        ("process_batch", "", False),
        ("log_batch_loss", "", False),
        ("load_model", "", False),
        ("sample", "", False),
        ("main", "photo = Image.open(path)", True),
        ("main", "x = torch.stack([torch.from_numpy(data[i : i + n]) for i in starts])", True),
        ("main", "loss = torch.stack(losses)", False),
        ("get_batch", "print(len(rows))", False),
    ],
)
def test_making_batches_is_told_by_the_functions_that_it_runs_in(caller: str, text: str, loads: bool) -> None:
    script = Frame("/home/me/train.py", 12, "number_of", text)
    outer = (Frame("/home/me/train.py", 20, caller), Frame("/home/me/train.py", 40, "<module>"))
    assert (activity_of((script, *outer), script) is Activity.LOADING) is loads
