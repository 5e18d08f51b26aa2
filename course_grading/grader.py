"""Grades one submission: the parent's side, which holds what is right and never runs what a student wrote."""

import hashlib
import itertools
import re
import time
from collections.abc import Sequence
from pathlib import Path

from course_grading.calling import Outcome, describe, one_line
from course_grading.exercise import BLANK, Answer, Exercise, Verdict
from course_grading.registry import MOST_BYTES, checked_chapter
from course_grading.results import Report, Result
from course_grading.sandbox import GraderError, Limits, Lost, Refused, Worker
from course_grading.wire import Decoder, WireError, encode

MOST_ARGUMENTS = 16  # of a function
MOST_SOURCE = 8 * 2**20  # bytes of all its code


class Unusable(Exception):
    """Nothing can be asked of the submission any more; the message is a sentence."""


class Submission:
    """A notebook whose cells run in a worker, and run again in a new one when that is lost."""

    def __init__(self, content: bytes, limits: Limits):
        self.limits, self.deadline = limits, time.monotonic() + limits.total
        self.worker: Worker | None = None
        self.layers: tuple[str, ...] = ()
        self.skipped: dict[int, str] = {}  # cells that lost a worker
        self.raised: dict[int, str] = {}
        self.left_out: dict[int, str] = {}  # lines that are no Python
        self.malformed: dict[int, str] = {}  # cells that are none
        self.remarks: list[str] = []  # on the notebook as a whole
        self._content, self._sources, self._workers = content, None, 0
        self.chapter = checked_chapter(content)
        self._unusable: Unusable | None = None
        self._seed = int.from_bytes(hashlib.sha256(content).digest()[:4], "big") // 2

    def seed(self, exercise: str) -> int:
        """What the inputs are drawn from: the same for the same file, and not to be known while it is written."""
        return int.from_bytes(hashlib.sha256(f"{self._seed} {exercise}".encode()).digest()[:4], "big") // 2

    def ready(self) -> Worker:
        """A worker in which every cell has run that can; `Unusable` when there is none to be had."""
        if self._unusable is not None:
            raise self._unusable
        while self.worker is None:
            if time.monotonic() >= self.deadline:
                raise Unusable(f"the time for the whole notebook, {self.limits.total:g} s, was up")
            if self._workers >= self.limits.workers:
                raise Unusable(f"it had lost {self._workers} Python processes before, and gets no further one")
            self._workers += 1
            self._begin()
        return self.worker

    def _begin(self) -> None:
        """Start a worker and run the cells; give it up at the first that loses it."""
        try:
            self.worker = Worker(self.limits, self.deadline)
            self.layers = self.worker.layers
            if self._sources is None:
                self._sources = self._cells(self.worker)
        except Unusable as error:
            self._unusable = error
            self.lose()
            raise
        except Lost as error:
            self.lose()
            if self._sources is None:
                raise Unusable(f"the notebook could not be read: the worker {error}") from error
            return
        for place, source in enumerate(self._sources, 1):
            if place in self.skipped or place in self.malformed:
                continue
            try:
                error = self._run(place, source)
            except Lost as lost:
                self.skipped[place] = str(lost)
                self.lose()
                return
            self.raised.pop(place, None)
            if error is not None:
                self.raised[place] = error

    def _cells(self, worker: Worker) -> list[str]:
        """The sources, read by the worker: a file can be built to make its reader swell or fail."""
        try:
            reply, payload = worker.ask("cells", seconds=self.limits.cell, payload=(self._content,))
        except Refused as error:
            raise Unusable(f"this is not a notebook ({one_line(error, 120)})") from error
        if "unreadable" in reply:
            raise Unusable(f"this is not a notebook: {one_line(reply['unreadable'], 120)}")
        if len(payload) > MOST_SOURCE:
            raise Unusable(f"its code has more than {MOST_SOURCE // 2**20} MB")
        if "python" not in reply["language"].lower():
            self.remarks.append(
                f"The notebook says that its language is {reply['language']}; the exercises are in Python."
            )
        self.malformed = {int(place): one_line(why, 100) for place, why in reply["malformed"]}
        ends = list(itertools.accumulate(reply["sizes"]))
        pieces = zip([0, *ends], ends, strict=False)
        return [payload[start:end].decode("utf-8", "surrogatepass") for start, end in pieces]

    def _run(self, place: int, source: str) -> str | None:
        try:
            reply, _ = self.worker.ask(
                "run", seconds=self.limits.cell, payload=(source.encode("utf-8", "surrogatepass"),), place=place,
                seed=self.seed(f"cell {place}"),
            )  # fmt: skip
        except Refused as error:
            return one_line(error)
        lines = reply.get("left_out")
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise Lost("wrote to the grader's pipe what is no reply")
        if lines:
            self.left_out[place] = one_line(", ".join(f"`{line}`" for line in lines))
        return None if reply.get("error") is None else one_line(reply["error"])

    def why_blank(self, name: str) -> str | None:
        """The cell that names an answer and did not run to its end: there may be an answer in it."""
        for place in sorted(self.raised | self.skipped | self.left_out):
            if re.search(rf"\b{re.escape(name)}\b", self._sources[place - 1]):
                happened = self._what_happened(place)
                return f"there is no answer: {happened[0].lower()}{happened[1:]}"
        return None

    def notes(self) -> list[str]:
        """What was odd about the cells, one sentence each."""
        others = self.left_out.keys() - self.raised.keys() - self.skipped.keys()
        places = (*sorted(self.skipped), *sorted(self.raised), *sorted(others))
        malformed = [f"Code cell {place} {why}." for place, why in sorted(self.malformed.items())]
        return self.remarks + malformed + [self._what_happened(place) for place in places]

    def _what_happened(self, place: int) -> str:
        if place in self.skipped:
            return f"Code cell {place} was skipped: it {self.skipped[place]}."
        left_out = place in self.left_out and f"Code cell {place} ran without {self.left_out[place]}"
        if place in self.raised:
            raised = f"Code cell {place} raised {self.raised[place]}."
            return f"{left_out}, and raised {self.raised[place]}." if left_out else raised
        return f"{left_out}: the grader starts no programs and knows only Python."

    def lose(self) -> None:
        """End the worker; the next question starts another."""
        if self.worker is not None:
            self.worker.close()
            self.worker = None


