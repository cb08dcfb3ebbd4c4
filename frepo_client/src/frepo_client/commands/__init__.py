"""The commands, one module each: `add_arguments(parser)`, and `run(context, arguments)`, which returns the status."""
