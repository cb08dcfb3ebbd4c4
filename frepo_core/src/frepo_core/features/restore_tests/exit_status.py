"""What exit statuses of commands mean that say nothing about the version."""

# By this exit status, the command says that it cannot test this kind of content; also used by automake.
SKIPPED = 77
# EX_TEMPFAIL of sysexits.h, and those of the shell for a program that may not be executed or is missing.
NOT_TESTED = {
    75: "the command cannot test now (exit status 75)",
    126: "a program of the command cannot be executed (exit status 126): check its rights",
    127: "a program of the command was not found (exit status 127): install it, or write its whole path",
}
