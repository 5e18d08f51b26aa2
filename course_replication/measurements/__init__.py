"""What runs measure: functions from a `Context` and settings to a flat dict from metrics to numbers or answers.

The metrics are called as in the claims, whose `runs` name the functions. A module is imported when it measures.
"""
