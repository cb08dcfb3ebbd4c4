COMMAND = """
from cliff.command import Command

class Greet(Command):
    "Greet."

    def take_action(self, arguments):
        self.app.stdout.write("hello\\n")
"""


def test_a_third_party_command_runs(console, install_package):
    (console.folder / "acme.py").write_text(COMMAND)
    environment = install_package("[frepo.commands]\nsay:hello = acme:Greet\n")

    assert console.answer("say:hello", **environment) == "hello"


def test_only_the_help_of_a_third_party_command_names_its_package(console, install_package):
    (console.folder / "acme.py").write_text(
        COMMAND.replace("cliff.command import", "frepo_core.cli import FrepoCommand as")
    )
    environment = install_package("[frepo.commands]\nsay:hello = acme:Greet\n")

    theirs = console.answer("say:hello", "--help", **environment)
    ours = console.answer("db:upgrade", "--help", **environment)

    assert "provided by the frepo-acme plugin" in theirs
    assert "provided by" not in ours


def test_the_list_of_commands_names_the_package_of_a_third_party(console, install_package):
    (console.folder / "acme.py").write_text(COMMAND)
    environment = install_package("[frepo.commands]\nsay:hello = acme:Greet\nsay:bye = no_such_module:Bye\n")

    listed = [" ".join(line.split()) for line in console.answer("--help", **environment).splitlines()]

    assert "say:hello Greet (frepo-acme)" in listed
    assert "say:bye cannot be loaded: No module named 'no_such_module' (frepo-acme)" in listed
    assert "auth:create-token Create a token; print its id" in listed


def test_a_command_that_cannot_be_loaded_is_named_with_its_package(console, install_package):
    environment = install_package("[frepo.commands]\nsay:hello = no_such_module:Greet\n")

    refusal = console.refusal("say:hello", **environment)

    assert "'say:hello' of frepo-acme cannot be loaded: No module named 'no_such_module'" in refusal


def test_a_command_that_cannot_be_loaded_does_not_affect_the_others(console, install_package):
    environment = install_package("[frepo.commands]\nsay:hello = no_such_module:Greet\n")

    assert "current" in console.answer("db:upgrade", **environment) + console.answer("db:upgrade", **environment)


def test_a_name_that_two_packages_claim_names_both(console, install_package):
    environment = install_package("[frepo.commands]\ninstall = acme:Greet\n")

    refusal = console.refusal("--help", **environment)

    assert "frepo-core" in refusal
    assert "frepo-acme" in refusal
