"""The page in a browser: conversations, investigations, threads, two users, keyboards, phones, and hostile texts."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from snellen.memory.home import using_home
from snellen.threads import thread as threads
from tests.page.conftest import Served

Open = Callable[..., Page]

SCENE = Path(__file__).parents[2] / "examples" / "scene.png"
BEACH = SCENE.with_name("beach.png")
QUESTION = "Can llava-upright tell left from right?"


OPACITY = """one => {
    let opacity = 1;
    for (let at = one; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
    return opacity;
}"""
"""How opaque an element is drawn, with all that it is in."""


def say(page: Page, text: str, *files: Path) -> None:
    if files:
        page.locator("#chat-box input[type=file]").first.set_input_files(files)
        expect(page.locator("#chat-box .thumbnail-item")).to_have_count(len(files))
    page.locator("#chat-box textarea").fill(text)
    page.keyboard.press("Enter")


def answered(page: Page, count: int = 1) -> None:
    """Wait for replies, and for the work on them to be over."""
    expect(page.locator("#chat-log .bot.message")).to_have_count(count)
    expect(page.locator("#chat-stop")).to_have_count(0)


def thread_of(page: Page) -> str:
    page.wait_for_url(re.compile("thread="))
    return page.url.partition("thread=")[2]


def design_of(thread: str, home: Path) -> dict[str, Any]:
    """Return the design that an investigation asks about."""
    with using_home(home):
        context = copy_context()
    # Playwright has an event loop of its own in this thread.
    with ThreadPoolExecutor(1) as elsewhere:
        request = elsewhere.submit(context.run, asyncio.run, threads.waiting(thread)).result()
    assert request is not None
    design: dict[str, Any] = request["action_requests"][0]["args"]
    return design


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def test_an_example_is_answered_beside_its_steps_and_found_again_after_a_reload(opened: Open) -> None:
    page = opened()
    page.get_by_role("button", name="What color is the house left of the dog?").click()
    answered(page)

    for _ in range(2):
        expect(page.locator("#chat-log .bot.message")).to_contain_text("purple")
        story = page.locator("#chat-trace")
        expect(story.locator("li code", has_text="LOC(").first).to_be_visible()
        expect(story.locator("rect title", has_text="dog 0.").first).to_be_attached()
        shown = page.locator("#chat-log .user.message img")
        assert shown.evaluate("one => one.complete && one.naturalWidth") == 128
        assert shown.evaluate(OPACITY) == 1, "a picture is shown as it is"
        page.reload()

    answered(page)
    say(page, "why?")
    answered(page, 2)
    expect(page.locator("#chat-log .bot.message").last).to_contain_text("What each step gave")


def test_the_newest_message_is_in_sight(opened: Open) -> None:
    page = opened()
    say(page, "How many dogs are there?", SCENE)
    answered(page)
    for count in (2, 3):
        say(page, "why?")
        answered(page, count)
        expect(page.locator("#chat-log .bot.message").last.locator("p, li").last).to_be_in_viewport()
    expect(page.locator("#chat-log .user.message").first).not_to_be_in_viewport()


def test_several_pictures_are_dropped_and_pasted(opened: Open) -> None:
    page = opened()
    page.locator("#chat-box input[type=file]").first.set_input_files([SCENE, BEACH])
    expect(page.locator("#chat-box .thumbnail-item")).to_have_count(2)
    page.locator("#chat-box textarea").evaluate(
        """(box, bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "<b>pasted.png", {type: "image/png"}));
            box.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
        }""",
        list(BEACH.read_bytes()),
    )
    expect(page.locator("#chat-box .thumbnail-item")).to_have_count(3)
    page.locator("#chat-box textarea").fill("forget it")
    page.keyboard.press("Enter")
    answered(page)

    expect(page.locator("#chat-log .user.message img")).to_have_count(3)


def test_what_is_no_picture_is_refused_in_a_sentence_and_kept_to_be_mended(opened: Open, tmp_path: Path) -> None:
    fake = tmp_path / "fake.png"
    fake.write_text("<script>window.hacked = 1</script>")
    page = opened()
    say(page, "what is this?", fake)

    expect(page.get_by_test_id("toast-body").filter(has_text="not a picture")).to_be_visible()
    expect(page.locator("#chat-box textarea")).to_have_value("what is this?")


def test_hostile_texts_are_only_texts(opened: Open) -> None:
    page = opened('/?thread="><img src=x onerror=window.hacked=1>')
    hostile = (
        "<img src=x onerror=window.hacked=1> <script>window.hacked=1</script> ![spy](http://127.0.0.2/spy.png) "
        "[a](javascript:window.hacked=1) ![b][c] ${window.hacked=1} {{prototype}} \n\n[c]: http://127.0.0.2/c.png"
    )
    tab(page, "Chat")
    say(page, f"forget {hostile}")
    answered(page)
    tab(page, "Threads")
    page.locator("#threads-found label").first.click()
    expect(page.locator("#thread-head h2")).to_contain_text("<img src=x onerror=window.hacked=1>")
    tab(page, "Investigations")
    page.locator("#inquiry-query textarea").fill(f"{hostile}. Are the models robust to rotation?")
    page.locator("#inquiry-approve input").check()
    page.locator("#inquiry-start").click()
    expect(page.locator("#inquiry-allow")).to_be_visible()

    expect(page.locator("#chat-log img, #thread-messages img")).to_have_count(0)
    expect(page.locator("a[href^='javascript']")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


@pytest.mark.slow
def test_an_investigation_is_decided_about_watched_reloaded_and_read(opened: Open, served: Served) -> None:
    page = opened()
    tab(page, "Investigations")
    page.locator("#inquiry-query textarea").fill(QUESTION)
    page.locator("#inquiry-approve input").check()
    page.locator("#inquiry-query textarea").press("Enter")
    expect(page.locator("#inquiry-allow")).to_be_visible()
    thread = thread_of(page)
    expect(page.locator("#inquiry-decide .sn-preview")).to_contain_text("llava-upright is right in more than 75 %")
    page.get_by_text("Change the design").click()
    page.locator("#inquiry-decide").get_by_role("tab", name="JSON").click()
    editor = page.locator("#inquiry-decide .cm-content")
    design = design_of(thread, served.home)

    editor.fill("{broken")
    page.locator("#inquiry-edit").click()
    expect(page.get_by_test_id("toast-body").filter(has_text="not valid JSON")).to_be_visible()
    editor.fill(json.dumps({**design, "difficulty": 9}))
    page.locator("#inquiry-edit").click()
    expect(page.get_by_test_id("toast-body").filter(has_text="difficulty")).to_be_visible()
    editor.fill(json.dumps({**design, "purpose": "Changed by <b>hand</b>."}))
    page.locator("#inquiry-edit").click()
    expect(page.locator("#inquiry-trace")).to_contain_text("Changed by <b>hand</b>.")
    page.reload()

    story, head = page.locator("#inquiry-trace"), page.locator("#inquiry-head")
    expect(head).to_contain_text("waiting for approval")  # to ask in other words
    page.locator("#inquiry-allow").click()
    expect(head).not_to_contain_text("waiting for approval")
    expect(head).to_contain_text("finished")
    expect(story).to_contain_text("No, llava-upright is not good at telling left from right")
    expect(story).to_contain_text(
        "2.3 million parameters, trained in the microworld with planted weaknesses; not LLaVA"
    )
    expect(story.locator(".sn-claim")).to_have_count(2)
    assert story.locator(".sn-samples image").count() >= 6
    report = page.locator("#inquiry-report")
    report.get_by_text("Explore the evidence").click()
    assert report.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    explorer = report.frame_locator("iframe")
    expect(explorer.locator("h1")).to_contain_text(QUESTION)
    expect(explorer.locator(".tile").first).to_contain_text("llava-upright")
    shown = explorer.locator(".tile img").first
    expect(shown).to_be_visible()
    assert shown.evaluate("one => one.decode().then(() => one.naturalWidth)") == 128
    for name, holds in ((".md", "# Can llava"), (".json", '"experiments"'), ("-trials.jsonl", '"round"')):
        with page.expect_download() as download:
            report.locator(f"a[download='{thread}{name}']").click()
        assert holds in download.value.path().read_text()


@pytest.mark.slow
def test_a_design_is_looked_at_and_edited_as_a_form(opened: Open, served: Served) -> None:
    page = opened()
    tab(page, "Investigations")
    page.locator("#inquiry-query textarea").fill("Is llava-upright robust to rotation?")
    page.locator("#inquiry-approve input").check()
    page.locator("#inquiry-start").click()
    expect(page.locator("#inquiry-allow")).to_be_visible()
    design = design_of(thread_of(page), served.home)
    shown = page.locator("#inquiry-decide .sn-preview")
    expect(shown.locator(".sn-shown image")).to_have_count(2 * 2 * len(design["arms"]))
    expect(shown).to_contain_text("llava-upright loses more than 10 points")
    expect(shown).to_contain_text("pictures")

    page.get_by_text("Change the design").click()
    form = page.locator("#inquiry-form")
    angle, bar = form.get_by_label("angle").first, form.get_by_label("Loses more than")
    angle.fill("900")
    bar.fill("20")
    page.locator("#inquiry-enter").click()
    expect(form.locator("[aria-invalid=true]")).to_have_count(1)
    expect(form.get_by_text("Enter a whole number from -360 to 360.")).to_be_visible()
    assert (angle.input_value(), bar.input_value()) == ("900", "20"), "what was entered stays"
    page.set_viewport_size({"width": 360, "height": 740})
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, scheme
        for part in ("#inquiry-form", "#inquiry-decide .sn-preview"):
            assert page.evaluate(_CONTRAST, part) == [], (part, scheme)
    angle.fill("30")
    page.locator("#inquiry-enter").click()
    expect(page.locator("#inquiry-decide")).to_be_hidden()
    expect(page.locator("#inquiry-trace")).to_contain_text("llava-upright loses more than 20 points")
    page.locator("#inquiry-stop").click()
    expect(page.locator("#inquiry-resume")).to_be_visible()


@pytest.mark.slow
def test_an_investigation_is_stopped_and_taken_up_again(opened: Open) -> None:
    page = opened()
    tab(page, "Investigations")
    page.get_by_role("button", name="Are the models robust to rotation?").last.click()
    page.locator("#inquiry-start").click()
    expect(page.locator("#inquiry-stop")).to_be_visible()
    page.reload()
    page.locator("#inquiry-stop").click()
    expect(page.locator("#inquiry-head")).to_contain_text("stopped")
    page.locator("#inquiry-resume").click()
    expect(page.locator("#inquiry-head")).to_contain_text("running")
    page.locator("#inquiry-stop").click()
    expect(page.locator("#inquiry-resume")).to_be_visible()


def test_a_design_can_be_refused(opened: Open) -> None:
    page = opened()
    tab(page, "Investigations")
    page.locator("#inquiry-query textarea").fill(QUESTION)
    page.locator("#inquiry-approve input").check()
    page.locator("#inquiry-start").click()
    expect(page.locator("#inquiry-allow")).to_be_visible()
    page.locator("#inquiry-decide").get_by_label("Why not").fill("too easy")
    page.locator("#inquiry-refuse").click()
    expect(page.locator("#inquiry-head")).to_contain_text("finished")
    expect(page.locator("#inquiry-trace")).to_contain_text("too easy")


def test_threads_are_searched_opened_and_branched(opened: Open) -> None:
    page = opened()
    say(page, "what do you know about walruses?")
    answered(page)
    thread = thread_of(page)
    tab(page, "Threads")
    # The whole list comes first: one that is still under way would replace what is found.
    expect(page.locator("#threads-found label").first).to_be_visible()
    page.locator("#threads-wanted textarea, #threads-wanted input").first.fill("walruses")
    page.keyboard.press("Enter")
    expect(page.locator("#threads-found label")).to_have_count(1)
    page.locator("#threads-found label").click()
    expect(page.locator("#thread-messages")).to_contain_text("walruses")
    page.get_by_text("History").click()
    page.locator("#thread-branch").click()
    expect(page.get_by_test_id("toast-body").filter(has_text="Choose a checkpoint")).to_be_visible()
    page.locator("#thread-moments label").filter(has_text="then reply").click()
    page.locator("#thread-branch").click()
    page.wait_for_function("thread => !location.search.includes(thread)", arg=thread)
    expect(page.locator("#thread-head")).to_contain_text("stopped before reply")
    page.locator("#thread-resume").click()
    expect(page.locator("#thread-head")).to_contain_text("finished")
    page.locator("#thread-show").click()
    expect(page.locator("#chat-log .bot.message")).to_have_count(1)


def test_a_thread_is_deleted_once_that_was_asked_for_twice(opened: Open) -> None:
    page = opened()
    say(page, "what do you know about aardvarks?")
    answered(page)
    tab(page, "Threads")
    expect(page.locator("#threads-found label").first).to_be_visible()
    page.locator("#threads-wanted textarea, #threads-wanted input").first.fill("aardvarks")
    page.keyboard.press("Enter")
    expect(page.locator("#threads-found label")).to_have_count(1)
    page.locator("#threads-found label").click()
    expect(page.locator("#thread-messages")).to_contain_text("aardvarks")
    expect(page.locator("#thread-yes")).to_be_hidden()
    page.locator("#thread-delete").click()
    page.locator("#thread-no").click()
    expect(page.locator("#thread-yes")).to_be_hidden()
    page.locator("#thread-delete").click()
    page.locator("#thread-yes").click()
    expect(page.get_by_test_id("toast-body").filter(has_text="Deleted: 1 thread")).to_be_visible()
    expect(page.locator("#threads-found label")).to_have_count(0)
    expect(page.locator("#thread-delete")).to_be_hidden()


def test_two_users_at_once_see_nothing_of_each_other(opened: Open) -> None:
    ours, theirs = opened(), opened(user="ann")
    say(ours, "forget the secret of the owner", SCENE)
    answered(ours)
    thread = thread_of(ours)
    picture = ours.locator("#chat-log .user.message img").get_attribute("src") or ""
    ours.locator("#chat-box input[type=file]").first.set_input_files([BEACH])
    uploaded = ours.locator("#chat-box .thumbnail-item img").get_attribute("src") or ""
    assert [ours.request.get(one).status for one in (picture, uploaded)] == [200, 200]

    theirs.goto(f"/?thread={thread}")
    expect(theirs.locator("#threads-found, #thread-head, #chat-trouble").first).to_be_attached()
    tab(theirs, "Threads")
    expect(theirs.get_by_text("No threads yet")).to_be_visible()
    assert "secret" not in theirs.locator("body").inner_text()
    assert [theirs.request.get(one).status for one in (picture, uploaded)] == [404, 404]
    for path in (f"/reports/{thread}", f"/page/trials/{thread}.jsonl"):
        assert theirs.request.get(path).status == 404
    say_in_theirs = theirs.request.get("/page/memory.zip")
    assert say_in_theirs.status == 200


def test_gradio_offers_nothing_but_the_page(opened: Open) -> None:
    page = opened()
    file = "/gradio_api/file="
    paths = (
        f"{file}/etc/passwd",
        f"{file}../../pyproject.toml",
        "/gradio_api/info",
        "/gradio_api/proxy=http://127.0.0.2/",
    )
    assert {path: page.request.get(path).status for path in paths} == dict.fromkeys(paths, 404)
    assert page.request.get("/monitoring").status == 403


def test_without_a_mouse(opened: Open) -> None:
    page = opened()
    expect(page.locator("#chat-box textarea")).to_be_focused()
    page.keyboard.type("what do you know about owls?")
    page.keyboard.press("Enter")
    answered(page)
    reached = []
    for _ in range(8):
        page.keyboard.press("Tab")
        seen: str = page.evaluate(
            """() => {
              const one = document.activeElement, ringed = [one, one.closest('label'), one.closest('#chat-box')];
              const seen = one === document.body || ringed.filter(Boolean).map(each => getComputedStyle(each))
                .some(look => look.outlineStyle !== 'none' || look.boxShadow.includes('3px'));
              const name = one.ariaLabel || one.innerText || one.labels?.[0]?.innerText || one.tagName;
              return (seen ? '' : 'INVISIBLE ') + name;
            }"""
        )
        reached.append(seen)
    assert not [one for one in reached if one.startswith("INVISIBLE")], reached
    assert any("New conversation" in one for one in reached)
    page.get_by_role("tab", name="Chat").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Investigations")).to_have_attribute("aria-selected", "true")


def test_every_field_and_button_has_a_name_for_screen_readers(opened: Open) -> None:
    page = opened()
    for name in ("Chat", "Investigations", "Memory", "Threads"):
        tab(page, name)
        page.wait_for_timeout(300)
        nameless = page.evaluate(
            """() => [...document.querySelectorAll(
              'button, input:not([type=file]), textarea, select, svg[role=img], iframe')]
            .filter(one => one.getClientRects().length)
            .filter(one => !(one.ariaLabel || one.title || one.innerText?.trim() || one.placeholder
              || one.labels?.length || one.getAttribute('aria-labelledby')))
            .map(one => one.outerHTML.slice(0, 200))"""
        )
        assert nameless == [], name


@pytest.mark.slow
def test_every_tab_fits_and_can_be_read(opened: Open) -> None:
    page = opened()
    expect(page.locator("#chat-box textarea")).to_be_visible()
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme, width in product(schemes, (360, 1280)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 740})
        page.reload()
        for name in ("Investigations", "Memory", "Threads", "Chat"):
            tab(page, name)
            # Gradio's colours change softly.
            page.wait_for_timeout(300)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, scheme, width)
            assert page.evaluate(_CONTRAST, "body") == [], (name, scheme, width)
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g)[0] < 60")
        assert dark == (scheme == "dark")


_CONTRAST = """part => {
  const parse = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, place) => sum + v * [.2126, .7152, .0722][place], 0);
  const behind = one => { for (; one; one = one.parentElement) {
    const back = parse(getComputedStyle(one).backgroundColor); if (back.length === 3 || back[3] === 1) return back; }
    return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.querySelector(part), NodeFilter.SHOW_TEXT), weak = [];
  for (let node; (node = walker.nextNode());) {
    const one = node.parentElement;
    if (!node.textContent.trim() || !one.getClientRects().length) continue;
    if (one.closest('script, style, svg, button[disabled]')) continue;
    const look = getComputedStyle(one);
    if (look.visibility === 'hidden' || look.opacity < 1) continue;
    const [a, b] = [light(parse(look.color)), light(behind(one))].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) weak.push(`${node.textContent.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return weak;
}"""
"""Texts of a part of the page whose contrast is less than WCAG 2.2 (1.4.3) wants."""
