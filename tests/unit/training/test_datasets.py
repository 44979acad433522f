import gzip
import hashlib
import http.server
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from lab.training import datasets, images, preprocessing
from lab.training.datasets import from_table, load, prepare
from lab.training.samples import DataError

ROOT = Path(__file__).resolve().parents[3]


def assert_sound(data):
    assert data.train_x.dtype == data.val_x.dtype == np.float32
    assert data.train_y.dtype == data.val_y.dtype == (np.int64 if data.classes else np.float32)
    assert len(data.train_x) == len(data.train_y)
    assert len(data.val_x) == len(data.val_y)
    assert np.isfinite(data.train_x).all()
    assert np.isfinite(data.val_x).all()
    for labels in (data.train_y, data.val_y) if data.classes else ():
        assert set(labels.tolist()) == set(range(len(data.classes)))


# Names


@pytest.mark.parametrize("name", datasets.BUILT_IN)
def test_every_named_dataset_is_sound_and_standardised(name):
    data = load(name)
    assert_sound(data)
    assert data.train_x.mean() == pytest.approx(0, abs=1e-5)
    assert data.train_x.std() == pytest.approx(1, abs=1e-5)
    assert len(data.val_x) == pytest.approx(0.2 * (len(data.train_x) + len(data.val_x)), abs=5)


@pytest.mark.parametrize("name", datasets.BUILT_IN)
def test_the_seed_fixes_everything(name):
    assert load(name, seed=3).fingerprint == load(name, seed=3).fingerprint
    assert load(name, seed=3).fingerprint != load(name, seed=4).fingerprint


AS_EVER = {
    "moons": 1952068764,
    "circles": 2238544163,
    "spirals": 3803447370,
    "xor": 3205165810,
    "blobs": 3807898341,
    "sine": 1695924305,
}  # fingerprints of the points of seed 0


@pytest.mark.parametrize("name", datasets.SYNTHETIC)
def test_noise_and_number_of_generated_points_can_be_chosen(name):
    usual = load(name)
    assert usual.fingerprint == AS_EVER[name]
    assert load(name, noise=datasets.SYNTHETIC[name][1], samples=1000).fingerprint == usual.fingerprint
    fewer = load(name, samples=50, noise=0)
    assert len(fewer.train_x) + len(fewer.val_x) == 50
    assert fewer.notes[0].startswith(
        f"{name}: 50 synthetic points {'in a plane' if usual.classes else 'around a curve'}, n"
    )
    assert_sound(load(name, samples=10, noise=10.0))
    assert load(name, noise=0.6).train_x.std(axis=0) == pytest.approx(1, abs=1e-5)
    assert name == "sine" or (load(name, noise=0.6).scale > usual.scale).all()


@pytest.mark.parametrize("name", ["digits", "csv:x.csv", "mnist"])
def test_noise_and_samples_of_data_that_are_not_generated_are_refused(name):
    for given in ({"noise": 0.1}, {"samples": 100}):
        with pytest.raises(DataError, match="is for generated data"):
            load(name, **given)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("mosns", "did you mean moons?"),
        ("DIGITS", "did you mean digits?"),
        ("iris.csv", "write csv:iris.csv"),
        ("zzz", "digits, mnist, moons, circles, spirals, xor, blobs, sine, csv:PATH"),
        ("", "choose one of"),
    ],
)
def test_an_unknown_name_is_answered_with_what_to_do(name, words):
    with pytest.raises(DataError) as error:
        load(name)
    assert words in str(error.value)


def test_options_that_do_not_fit_the_data_are_refused():
    with pytest.raises(DataError, match="--target is for a CSV file"):
        load("moons", target="x")
    with pytest.raises(DataError, match="--data-dir is the folder of the MNIST files"):
        load("moons", data_dir="somewhere")


# Synthetic points


