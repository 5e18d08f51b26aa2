"""Training: `fit`, `fit_many`, what it records, and what it can resume from."""

from course_lib.frameworks import Step
from course_lib.training.fit import fit
from course_lib.training.fit_kernel import fit_kernel
from course_lib.training.fit_many import fit_many
from course_lib.training.history import History

__all__ = ["History", "Step", "fit", "fit_kernel", "fit_many"]
