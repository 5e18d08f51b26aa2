"""What the text of chapter 08 says about its outputs is what the stored outputs say."""

import re

import numpy as np

from course_grading import registry
from course_lib.theory import Entangler
from stored_chapter import StoredChapter

CHAPTER = StoredChapter("08_impossibility")
CELLS, TEXT, output, says = CHAPTER.cells, CHAPTER.text, CHAPTER.output, CHAPTER.says
NUMBER = r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?:e[-+]\d+)?(?![\w.])"


def numbers(text: str) -> list[float]:
    return [float(number.replace("−", "-")) for number in re.findall(NUMBER, text)]


def rows(name: str) -> dict[str, list[float]]:
    """The rows of a printed frame: label → numbers, the last columns of the line."""
    found = {}
    for line in output(name).splitlines():
        label, *cells = re.split(r"\s{2,}", line.strip())
        if cells and numbers(cells[-1]):
            found[label] = numbers("  ".join(cells))
    return found


def test_the_impostor_is_right_in_each_coordinate_and_wrong_in_both():
    table = rows("repair-test")
    first, second, both, corners = (table[name] for name in table if "," in name)
    says("($p = 0.02$)")
    assert min(first[1], second[1]) > 0.05 > both[1] == 0.02 and corners[1] == 0
    assert min(first[2], second[2], both[2]) > 0.05 and 3 < corners[2] < 5
    assert first[0] == second[0] == 0 and both[0] == 0.005
    says("The smallest $p$ that 199 random deals can give is 0.005")
    assert 1 / 200 == 0.005


def test_no_derivative_is_zero():
    total, points, smallest, zeros = numbers(output("jacobian-all").replace(",", ""))
    assert total == 25 * points and smallest > 0 == zeros


def test_the_puzzle_is_no_answer_to_itself():
    """Which cloud is which falls by a coin; the text is about the side on which it fell."""
    draw = CELLS["puzzle"].source
    assert not re.search(r"""["'][AB]["']: """, draw) and "permutation(2)" in draw
    says("B are the factors. In A each coordinate depends on both of them")
    seed = int(re.search(r"default_rng\((\d+)\)\.permutation\(2\)", draw)[1])
    sides = np.random.default_rng(seed).permutation(2)
    assert dict(zip("AB", (("factors", "mixed")[side] for side in sides), strict=True))["B"] == "factors"


def test_the_slider_begins_at_a_number_that_is_written_out():
    (frames,) = (each["data"]["text/html"] for each in CELLS["slide"].outputs)
    assert "0.00001" in frames and "e-05" not in frames


def test_the_slider():
    table = {float(label): values for label, values in rows("slide-table").items()}
    says("at α ≈ 0.15, where the mirror turns the first axis by about 45°")
    assert min(table, key=lambda alpha: table[alpha][1]) == 0.15 and table[0.15][1] < 0.05
    says("Its MIG is 0.97.")
    assert table[0.00001][1] == 0.97 and table[0.499][1] > 0.95
    assert min(p for p, _ in table.values()) > 0.3


def test_the_witnesses():
    table = rows("instruments")
    name = {key: next(values for label, values in table.items() if key in label) for key in (
        "each coordinate", "jointly", "log p(x)", "ELBO, posterior", "ELBO, best", "β = 8, posterior", "β = 8, best",
        "probe", "alignment"
    )}  # fmt: skip
    assert min(name["each coordinate"] + name["jointly"]) > 0.05
    says("here to three decimals")
    assert abs(name["log p(x)"][0] - name["log p(x)"][1]) < 0.0005
    assert name["ELBO, posterior"][0] == name["ELBO, posterior"][1]
    assert name["β = 8, posterior"][-1] == name["β = 8, posterior"][-2]
    says("by 0.2 nats, and what the networks were trained for by 0.7.")
    drops = [round(name[best][-2] - name[best][-1], 1) for best in ("ELBO, best", "β = 8, best")]
    assert drops == [0.2, 0.7]
    says("That ELBO lies 6 nats below")
    assert round(name["log p(x)"][0] - name["ELBO, posterior"][0]) == 6
    says("The best diagonal posterior comes within 0.1.")
    assert 0 < name["log p(x)"][0] - name["ELBO, best"][0] < 0.1
    assert name["probe"][-2] == name["probe"][-1]
    says("falls from 0.98 to 0.12")
    assert [round(value, 2) for value in name["alignment"]] == [0.98, 0.12]
    assert numbers(output("undo-look"))[0] < 1e-6
    says("on which the linear probe has $R^2 = 1$, lose a little")
    assert 0.9 < numbers(output("probe-uniform"))[-1] < 0.99


def test_the_linear_world():
    says("it falls from −3.99 to −4.47 nats at 45°")
    assert "-3.99 at 0°" in output("linear-fall") and "-4.47 at 45°" in output("linear-fall")
    seeds = [re.findall(r"-?\d+\.\d+", line) for line in output("linear-table").splitlines()[3:]]
    assert len(seeds) == 5
    equal, angles, unequal, aligned = zip(*seeds, strict=True)
    says("the same ELBO to the last digit shown, and five different pairs of axes")
    assert len(set(equal)) == 1 == len(set(unequal)) and len(set(angles)) == 5
    says("every start has found the true axes to a tenth of a degree")
    assert set(aligned) == {"0.0"}


