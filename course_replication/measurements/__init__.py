"""What runs measure: functions from a `Context` and settings to a flat dict from metrics to numbers or answers.

The metrics are called as in claims.yml. Beside the functions stands which claims they answer (`PLANS`).
"""
