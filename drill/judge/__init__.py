"""Judgement of a record: verdicts, hindsight and losses, which read it through `View`."""
