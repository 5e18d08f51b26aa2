"""Figures of a training."""

from collections.abc import Iterable, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from course_lib.arguments import check_choice, check_instance
from course_lib.training import History


def training_curves(history: History, *, terms: Sequence[str] | None = None, unit: str = "per image") -> Figure:
    """One panel per column of the history, or per one of `terms`, over the training steps.

    A term that falls to less than a tenth is drawn on a logarithmic axis, or its end could not be seen. Raises
    ValueError for a history without records, and for a term that it lacks.
    """
    check_instance(History, "a history, as fit returns it", history=history)
    if isinstance(terms, str):
        raise ValueError(f"terms: got {terms!r}; allowed is a list of terms, [{terms!r}].")
    check_instance(Iterable, "a list of terms of the history, or None for all", terms=[] if terms is None else terms)
    if terms is not None and not [*terms]:
        raise ValueError("terms: got none; allowed are one or more terms of the history, or None for all.")
    if not history.records:
        raise ValueError("history: got one without records; train for at least one step first.")
    frame = history.to_frame().drop(columns="seconds")
    for term in terms or ():
        check_choice(tuple(frame.columns), terms=term)
    frame = frame if terms is None else frame[list(terms)]
    figure, axes = plt.subplots(
        1, len(frame.columns), figsize=(2.6 * len(frame.columns), 2.4), layout="constrained", squeeze=False
    )
    for place, (axis, name) in enumerate(zip(axes[0], frame.columns, strict=True)):
        axis.plot(frame.index, frame[name], color=f"C{place}")
        falls = frame[name].iloc[0] > 10 * frame[name].iloc[-1] > 0
        axis.set(title=name.replace("_", " "), xlabel="step", yscale="log" if falls else "linear")
    axes[0, 0].set_ylabel(unit)
    return figure