def test_the_shapes_are_what_they_are_called():
    rng = np.random.default_rng(0)
    points, labels = datasets.circles(400, 0.0, rng)
    np.testing.assert_allclose(np.hypot(*points.T), np.where(labels == 0, 1.0, 0.5))
    points, labels = datasets.xor(400, 0.0, rng)
    np.testing.assert_array_equal(labels == 1, points[:, 0] * points[:, 1] < 0)
    points, labels = datasets.moons(400, 0.0, rng)
    np.testing.assert_allclose(np.hypot(*points[labels == 0].T), 1)
    np.testing.assert_allclose(np.hypot(*(points[labels == 1] - [1, 0.5]).T), 1)
    points, labels = datasets.spirals(400, 0.0, rng)
    turned = np.angle(points[:, 0] + 1j * points[:, 1]) - np.pi * labels  # the second arm is the first, turned round
    np.testing.assert_allclose(np.exp(1j * turned), np.exp(3j * np.pi * np.hypot(*points.T)), atol=1e-9)
    points, labels = datasets.blobs(3, 0.0, rng)
    np.testing.assert_allclose(points[1:].sum(axis=0) + points[0], 0, atol=1e-12)
    assert set(labels.tolist()) == {0, 1, 2}


# Digits


def test_digits_are_the_1797_of_the_repository():
    data = load("digits")
    assert len(data.train_x) + len(data.val_x) == 1797
    assert data.classes == tuple("0123456789")
    raw = data.train_x * data.scale + data.mean
    np.testing.assert_allclose(raw, raw.round(), atol=1e-5)
    assert raw.round().min() == 0
    assert raw.round().max() == 16
    assert any("training mean" in note for note in data.notes)


# Split


def test_the_split_is_stratified_disjoint_and_complete():
    labels = np.repeat([0, 1, 2], [100, 50, 4])
    train, val = preprocessing.split(labels, ("a", "b", "c"), 0.3, np.random.default_rng(0))
    assert sorted([*train, *val]) == list(range(154))
    assert np.bincount(labels[val]).tolist() == [30, 15, 1]


@pytest.mark.parametrize("fraction", [0.001, 0.5, 0.999])
def test_every_class_is_on_both_sides_whatever_the_fraction(fraction):
    labels = np.repeat([0, 1], [2, 3])
    train, val = preprocessing.split(labels, ("a", "b"), fraction, np.random.default_rng(0))
    assert set(labels[train]) == set(labels[val]) == {0, 1}


def test_a_class_with_one_sample_is_named():
    with pytest.raises(DataError, match="'rare' has only one sample"):
        preprocessing.split(np.array([0, 0, 1]), ("common", "rare"), 0.2, np.random.default_rng(0))


def test_one_class_alone_is_refused():
    with pytest.raises(DataError, match="only one class, 'a'"):
        preprocessing.split(np.array([0, 0]), ("a",), 0.2, np.random.default_rng(0))


# MNIST files


def idx(array):
    return bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape) + array.tobytes()


IMAGES = np.arange(20 * 4 * 3, dtype=np.uint8).reshape(20, 4, 3)
LABELS = (np.arange(20) % 2).astype(np.uint8)


@pytest.fixture
def folder(tmp_path):
    """A folder with a small valid pair of idx files, one plain and one gzipped."""
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(IMAGES))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(LABELS)))
    return tmp_path


def load_mnist(folder):
    return load("mnist", data_dir=str(folder))


def test_idx_files_are_read_plain_and_gzipped(folder):
    data = load_mnist(folder)
    assert_sound(data)
    assert data.image_shape == (4, 3)
    raw = np.concatenate([data.train_x, data.val_x]) * data.scale + data.mean
    first_pixels = sorted(raw[:, 0].round().astype(int).tolist())
    assert first_pixels == sorted(IMAGES[:, 0, 0].tolist())


def test_t10k_files_and_dotted_names_serve_when_there_are_no_others(folder):
    (folder / "train-images-idx3-ubyte").rename(folder / "t10k-images.idx3-ubyte")
    (folder / "train-labels-idx1-ubyte.gz").rename(folder / "t10k-labels-idx1-ubyte.gz")
    assert_sound(load_mnist(folder))