class RemoteAnswer(Answer):
    """The answer to one exercise, in the worker."""

    def __init__(self, submission: Submission, exercise: Exercise):
        self._submission = submission
        self._asked = dict(exercise=exercise.of or exercise.id, name=exercise.answer)

    def value(self) -> Outcome:
        return self._ask("value", [])

    def call(self, arguments: Sequence, cotangent, seed: int) -> Outcome:
        buffers: list[bytes] = []
        sent = encode(list(arguments), buffers)
        return self._ask("call", buffers, arguments=sent, cotangent=encode(cotangent, buffers), seed=seed)

    def _ask(self, do: str, buffers: list[bytes], **request) -> Outcome:
        """`Lost` and what cannot be decoded end the worker, and are this exercise's own fault."""
        worker = self._submission.ready()
        try:
            reply, payload = worker.ask(
                do, seconds=self._submission.limits.call, payload=tuple(buffers), **self._asked, **request
            )
            return _outcome(reply, Decoder(payload))
        except Refused as error:
            return Outcome(error=f"it gave what cannot be sent ({one_line(error, 120)})")
        except Lost as error:
            self._submission.lose()
            return Outcome(error=f"it {error}")
        except WireError as error:
            self._submission.lose()
            return Outcome(error=f"it wrote to the grader's pipe what is no reply: {error}")


def _outcome(reply: dict, decoder: Decoder) -> Outcome:
    grads, changed, error = reply.get("grads"), reply.get("changed"), reply.get("error")
    if not isinstance(grads, list) or len(grads) > MOST_ARGUMENTS:
        raise WireError("the gradients are missing")
    if not isinstance(changed, list) or not all(type(place) is int and place < MOST_ARGUMENTS for place in changed):
        raise WireError("what it changed is missing")
    return Outcome(
        value=decoder.value(reply.get("value")),
        grads=tuple(decoder.value(grad) for grad in grads),
        error=None if error is None else one_line(error),
        blank=reply.get("blank") is True,
        changed=tuple(changed),
    )


def grade(path: Path, exercises: Sequence[Exercise], limits: Limits | None = None) -> Report:
    """Grade one notebook. Whatever it holds, the answer is a report, within the limits' total time and a little."""
    limits, started = limits or Limits(), time.monotonic()
    try:
        content = content_of(path)
        submission = Submission(content, limits)
    except Unusable as error:
        return Report(
            written(path.name), [_result(each, Verdict(False, f"{error}.")) for each in exercises], [f"{error}."]
        )
    try:
        results = [_judged(each, submission) for each in exercises]
    finally:
        submission.lose()
    other = _other_chapter(submission, exercises)
    if other and not any(result.points for result in results):
        return Report(written(path.name), [_result(each, Verdict(False, other)) for each in exercises], [other])
    notes = submission.notes()
    if len(notes) > 10:
        notes = [*notes[:10], f"… and {len(notes) - 10} more."]
    return Report(written(path.name), results, notes, submission.layers, time.monotonic() - started)


def _other_chapter(submission: Submission, exercises: Sequence[Exercise]) -> str | None:
    """What is said of a notebook whose checks are another chapter's."""
    asked = {exercise.id[:2] for exercise in exercises}
    if submission.chapter is None or submission.chapter in asked:
        return None
    return f"this is a notebook of chapter {submission.chapter}, and chapter {', '.join(sorted(asked))} was graded."


def written(name: str) -> str:
    """A file's name as text that can be written anywhere; a name on the disk is any bytes."""
    return one_line(name.encode("utf-8", "replace").decode(), 200)


def content_of(path: Path) -> bytes:
    """The file; `Unusable` unless it is a regular one of a fair size. A link could lead anywhere, a pipe never end."""
    try:
        if path.is_symlink() or not path.is_file():
            raise Unusable("this is not a regular file")
        if path.stat().st_size > MOST_BYTES:
            raise Unusable(f"the file is larger than {MOST_BYTES // 2**20} MB")
        return path.read_bytes()
    except OSError as error:
        raise Unusable(f"the file cannot be read ({error.strerror})") from error


def _judged(exercise: Exercise, submission: Submission) -> Result:
    try:
        submission.ready()
        verdict = exercise.judge(RemoteAnswer(submission, exercise), submission.seed(exercise.id))
        if verdict.message == BLANK:
            verdict = Verdict(False, submission.why_blank(exercise.answer) or BLANK)
    except Unusable as error:
        verdict = Verdict(False, f"{error}.")
    except GraderError:
        raise
    except Exception as error:  # a fault of the check on an odd answer must not cost the others their points
        verdict = Verdict(False, f"the answer cannot be looked at ({describe(error)}).")
    return _result(exercise, verdict)


def _result(exercise: Exercise, verdict: Verdict) -> Result:
    return Result(
        exercise.id, exercise.title, exercise.objective, verdict.points(exercise.points), exercise.points,
        one_line(verdict.message, 600), exercise.of is not None,
    )  # fmt: skip
