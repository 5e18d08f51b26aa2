"""What is wrong with a file of latents and factors, in one sentence each: the page of the book says the same."""

# book/static/explore/score_files.js has the same words; tests/explore/test_scripts.py compares them.
SENTENCES = {
    "kind": "its name ends in {suffix}; allowed are .npz and .csv.",
    "empty": "it is empty; a table has a row of names and rows of numbers.",
    "text": "it is no text in UTF-8; save the table as CSV in UTF-8.",
    "quote": "it has a quotation mark that is not closed, or that something follows; quote whole cells, or none.",
    "blank": "column {place} has no name; each needs one.",
    "headless": "its first row holds the number {cell}; the first row is for the names of the columns.",
    "twice": "the name {name} comes twice; each column, each factor, needs a name of its own.",
    "no_latents": "no column z0 among {names}; latents are called z0, z1, …, and all other columns are factors.",
    "no_factors": "it has columns of latents alone, {names}; at least one factor must stand beside them.",
    "no_rows": "it has names, and no row of numbers below them.",
    "cells": "row {row} has {got} cells, and the first row has {wanted}; a number with a decimal comma makes two.",
    "comma": "row {row}, column {column}: {cell} has a decimal comma; write a point, as in 1.5.",
    "missing": "row {row}, column {column} is empty; each row needs a number in every column.",
    "infinite": "row {row}, column {column}: {cell} is not finite; a score needs finite numbers.",
    "word": "row {row}, column {column}: {cell} is no number; numbers are written like -1.5 or 2e-3.",
    "integer": "row {row}, column {column}: {cell} is no integer; number a factor's values 0, 1, 2, ….",
    "zip": "it is no zip archive, as an .npz is, or it is damaged.",
    "packed": "it is encrypted, or packed in a way that NumPy does not use; np.savez and np.savez_compressed write it.",
    "lacks": "it lacks the array {names}; an .npz has latents (n, D) and factors (n, F).",
    "cut": "its array {name} is cut short, or not in NumPy's format.",
    "objects": "its array {name} holds Python objects, which are not loaded: they could run a program.",
    "real": "its array {name} has the type {dtype}; allowed are real numbers.",
    "whole": "its array factors has the type {dtype}; allowed are integers.",
    "table": "its array {name} has the shape {shape}; allowed are rows and columns, at least one of each.",
    "rows": "latents have {latents} rows, and factors {factors}; each row is one image in both.",
    "not_finite": "latents are NaN or infinite in {rows} of {n} rows; a score needs finite numbers.",
    "names": "names has {got} entries for {wanted} factors.",
    "constant": "all factors are constant; at least one must take two values.",
    "beyond": "{what} reach beyond {limit}, which no score can add up.",
}


class FileFault(ValueError):
    """A file that does not fit; `kind` is its sentence's key."""

    def __init__(self, kind: str, **parts):
        super().__init__(SENTENCES[kind].format(**parts))
        self.kind = kind