def spoil(name, content):
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda folder: (folder / "train-labels-idx1-ubyte.gz").unlink(), "no file train-labels-idx1-ubyte"),
        (lambda folder: (folder / "train-images-idx3-ubyte").unlink(), "no file train-images-idx3-ubyte"),
        (spoil("train-images-idx3-ubyte", idx(IMAGES)[:-1]), "truncated"),
        (spoil("train-images-idx3-ubyte", idx(IMAGES)[:6]), "truncated"),
        (spoil("train-images-idx3-ubyte", b""), "begins with nothing instead of 00 00 08 03"),
        (spoil("train-images-idx3-ubyte", idx(IMAGES) + b"x"), "goes on after its last value"),
        (spoil("train-images-idx3-ubyte", idx(LABELS)), "begins with 00 00 08 01 instead of 00 00 08 03"),
        (spoil("train-images-idx3-ubyte", idx(IMAGES[:0])), "holds no images"),
        (spoil("train-images-idx3-ubyte", bytes([0, 0, 8, 3]) + b"\xff" * 12), "truncated"),
        (spoil("train-labels-idx1-ubyte.gz", gzip.compress(idx(LABELS))[:-9]), "cannot be read"),
        (spoil("train-labels-idx1-ubyte.gz", idx(LABELS)), "cannot be read"),
        (spoil("train-labels-idx1-ubyte.gz", gzip.compress(idx(LABELS[:19]))), "20 images but .* holds 19 labels"),
    ],
)
def test_a_bad_idx_file_is_named(folder, break_it, words):
    break_it(folder)
    with pytest.raises(DataError, match=words) as error:
        load_mnist(folder)
    assert "ubyte" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DataError, match="no folder"):
        load_mnist(tmp_path / "nowhere")


# Download: the real code against a real server on this machine


@pytest.fixture
def mirror(folder):
    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=folder)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


NAME = "train-images-idx3-ubyte"


def test_a_download_is_verified_and_kept(mirror, folder, tmp_path):
    cache = tmp_path / "cache"
    checksum = hashlib.sha256((folder / NAME).read_bytes()).hexdigest()
    images.fetch(cache, mirror, {NAME: checksum})
    assert (cache / NAME).read_bytes() == (folder / NAME).read_bytes()
    (folder / NAME).unlink()
    images.fetch(cache, mirror, {NAME: checksum})  # from the cache: the server no longer has it


def test_a_wrong_checksum_is_refused_and_leaves_nothing(mirror, tmp_path):
    cache = tmp_path / "cache"
    with pytest.raises(DataError, match="wrong checksum"):
        images.fetch(cache, mirror, {NAME: "0" * 64})
    assert not list(cache.iterdir())


@pytest.mark.parametrize("address", ["missing/", None])
def test_a_failing_download_is_one_sentence(mirror, tmp_path, address):
    closed = "http://127.0.0.1:9/"
    with pytest.raises(DataError, match=r"could not be downloaded .* --data-dir"):
        images.fetch(tmp_path / "cache", closed if address is None else mirror + address, {NAME: "0" * 64})


# CSV


@pytest.fixture
def table(tmp_path):
    """Write a CSV file; return the name by which `load` knows it."""

    def write(text, encoding="utf-8"):
        path = tmp_path / "table.csv"
        path.write_bytes(text.encode(encoding))
        return f"csv:{path}"

    return write


NAMES = "name,length,kind\nAda,1,rose\nBo,2,lily\nCy,3,rose\nDi,4,lily\n"
FLOWERS = "length,width,kind\n1,10,rose\n2,20,lily\n3,30,rose\n4,40,lily\n"


def test_a_csv_has_its_labels_in_the_last_column(table):
    data = load(table(FLOWERS), val_fraction=0.5)
    assert_sound(data)
    assert data.classes == ("lily", "rose")
    raw = np.concatenate([data.train_x, data.val_x]) * data.scale + data.mean
    np.testing.assert_allclose(sorted(raw.tolist()), [[1, 10], [2, 20], [3, 30], [4, 40]], rtol=1e-6)
    assert any("'kind'" in note for note in data.notes)


@pytest.mark.parametrize("text", ["length,kind\n1,a\n3,b\n", FLOWERS, "x,y\n1,0.5\n2,1.25\n4,7.5\n"])
def test_of_a_handful_of_rows_nothing_need_be_held_out(table, text):
    data = load(table(text), val_fraction=0)
    assert len(data.train_x) == text.count("\n") - 1
    np.testing.assert_array_equal(data.val_x, data.train_x)
    np.testing.assert_array_equal(data.val_y, data.train_y)
    assert np.allclose(data.train_x.mean(axis=0), 0, atol=1e-6)
    assert "none held out" in data.notes[0]


