"""The dataclasses inside the service."""

from dataclasses import field, replace

from frepo_core.domain.structs import struct


@struct
class Size:
    """A number of bytes, and how often it was asked for."""

    width: int
    unit: str = "B"
    asked: list[int] = field(default_factory=list, compare=False, repr=False)


@struct
class Named:
    """It says itself how it is shown and compared."""

    name: str

    def __repr__(self):
        return f"<{self.name}>"

    def __eq__(self, other):
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    def __hash__(self):
        return hash(self.name.lower())


@struct
class Nothing:
    """It has no field."""


@struct
class Other(Size):
    """It has the fields of another one."""


def test_equal_fields_make_equal_structs():
    assert Size(width=1, asked=[1]) == Size(width=1)
    assert hash(Size(width=1, asked=[1])) == hash(Size(width=1))
    assert Size(width=1) != Size(width=2)
    assert Nothing() == Nothing()
    assert {Nothing(): 1}[Nothing()] == 1


def test_another_class_is_never_equal():
    assert Size(width=1) != Other(width=1)
    assert Size(width=1) != (1, "B")


def test_a_struct_shows_its_fields():
    assert repr(Size(width=1)) == "Size(width=1, unit='B')"
    assert repr(Other(width=2, unit="k")) == "Other(width=2, unit='k')"


def test_a_changed_copy_of_a_struct_is_a_new_one():
    first = Size(width=1)

    second = replace(first, width=2)

    assert (first.width, second) == (1, Size(width=2))


def test_methods_of_the_class_itself_stay():
    assert repr(Named(name="A")) == "<A>"
    assert Named(name="A") == Named(name="a")
    assert len({Named(name="A"), Named(name="a")}) == 1
