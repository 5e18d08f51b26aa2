"""What grading says, in the forms in which it is wanted: text, JSON, and Gradescope's results.json."""

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Result:
    """One exercise: points out of `possible`, and one line. `hidden` marks a check that students do not have."""

    id: str
    title: str
    objective: str
    points: int
    possible: int
    message: str
    hidden: bool = False


@dataclass(frozen=True)
class Report:
    """One submission: its results, what was odd about its cells, and which protections were in force."""

    name: str
    results: list[Result]
    notes: list[str] = field(default_factory=list)
    layers: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def points(self) -> int:
        return sum(result.points for result in self.results)

    @property
    def possible(self) -> int:
        return sum(result.possible for result in self.results)

    def by_objective(self) -> dict[str, tuple[int, int]]:
        """Objective → points and possible points, in the order of the exercises."""
        found: dict[str, tuple[int, int]] = {}
        for result in self.results:
            points, possible = found.get(result.objective, (0, 0))
            found[result.objective] = (points + result.points, possible + result.possible)
        return found

    def to_text(self) -> str:
        lines = [f"{self.name}: {self.points} of {self.possible} points"]
        lines += [f"  {result.id} {result.points} of {result.possible}  {result.message}" for result in self.results]
        lines += [f"  {points} of {possible}  {name}" for name, (points, possible) in self.by_objective().items()]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def to_json(self) -> dict:
        """Everything but the time that it took, so that grading again gives the same."""
        return {
            "submission": self.name,
            "points": self.points,
            "possible": self.possible,
            "objectives": {name: list(points) for name, points in self.by_objective().items()},
            "exercises": [asdict(result) for result in self.results],
            "notes": self.notes,
            "protections": list(self.layers),
        }

    def to_gradescope(self) -> dict:
        """Gradescope's results.json; hidden checks show when grades are published, and their words never."""
        tests = [
            {
                "number": result.id,
                "name": f"{result.id} {result.title}",
                "score": result.points,
                "max_score": result.possible,
                "status": "passed" if result.points == result.possible else "failed",
                "output": "" if result.hidden else result.message,
                "output_format": "text",
                "visibility": "after_published" if result.hidden else "visible",
            }
            for result in self.results
        ]
        return {
            "score": self.points,
            "execution_time": round(self.seconds, 1),
            "output": "\n".join(self.notes),
            "output_format": "text",
            "stdout_visibility": "hidden",
            "visibility": "visible",
            "tests": tests,
        }