@pytest.mark.parametrize("target", ["kind", "1"])
def test_the_target_is_a_name_or_a_number(table, target):
    data = load(table("kind,length\na,1\nb,2\na,3\nb,4\n"), target=target, val_fraction=0.5)
    assert data.classes == ("a", "b")


@pytest.mark.parametrize(
    "text",
    [
        FLOWERS.replace("\n", "\r\n"),
        "\ufeff" + FLOWERS,
        FLOWERS.replace(",", ";"),
        FLOWERS.replace(",", "\t"),
        FLOWERS.split("\n", 1)[1],
        FLOWERS.replace("\n", "\n\n"),
        FLOWERS.replace("rose", '"rose"').replace(",10,", ", 10 ,"),
    ],
    ids=["windows", "byte-order mark", "semicolons", "tabs", "no header", "blank lines", "quotes and spaces"],
)
def test_csv_dialects_give_the_same_data(table, text):
    expected = load(table(FLOWERS), val_fraction=0.5)
    assert load(table(text), val_fraction=0.5).fingerprint == expected.fingerprint


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (FLOWERS.replace(",", ";").replace("30", "30,5"), FLOWERS.replace("30", "30.5")),
        (FLOWERS.replace(",", "\t").replace("30", "-,5e1"), FLOWERS.replace("30", "-.5e1")),
        (FLOWERS.replace(",", ";").replace("30", "1.234.567,5"), FLOWERS.replace("30", "1234567.5")),
        ("1,5;10;rose\n" + FLOWERS.split("\n", 1)[1].replace(",", ";"), "1.5,10,rose\n" + FLOWERS.split("\n", 1)[1]),
        ("1,5;rose\n2,5;lily\n" * 3, "1.5,rose\n2.5,lily\n" * 3),
    ],
    ids=["comma", "tab", "thousands", "first row", "no header"],
)
def test_decimal_commas_are_points_where_no_comma_separates(table, text, alike):
    data, expected = load(table(text), val_fraction=0.5), load(table(alike), val_fraction=0.5)
    assert data.fingerprint == expected.fingerprint
    assert any(note.startswith("decimal commas: ") for note in data.notes)
    assert not any(note.startswith("decimal commas: ") for note in expected.notes)


def test_a_measured_target_makes_a_regression(table):
    measured = "x,y\n" + "".join(f"{n},{n / 7}\n" for n in range(50))
    data = load(table(measured))
    assert_sound(data)
    assert (data.classes, data.outputs) == ((), 1)
    assert data.train_y.mean() == pytest.approx(0, abs=1e-6)
    assert data.train_y.std() == pytest.approx(1, abs=1e-6)
    raw = data.in_units(np.concatenate([data.train_y, data.val_y]))
    np.testing.assert_allclose(sorted(raw), np.arange(50) / 7, atol=1e-5)
    assert "1 input, one target" in data.notes[0]
    counts = "".join(f"{n},{n % 3}\n" for n in range(50))  # as good as classes, unless somebody says what for
    assert load(table(counts)).classes == ("0", "1", "2")
    assert load(table(counts), task="regression").target is not None
    whole = "".join(f"{n},{3 * n}\n" for n in range(40))  # each number once: these are no classes
    assert load(table(whole)).target is not None
    with pytest.raises(DataError, match="40 different values in 40 rows, such as '0', too many for classes"):
        load(table(whole), task="classification")


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_a_handful_of_rows_is_enough_for_a_regression(table, rows):
    data = load(table("".join(f"{n},{n + 0.5}\n" for n in range(rows))), task="regression")
    assert_sound(data)
    assert (len(data.train_x), len(data.val_x)) == (rows - 1, 1)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x,y\n1,2.5\n2,high\n3,1.5\n", "the target 'y' holds texts, such as '1.5', but a regression needs numbers"),
        ("x,y\n1,2.5\n", "has no column left that can be an input. Left out, because the same in every row: 'x'"),
        ("x,y\n1,\n2,\n", "the target 'y' is empty: choose another target column"),
        ("x,y\n1,5\n2,5\n4,5.0\n", "the target is 5 in every training row, so there is nothing to learn"),
    ],
)
def test_a_bad_table_for_a_regression_is_one_sentence(table, name, words):
    with pytest.raises(DataError, match=words):
        load(table(name), task="regression")


