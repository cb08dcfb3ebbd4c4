"""Warnings about who sends: another program or host than in the last weeks, and two hosts that send in turn."""
