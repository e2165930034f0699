"""Scenarios in pages of Chromium: they count as they do in Node.js, and what breaks one breaks no other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import CPU, WEBGL, WEBGPU, Page, needs_chromium

from tensorledger.environment.tree import tree
from tensorledger.targets.catalogue import resolve
from tensorledger.targets.target import Target
from tensorledger.workers.pool import Workers

pytestmark = needs_chromium

(IN_NODE,) = resolve(["tfjs/cpu"])

GOOD = "export default ({tf}) => { tf.ones([2]).dispose(); };\n"


@pytest.fixture
def page(workers: Workers, tmp_path: Path) -> Page:
    return Page(workers, tmp_path)


@pytest.fixture
def fine(page: Page) -> Iterator[None]:
    """Say that the next scenario passes, whatever the test has done."""
    yield
    after = page(GOOD, name="after.mjs")
    assert after.result.verdict == "pass", after.result.reason


# --- what a good one shows


def test_a_scenario_counts_in_a_page_as_in_node(page: Page) -> None:
    in_node, in_page = (page("compile-dispose", target=target).result for target in (IN_NODE, CPU))
    assert (in_node.verdict, in_page.verdict) == ("pass", "pass"), in_page.reason
    exact = ("name", "tensors", "bytes", "buffers", "buffer_bytes")
    shown = [
        [[getattr(checkpoint, quantity) for quantity in exact] for checkpoint in result.checkpoints]
        for result in (in_node, in_page)
    ]
    assert shown[0] == shown[1]
    assert max(checkpoint.tensors or 0 for checkpoint in in_page.checkpoints) >= 4


def test_what_a_page_leaves_is_named_by_the_users_file_line_and_column(page: Page, tmp_path: Path) -> None:
    ran = page("""\
        export default async function* ({tf}) {
          yield 'start';
          const made = tf.ones([4, 4]);
          made.square();
          made.dispose();
        }
        """)
    assert ran.result.verdict == "fail"
    assert "end tensors: expected 0, measured 1" in ran.result.reason
    (leak,) = ran.result.leaks
    assert (leak.count, leak.shape, leak.bytes, leak.reachable) == (1, [4, 4], 64, False)
    first = leak.stack[0]
    assert (first.function, first.file, first.line, first.column) == ("default", str(tmp_path / "scenario.mjs"), 4, 8)
    assert first.of == "user"


def test_the_heap_of_a_page_and_its_array_buffers_are_read(page: Page) -> None:
    ran = page("""
        let kept = null;
        export default async function* () {
          yield 'before';
          kept = new Float64Array(2 ** 20);
          yield 'made';
          kept = null;
        }
        """)
    assert ran.outcome is not None
    before, made, end = ran.outcome.cycles[-1].checkpoints
    external = [checkpoint.reading.heap["external"] or 0.0 for checkpoint in (before, made, end)]
    assert external[1] - external[0] == pytest.approx(8 * 2**20, rel=0.05)
    assert external[2] - external[0] == pytest.approx(0, abs=2**20)
    assert (made.reading.heap["used"] or 0) > 2**20


def test_array_buffers_that_a_page_keeps_are_caught_as_native_growth(page: Page) -> None:
    ran = page(
        """
        const kept = [];
        export default () => { kept.push(new Float64Array(2 ** 17)); };
        """,
        cycles=3,
    )
    assert ran.result.verdict == "fail"
    assert "native" in ran.result.reason
    assert ran.result.growth is not None and (ran.result.growth.native or 0) == pytest.approx(2**20, rel=0.05)


def test_reading_a_page_leaves_nothing_in_it(page: Page) -> None:
    ran = page("export default async function* () {\n  yield 'nothing';\n}", cycles=40)
    assert ran.result.verdict == "pass", ran.result.reason
    assert not ran.result.confidence


def test_one_texture_a_cycle_is_caught_though_no_tensor_shows_it(page: Page) -> None:
    source = "export default ({tf}) => { tf.backend().acquireTexture([4, 4], 1, 'float32', false); };"
    ran = page(source, target=WEBGL, cycles=4)
    assert ran.result.verdict == "fail"
    assert "backend grows by 64 ± 0 bytes per cycle" in ran.result.reason


def test_what_a_scenario_prints_is_its_log(page: Page) -> None:
    ran = page("""
        export default () => {
          console.log('said', 12, {a: 'b'});
          console.error('\\u2028 complained \\ud83d\\ude00');
          console.log(JSON.stringify({line: '{"jsonrpc":"2.0","id":2,"result":{}}'}));
        };
        """)
    assert ran.result.verdict == "pass"
    assert "said 12" in ran.result.log and "complained 😀" in ran.result.log


def test_nothing_of_one_scenario_is_seen_by_the_next(page: Page) -> None:
    page("""
        export default async () => {
          globalThis.left = 'behind';
          localStorage.setItem('left', 'behind');
          document.cookie = 'left=behind';
          await new Promise((resolve, reject) => {
            const asked = indexedDB.open('left');
            asked.onsuccess = resolve;
            asked.onerror = reject;
          });
        };
        """)
    ran = page("""
        export default async ({tell}) => {
          const bases = (await indexedDB.databases()).map(({name}) => name);
          tell('seen', [globalThis.left ?? null, localStorage.getItem('left'), document.cookie, bases]);
        };
        """)
    assert ran.outcome is not None and ran.outcome.told == {"seen": [None, None, "", []]}


@pytest.mark.parametrize("folder", ["a b", "50%20 off", "what? #1 & more", "ünïcödé 日本"])
def test_a_scenario_may_lie_in_a_folder_of_any_name(workers: Workers, tmp_path: Path, folder: str) -> None:
    odd = tmp_path / folder
    odd.mkdir()
    (odd / "beside it#.mjs").write_text("export const two = 2;\n", encoding="utf-8")
    ran = Page(workers, odd)(
        """\
        import {two} from './beside%20it%23.mjs';
        export default ({tf}) => { tf.ones([two]); };
        """,
        name="my scenario.mjs",
    )
    assert ran.result.verdict == "fail", ran.result.reason
    assert ran.result.leaks[0].stack[0].file == str(odd / "my scenario.mjs")


def test_a_checkpoint_may_have_any_name(page: Page) -> None:
    names = ["\u2028 line", "a\nb", '"quoted" \\', "😀", "</script>", "x" * 100_000]
    ran = page(
        f"""
        export default function* () {{
          for (const name of {names!r}) yield name;
        }}
        """.replace("'\\U0001f600'", "'😀'")
    )
    assert ran.result.verdict == "pass", ran.result.reason
    assert [checkpoint.name for checkpoint in ran.result.checkpoints][:-1] == names


def test_readings_of_other_ledgers_add_up_until_the_end_of_the_cycle(page: Page) -> None:
    ran = page("""
        const other = (count, bytes) => async () => ({count, bytes, live: []});
        export default async function* ({also}) {
          yield 'alone';
          also(other(2, 16));
          const forget = also(other(3, 24));
          yield 'three';
          forget();
          forget();
          yield 'two';
          also(other(1, null));
          yield 'unknown';
        }
        """)
    shown = {at.name: (at.tensors, at.bytes, at.buffers) for at in ran.result.checkpoints}
    assert shown["alone"] == (0, 0, 0)
    assert shown["three"] == (5, 40, None)
    assert shown["two"] == (2, 16, None)
    assert shown["unknown"] == (3, None, None)
    growth = ran.result.growth
    assert growth is not None and growth.tensors == 0, (
        "what was added in one cycle is not there in the next one's baseline"
    )


# --- the GPU


def test_bytes_on_the_gpu_are_seen_and_come_back(page: Page) -> None:
    ran = page(
        """
        export default async function* ({tf}) {
          const made = tf.ones([256, 256]).square();
          yield 'made';
          tf.dispose(made);
          yield 'gone';
        }
        """,
        target=WEBGL,
    )
    assert ran.outcome is not None
    cycle = ran.outcome.cycles[-1]
    start, made, gone = (
        at.backend["gpu"] or 0.0 for at in (cycle.baseline, *(found.reading for found in cycle.checkpoints[:2]))
    )
    assert made - start >= 4 * 256 * 256, "of the square; and of what it was made of, which is left behind"
    assert made - gone == 4 * 256 * 256


@pytest.mark.parametrize(
    ("target", "gpu", "allocated", "verdict", "said"),
    [
        (WEBGL, 64, 64, "pass", ""),
        (WEBGL, 63, 64, "fail", "made gpu: expected 63, measured 64"),
        (WEBGL, 64, 65, "fail", "made gpu_allocated: expected 65, measured 64"),
        (CPU, 64, 64, "skip", "gpu"),
    ],
)
def test_bytes_on_the_gpu_are_held_to_what_is_expected(
    page: Page, tmp_path: Path, target: Target, gpu: int, allocated: int, verdict: str, said: str
) -> None:
    (tmp_path / "scenario.toml").write_text(
        f"[checkpoints]\nmade = {{ gpu = {gpu}, gpu_allocated = {allocated} }}\nend = {{ gpu = 0 }}\n",
        encoding="utf-8",
    )
    ran = page(
        """
        export default async function* ({tf}) {
          tf.env().set('WEBGL_DELETE_TEXTURE_THRESHOLD', 0);
          const given = tf.ones([4, 4]);
          const made = given.square();
          await made.data();
          given.dispose();
          yield 'made';
          made.dispose();
        }
        """,
        target=target,
    )
    assert ran.result.verdict == verdict, ran.result.reason
    assert said in ran.result.reason


def test_textures_are_counted_as_newer_releases_tell_them(page: Page, tmp_path: Path) -> None:
    """Where none is kept, for those that values were uploaded into are told with four times their bytes."""
    counter = os.path.relpath(tree() / "js" / "worker" / "textures.mjs", tmp_path)
    ran = page(
        f"""
        import {{countTextures}} from '{counter}';
        const counted = countTextures();
        const told = tf => tf.memory().numBytesInGPUAllocated;
        let before;
        export default async function* ({{tf, models, data}}) {{
          tf.env().set('WEBGL_DELETE_TEXTURE_THRESHOLD', 0);
          before ??= told(tf);
          const held = async (moment, ...gone) => {{
            tf.dispose(gone);
            const [mine, its] = [counted(), told(tf) - before];
            if (mine !== its) throw new Error(`${{moment}}: ${{mine}} counted, ${{its}} told`);
            return mine;
          }};
          const model = models.classifier();
          const prediction = model.predict(data.x);
          await prediction.data();
          if (await held('predicted') === 0) throw new Error('nothing was counted');
          const half = tf.tidy(() => tf.randomUniform([33, 7, 5]).sum(1).cast('bool').logicalNot());
          await half.data();
          await held('used');
          await held('gone', prediction, half);
          model.dispose();
          await held('disposed');
        }}
        """,
        target=WEBGL,
    )
    assert ran.result.verdict == "pass", ran.result.reason


def test_a_webgl_context_that_is_lost_is_told(page: Page, fine: None) -> None:
    ran = page(
        """
        export default async function* ({tf}) {
          yield 'start';
          tf.backend().gpgpu.gl.getExtension('WEBGL_lose_context').loseContext();
          await new Promise(() => {});
        }
        """,
        target=WEBGL,
    )
    assert ran.result.verdict == "error"
    assert "the WebGL context was lost after checkpoint 'start'" in ran.result.reason


def test_a_webgpu_device_that_is_lost_is_told(page: Page) -> None:
    ran = page(
        """
        export default async function* ({tf}) {
          yield 'start';
          tf.backend().device.destroy();
          await new Promise(() => {});
        }
        """,
        target=WEBGPU,
    )
    assert ran.result.verdict == "error"
    assert "the WebGPU device was lost" in ran.result.reason