def test_targets_beyond_float32_come_back_in_their_unit(table):
    data = load(table("x,y\n" + "".join(f"{n},{n}.5e90\n" for n in range(40))))
    raw = data.in_units(np.concatenate([data.train_y, data.val_y]))
    np.testing.assert_allclose(sorted(raw), (np.arange(40) + 0.5) * 1e90, rtol=1e-5)


def test_an_empty_cell_has_the_mean_of_its_column(table):
    text = "a,b,kind\n" + "".join(f"{n},{'' if n in (3, 8) else n * n},{n % 2}\n" for n in range(1, 21))
    data = load(table(text), val_fraction=0.3, keep=["a"])
    assert_sound(data)
    filled = [*data.train_x[:, 1], *data.val_x[:, 1]]
    raw = np.concatenate([data.train_x, data.val_x]) * data.scale + data.mean
    gaps = [value for (a, _), value in zip(raw, filled, strict=True) if round(a) in (3, 8)]
    assert gaps == pytest.approx([0, 0], abs=1e-6)
    assert "missing cells: 2 in 'b', each replaced by the mean of its column's training samples" in data.notes


def test_a_column_of_few_texts_has_an_input_for_each(table):
    text = "colour,size,colour,kind\n" + "red,1,5,a\nblue,2,6,b\n,3,7,a\nred,4,8,b\nblue,5,9,a\nblue,6,9,b\n"
    data = load(table(text), val_fraction=0.4)
    raw = np.concatenate([data.train_x, data.val_x]) * data.scale + data.mean
    by_size = {round(size): (blue, red) for blue, red, size, _ in raw.tolist()}
    assert by_size[1] == pytest.approx((0, 1), abs=1e-6)
    assert by_size[6] == pytest.approx((1, 0), abs=1e-6)
    assert 0 < by_size[3][0] < 1
    assert any("'colour', one input for each different text" in note for note in data.notes)
    assert any("missing cells: 1 in 'colour'," in note for note in data.notes)


def test_numeric_labels_are_sorted_as_numbers(table):
    rows = "".join(f"{number},{label}\n" for number in range(3) for label in (10, 9, 2))
    assert load(table(rows)).classes == ("2", "9", "10")


def test_classes_have_one_order_whatever_they_are_called(table):
    """One of them is called nan, which is neither smaller nor larger than any number."""
    name = table("".join(f"{number},{label}\n" for number in range(3) for label in ("nan", 0, 1, 2, 10, "b")))
    program = f"from lab.training.datasets import load; data = load({name!r}); print(*data.classes, data.fingerprint)"
    said = {
        subprocess.run(
            [sys.executable, "-c", program], cwd=ROOT, env=os.environ | {"PYTHONHASHSEED": seed}, stdout=subprocess.PIPE
        ).stdout
        for seed in "456"
    }
    assert len(said) == 1
    assert said.pop().split()[:-1] == [b"0", b"1", b"2", b"10", b"b", b"nan"]


def test_large_offsets_survive_rounding_to_float32(table):
    rows = "".join(f"{1_700_000_000 + number},{number % 2}\n" for number in range(100))
    assert len(np.unique(load(table(rows)).train_x)) == 80


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("length,kind\n", "header but no rows"),
        ("1\n2\n", "only one column"),
        (FLOWERS.replace(",30,", ",,").replace(",40,", ",,"), "no training sample has a number in 'width'"),
        (FLOWERS.replace("lily", "rose"), "only one class, 'rose'"),
        (FLOWERS.replace("30", '"30'), "cannot be split into cells: look for an unclosed quotation mark"),
        (
            "name,note,kind\n" + "".join(f"Ada{n},so {n},k{n % 2}\n" for n in range(30)),
            "no column left .* Left out, because of too many different texts: 'name' .30 in 30 rows., 'note' .30 in 30",
        ),
        (
            "a,b,name\n" + "".join(f"{n % 7},{n % 2},Ada{n}\n" for n in range(30)),
            "the target 'name' has 30 different values in 30 rows, such as 'Ada0', too many for classes: choose another "
            "target column, such as 'a', 'b'.",
        ),
        (FLOWERS.replace(",kind", "," + "k" * 9).replace("rose", "").replace("lily", ""), "'kkkkkkkkk' is empty"),
    ],
)
def test_a_bad_csv_is_one_sentence_that_names_the_place(table, text, words):
    with pytest.raises(DataError, match=words) as error:
        load(table(text))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", [FLOWERS, "\ufeff" + FLOWERS.replace("\n", "\r\n"), FLOWERS.replace(",", ";")])
