"""The files that `frepo plugin:new` writes: templates with `$module`, `$name`, `$Class` and `$distribution`."""
