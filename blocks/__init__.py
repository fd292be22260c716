"""Pure functions from frozen view-models to Slack's Block Kit.

The package exists so that what people see can be built, tested and compared without Slack, a database or a clock.
It must not import anything of ``bot``, do any I/O, read the time or make an id: whoever calls it says all of that.
"""
