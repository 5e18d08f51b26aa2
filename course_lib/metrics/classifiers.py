"""How well a scikit-learn classifier predicts a factor from latents."""

import numpy as np


def accuracies(model, latents, labels, test_latents, test_labels) -> tuple[float, float]:
    """The accuracy of `model` on the points (n, D) it learns from, and on others: two shares.

    Constant latents are left out. Where none is left, or where all labels are equal, the answer is always the most
    frequent label.
    """
    live = np.ptp(latents, axis=0) > 0
    values, counts = np.unique(labels, return_counts=True)
    if not live.any() or len(values) == 1:
        answer = values[counts.argmax()]
        return float(np.mean(labels == answer)), float(np.mean(test_labels == answer))
    model.fit(latents[:, live], labels)
    return (
        float(np.mean(model.predict(latents[:, live]) == labels)),
        float(np.mean(model.predict(test_latents[:, live]) == test_labels)),
    )