def test_an_uploaded_text_gives_the_same_data_as_the_file(table, text):
    for target in (None, "length"):
        given = {"target": target, "val_fraction": 0.5, "seed": 3}
        content = text if target is None else text.replace("3", "1").replace("4", "2")
        uploaded, read = from_table(content, "flowers.csv", **given), load(table(content), **given)
        assert uploaded.fingerprint == read.fingerprint
        assert (uploaded.classes, uploaded.name) == (read.classes, "flowers.csv")


@pytest.mark.parametrize(
    ("text", "words"), [("", "'up.csv' is empty"), ("a,b\n", "no rows"), ("1,a\n1,b\n", "'up.csv' has no column left")]
)
def test_a_bad_text_is_one_sentence(text, words):
    with pytest.raises(DataError, match=words):
        from_table(text, "up.csv")


def test_points_of_ones_own_are_split_and_standardised():
    points = np.random.default_rng(0).normal(5, 3, (40, 2))
    data = prepare("drawn", points, np.arange(40) % 2, ["left", "right"], "40 points drawn by hand", 0.25, seed=1)
    assert_sound(data)
    assert (len(data.train_x), len(data.val_x)) == (30, 10)
    assert "40 points drawn by hand" in data.notes[0]
    raw = np.concatenate([data.train_x, data.val_x]) * data.scale + data.mean
    np.testing.assert_allclose(np.sort(raw, axis=0), np.sort(points, axis=0), rtol=1e-5)


@pytest.mark.parametrize("size", [1e-200, 1e-160])
def test_numbers_that_differ_by_next_to_nothing_are_refused(table, size):
    with pytest.raises(DataError, match="the numbers of 'tiny' differ by too little, or"):
        load(table("large,tiny,kind\n" + "".join(f"{n},{n * size},{n % 2}\n" for n in range(40))))
    with pytest.raises(DataError, match="the numbers of 'column 2' differ by too little"):
        prepare("drawn", np.array([[n, n * size] for n in range(40)]), np.arange(40) % 2, ("a", "b"), "points")


def test_small_numbers_are_numbers(table):
    rows = "".join(f"{n}e-100,{n % 2}\n" for n in range(40))
    assert_sound(load(table(rows)))


@pytest.mark.parametrize("far", ["1e100", "-1e30"])
def test_a_validation_sample_out_of_this_world_is_refused(table, far):
    """The deviation is that of the training samples: nothing bounds how far from them another one may lie."""
    rows = [f"{n},{n % 2}" for n in range(40)]
    data = load(table("\n".join(rows)))
    at = round(float(data.val_x[0, 0] * data.scale[0] + data.mean[0]))  # the split depends on the labels alone
    rows[at] = f"{far},{at % 2}"
    with pytest.raises(DataError, match=r"the numbers of .column 1. .* one lies too far from the others"):
        load(table("\n".join(rows)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", "/dev/null"):
        with pytest.raises(DataError, match=r"cannot be read \(It is a pipe or a device\)"):
            load(f"csv:{path}")


def test_a_relative_path_is_refused_with_the_folder_that_it_starts_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a run that is resumed from another folder than it was begun in
    with pytest.raises(DataError, match=rf"^'none.csv' cannot be read from '{tmp_path}' \(No such file"):
        load("csv:none.csv")


def test_a_missing_csv_and_a_folder_are_refused(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        load(f"csv:{tmp_path / 'none.csv'}")
    with pytest.raises(DataError, match="cannot be read"):
        load(f"csv:{tmp_path}")
    with pytest.raises(DataError, match="needs the path"):
        load("csv:")


def test_a_missing_target_is_answered_with_the_nearest(table):
    with pytest.raises(DataError, match="did you mean 'width'"):
        load(table(FLOWERS), target="widht")
    with pytest.raises(DataError, match="choose one of length, width, kind"):
        load(table(FLOWERS), target="9")