def test_the_oblique_world():
    says("the second factor acts at an angle of 37° to the first")
    factors, *seeds = (re.findall(r"-?[\d.]+(?=°|$)", line) for line in output("oblique").splitlines()[1:])
    assert factors[:2] == ["0", "37"] and len(seeds) == 5
    says("Every seed agrees, the ELBO calls their latents better than the factors")
    assert all(seed == seeds[0] for seed in seeds) and float(seeds[0][2]) > float(factors[2])
    says("the second 56° away from where the second factor acts")
    assert int(seeds[0][1]) - int(seeds[0][0]) == 90 and int(seeds[0][1]) - int(factors[1]) == 56


def test_the_maps():
    table = {int(label): values for label, values in rows("nets-table").items() if label.isdigit()}
    loss, skew, _, _, later, _ = zip(*table.values(), strict=True)
    says("three stand nearly upright and three are askew by more than 30°")
    upright, askew = ([place for place in table if (skew[place] > 30) == oblique] for oblique in (False, True))
    assert len(upright) == len(askew) == 3 and max(skew[place] for place in upright) < 10
    says("from 44.5 to 45.8 nats")
    assert (round(min(loss), 1), round(max(loss), 1)) == (44.5, 45.8)
    says("better by more than half a nat, on average")
    assert sum(loss[place] for place in askew) / 3 - sum(loss[place] for place in upright) / 3 > 0.5
    says("all three skewed maps have turned towards the axes, by a third to a half of their skew")
    assert all(0.3 < 1 - later[place] / skew[place] < 0.55 for place in askew)
    says("the upright ones stand straighter than before")
    assert all(later[place] < skew[place] for place in upright)


def test_posteriors_are_round_in_the_middle_and_stretched_at_an_edge():
    middle, edge = (numbers(line) for line in output("widths").splitlines())
    assert max(middle) < 1.2 * min(middle) and max(edge) > 2 * min(edge)


def test_the_counterexample_of_the_conditional_construction():
    says("for a Gaussian prior with correlation −0.7, α = 0.15 merely exchanges the latents, with their signs turned")
    root = np.linalg.cholesky([[1, -0.7], [-0.7, 1]])
    map_ = root @ Entangler.normal(2, alpha=0.15).matrix @ np.linalg.inv(root)
    np.testing.assert_allclose(map_, [[0, -1], [-1, 0]], atol=1e-12)
    says("There another α will do")
    for alpha in (0.05, 0.3, 0.45):
        assert np.abs(root @ Entangler.normal(2, alpha=alpha).matrix @ np.linalg.inv(root)).min() > 0.1


def test_pairs_stand_upright():
    table = rows("ada-table").values()
    says("none is askew by more than 2°")
    assert max(values[4] for values in table) < 2 and min(values[5] for values in table) >= 0.99
    says("they are no worse than those that never saw a pair")
    assert sum(values[3] for values in table) <= sum(values[0] for values in table)


def test_a_prior_that_does_not_factorise():
    (prior, turned, conditional), *_ = rows("triangle").values()
    assert turned == 0.005 and min(prior, conditional) > 0.05
    says("So the law is kept, for every density. The second property is not so safe")


def test_the_tails():
    table = {float(label): values for label, values in rows("tails").items()}
    says("At 6 standard deviations half of the digits are gone, at 8 the third decimal is wrong, and at 9")
    assert 1e-9 < table[6.0][0] < 1e-8 and 1e-3 < table[8.0][0] < 1e-2
    assert "inf" in output("tails") and max(values[-1] for values in table.values()) < 1e-14


def test_the_verdicts():
    says("All four hold")
    card, verdicts = (output.data["text/plain"] for output in CELLS["cards"].outputs)
    assert card.startswith("MATCH · ")
    assert verdicts.count("match · construction · exact") == 4


def test_every_objective_is_checked():
    """Each names exercises or questions that exist, and the exercises say the same objective."""
    objectives = re.findall(r"^\d\. (.*) \((.*)\)[;.]$", CHAPTER.notebook.cells[0].source, re.MULTILINE)
    assert len(objectives) == 5
    tasks = {task.id: task for task in registry.exercises_of("08")}
    questions = re.findall(r"^\*\*(\d)\.\*\*", TEXT, re.MULTILINE)
    named = []
    for objective, checks in objectives:
        ids = re.findall(r"\d\d\.\d", checks)
        named += ids
        assert ids and set(re.findall(r"(?<![.\d])\d(?![.\d])", checks)) <= set(questions)
        for id in ids:
            start = tasks[id].objective.split(":")[0]
            assert objective.startswith(start), (objective, start)
    assert sorted(named) == sorted(tasks)
