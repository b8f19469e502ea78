"""Scores are read from what judges really write; what is ambiguous stays invalid."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.scoring.judge_replies import parsed_score

# Written before the parser, after what chat models and small vision-language models reply to such a request.
READ = [
    ("Score: 7", 7),
    ("Score: 7.", 7),
    ("score:7", 7),
    ("SCORE = 7", 7),
    ("Score - 7", 7),
    ("Score 7", 7),
    ("Score: 7.5", 7.5),
    ("Score: 10", 10),
    ("Score: 1", 1),
    ("Score: 8.0/10", 8),
    ("Score: 7/10", 7),
    ("Score: 7 / 10.", 7),
    ("Score: 7 out of 10", 7),
    ("Score: seven", 7),
    ("Score: Seven (7)", 7),
    ("Score: 7 (seven)", 7),
    ("Score: seven out of ten", 7),
    ("**Score**: 7", 7),
    ("**Score:** 7", 7),
    ("**Score: 7**", 7),
    ("Score: **7**", 7),
    ("__Score__: _7_", 7),
    ("### Score: 7", 7),
    ("- Score: 7", 7),
    ("> Score: 7", 7),
    ("1. **Score**: 7", 7),
    ("`Score: 7`", 7),
    ("```\nScore: 7\n```", 7),
    ("Score: <7>", 7),
    ("Score: [7]", 7),
    ("Score: (7)", 7),
    ("Score: {7}", 7),
    ('Score: "7"', 7),
    ("[Score: 7]", 7),
    ("<Score: 7>", 7),
    ("[7]", 7),
    ("7", 7),
    ("**7**", 7),
    ("7/10", 7),
    (" 7.\n", 7),
    ("7\n\nBoth pictures show a dog, but the second one is rotated.", 7),
    ('"Score": 7', 7),
    ('{"Score": 7}', 7),
    ('{"score": "7"}', 7),
    ('{"score": "7/10", "reason": "The colors differ."}', 7),
    ('{"reason": "A score: 10 would need the same colors.", "score": 7}', 7),
    ('```json\n{\n  "score": 7,\n  "explanation": "2 of 3 things agree"\n}\n```', 7),
    ('Here is my judgment:\n\n{"result": {"similarity_score": 7.5}}', 7.5),
    ("{'score': 7, 'reason': 'nearly the same'}", 7),
    ('{"score": 7, "max": 10}', 7),
    ("Score: 7\nReason: a score of 10 would mean that the colors agree too.", 7),
    ("Score: 7\nReason: Score: 10 is only for the same pictures.", 7),
    ("Score: 7. Explanation: for Score: 9 the positions would have to agree.", 7),
    ("Reason: The colors differ, so no 10/10.\nScore: 7", 7),
    ("The pictures show the same 3 dogs, but 2 of them are blurred.\n\nScore: 6", 6),
    ("The pictures share the subject.\n\n**Final score: 8**", 8),
    ("Color score: 5\nShape score: 9\nOverall score: 7", 7),
    ("My first score: 5. On reflection the shapes agree.\nFinal answer: 6", 6),
    ("<think>Perhaps Score: 3? No, the shapes agree.</think>\nScore: 6", 6),
    ("<score>7</score>", 7),
    ("<reason>10 would be the same</reason><score>7</score>", 7),
    ("<answer>7</answer>", 7),
    ("<answer>Score: 7</answer>", 7),
    (r"\boxed{7}", 7),
    (r"The answer is $\boxed{7}$.", 7),
    (r"Score: \boxed{7}", 7),
    (r"$\boxed{\text{Score: } 7}$", 7),
    ("Score:\n7", 7),
    ("**Score:**\n\n7/10", 7),
    ("| Criterion | Value |\n|---|---|\n| Score | 7 |", 7),
    ("Score (1-10): 7", 7),
    ("Score (from 1 to 10): 7", 7),
    ("Score: 7 on a scale of 1 to 10", 7),
    ("Score: 7 (on a scale from 1 to 10)", 7),
    ("Score: ~7", 7),
    ("Score: about 7", 7),
    ("Score\uff1a7", 7),
    ("Rating: 7", 7),
    ("The similarity score is 7.", 7),
    ("The score is 7 out of 10, because 2 dogs are missing.", 7),
    ("I would give these pictures a score of 7.", 7),
    ("I would rate the similarity of the two pictures 7 out of 10.", 7),
    ("I'd give it a 7.", 7),
    ("On a scale of 1 to 10, I rate them as 7/10. A 10/10 would be the same picture.", 7),
    ("Answer: 7", 7),
    ("Score: 7\n\nScore: 7", 7),
    ("Score: 7 (7/10)", 7),
    ("Score: 7, because 3 of the 4 things agree", 7),
    ("<b>Score:</b> 7<br>", 7),
    ("Score: 8 points", 8),
    ('Answer with the line "Score: N".\nScore: 4', 4),
    # Written after the parser.
    ("The images are very similar. I'd say Score: 9", 9),
    ("Score: 9\n\nExplanation:\n- Both images show 2 dogs\n- Rotation: 90 degrees", 9),
    ("**Similarity Score:** 6/10", 6),
    ("Similarity score: **6**", 6),
    ("The two pictures are the same. Therefore, the score is 10.", 10),
    ("Thus, I assign a score of 8/10.", 8),
    ("Score: 10 (identical)", 10),
    ("Score: 1 — unrelated", 1),
    ("Score : 1 (unrelated things)", 1),
    ("ASSISTANT: Score: 5", 5),
    ("Score: 5</s>", 5),
    ("Score: 5<|im_end|>", 5),
    ("Score: 5 <end_of_utterance>", 5),
    ("[[7]]", 7),
    ("Rating: [[7]]", 7),
    ("The final score would be 7.", 7),
    ("Final Score: **7/10**", 7),
    ("Score:7/10\n\nThe score is 7 since 3 of them match", 7),
    ("<score> 7 </score>", 7),
    ('{\n  "Score": 7,\n}', 7),
    ("Score: 7/10 (70%)", 7),
    ("Total score: 7", 7),
    ("I'd rate this 8.", 8),
    ("Score: 6.5/10", 6.5),
    ("Score: 4\n(4/10)", 4),
    ("Score: Ten", 10),
    ("My answer: Score: 3", 3),
    ("The score: 3", 3),
    ("A score: 3", 3),
    ("score(7)", 7),
    ("Score → 7", 7),
    ("Score:    7      ", 7),
    ("Score: 2 — they both have dogs, but one has 3 and another 4", 2),
    ("Score: 8\nConfidence: 9", 8),
    ("Score: 8, Confidence: 9/10", 8),
    ("Score: 7. Colors match (8), shapes less (6).", 7),
    ("Score: 10/10!!", 10),
]
INVALID = [
    "",
    "I cannot compare these pictures.",
    "Score: N",
    "Score: N/A",
    "Score: none",
    "Score: high",
    "Score: __/10",
    'Answer with the line "Score: N", where N is a number from 1 to 10, and nothing before it.',
    "10 means the same, 1 means that they have nothing in common.",
    "Score: 10 means the same, Score: 1 means unrelated.",
    "Score: 7/100",
    "7/100",
    "Score: 70/100",
    "Score: 4/5",
    "Score: 4 out of 5",
    "Score: four out of five",
    "Score (1-5): 4",
    "Score: 7 on a scale of 1 to 100",
    "Score: 7 or 8",
    "7 or 8",
    "Score: 7 or eight",
    "Score: 7-8",
    "Score: 7 – 8",
    "Score: 7 to 8",
    "Score: 7, maybe 8",
    "Score: between 7 and 8",
    "Score: 7 (8)",
    "Score: 7 ± 1",
    "Score: 1,5",
    "1,5",
    "Score: 7 8",
    "Score: 1.2.3",
    "Score: 70%",
    "Score: 7th",
    "Score: 0",
    "Score: 0.7",
    "Score: .7",
    "Score: 11",
    "Score: -7",
    "Score: >7",
    "Score: <7",
    "Score: at least 7",
    "Score: 1e1",
    "Score: 5" + "0" * 400,
    "Score: 3 ... no, Score: 4",
    "Score: 3\nScore: 4",
    "Score: 7\nActually, I think that 5 fits better. Score: 5",
    "Color score: 5\nShape score: 9",
    '{"score": 7, "score": 8}',
    '{"score": 7}\nScore: 8',
    '{"score": 70, "max": 100}',
    '{"score": 7, "scale": "1-100"}',
    '{"score": true}',
    '{"score": null}',
    '{"score": NaN}',
    '{"score": [7, 8]}',
    '{"score": 1' + "0" * 5_000 + "}",
    '[{"picture": 1, "score": 5}, {"picture": 2, "score": 7}]',
    "<score>7</score><score>8</score>",
    r"\boxed{7} or \boxed{8}",
    "7\n8",
    "7/10 for color, 4/10 for shape",
    "<think>Score: 7, I should say",
    "There are 3 dogs in both pictures.",
    "1. The pictures show a dog.\n2. The colors differ.",
    "Score:\n1. The colors differ.\n2. The shapes agree.",
    "Picture 1 and picture 2 are alike.",
    "x" * 100_000 + "Score: 5",
    '{"score": ' * 3_000,
    "[" * 30_000,
    # Written after the parser.
    "So I would go with a 6.",
    "7 or\n8",
    "Score: 7+",
    "Score: 6-7/10",
    "between 6 and 7 out of 10",
]  # fmt: skip


@pytest.mark.parametrize(("reply", "score"), READ)
def test_what_judges_write_is_read(reply: str, score: float) -> None:
    assert parsed_score(reply) == score


@pytest.mark.parametrize("reply", INVALID, ids=lambda reply: reply[:40])
def test_what_is_ambiguous_or_no_score_stays_invalid(reply: str) -> None:
    assert parsed_score(reply) is None


SCORES = st.integers(10, 100).map(lambda tenths: tenths / 10)
PLAIN = st.sampled_from(
    [
        "Score: {}",
        "**Score**: {}",
        "**Score: {}**",
        "Score: **{}**/10",
        "Score: <{}>",
        "Score: [{}]",
        "score = {}",
        "Score: {} out of 10",
        '"Score": {}',
        '{{"score": {}}}',
        '{{"score": "{}"}}',
        "<score>{}</score>",
        r"Score: \boxed{{{}}}",
        "| Score | {} |",
        "Score:\n{}",
    ]
)
ALONE = st.one_of(PLAIN, st.sampled_from(["{}", "[{}]", "{}/10", "**{}**", r"\boxed{{{}}}", "Final score: {}."]))
REASONS = st.sampled_from(["The colors differ.", "Both show 3 dogs.", "A score of 10 would need the same colors."])


def _written(score: float) -> str:
    return f"{score:g}"


@given(SCORES, ALONE)
def test_a_score_reads_the_same_in_every_form(score: float, form: str) -> None:
    assert parsed_score(form.format(_written(score))) == score


@given(score=SCORES, form=PLAIN, reason=REASONS, first=st.booleans())
def test_a_reason_beside_a_score_changes_nothing(*, score: float, form: str, reason: str, first: bool) -> None:
    stated = form.format(_written(score))
    assert parsed_score(f"{reason}\n{stated}" if first else f"{stated}\nReason: {reason}") == score


@given(SCORES, SCORES, PLAIN, PLAIN)
def test_two_scores_that_differ_are_invalid(one: float, other: float, form: str, second: str) -> None:
    said = parsed_score(f"{form.format(_written(one))}\n{second.format(_written(other))}")
    assert said == (one if one == other else None)


@given(st.integers(11, 10**30), ALONE)
def test_a_number_beyond_the_scale_is_invalid(number: int, form: str) -> None:
    assert parsed_score(form.format(number)) is None


@given(st.one_of(st.text(max_size=200), st.text("0123456789 .,/-:scoreSCORE{}[]\"'<>\n*\\|", max_size=200)))
def test_whatever_a_judge_writes_is_a_score_or_none(reply: str) -> None:
    score = parsed_score(reply)
    assert score is None or 1 <= score <= 10


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=9),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["score", "a"]), inner),
                    max_leaves=9))  # fmt: skip
def test_json_of_any_shape_is_read_without_trouble(value: object) -> None:
    score = parsed_score(json.dumps(value))
    assert score is None or 1 <= score <= 10
