"""The parts of a content as a tree: names are texts, and no part of a path is ever followed."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from frepo_core.plugins import Part

ROOT = 0


@dataclass
class Node:
    """A place in the tree. A folder that no part stands for has a `number` above those of the parts."""

    number: int
    name: str
    part: Part | None = None
    children: dict[str, "Node"] = field(default_factory=dict)
    size: int = 0
    count: int = 0


def steps(name: str) -> list[str]:
    """Return the folders of a name and its last part, without empty ones and those for this folder itself."""
    return [one for one in name.split("/") if one not in {"", "."}]


class Tree:
    """All nodes by number; 0 is the root."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.nodes: dict[int, Node] = {ROOT: Node(ROOT, "")}
        self._next = len(parts) + 1
        for number, part in enumerate(parts, start=1):
            self._add(number, part)

    def _add(self, number: int, part: Part) -> None:
        at = self.nodes[ROOT]
        way = [at]
        names = steps(part.name)
        for name in names[:-1]:
            if name not in at.children:
                at.children[name] = self._make(self._next, name)
                self._next += 1
            at = at.children[name]
            way.append(at)
        for one in way:
            one.size += part.size
            one.count += 1
        name = names[-1] if names else "."
        known = at.children.get(name)
        if known is None or known.part is not None:  # of several members of one name, tar gives the last one
            key = name if known is None else f"{name}\0{number}"
            at.children[key] = self._make(number, name, part)
        else:
            known.part = part
            self.nodes[number] = known

    def _make(self, number: int, name: str, part: Part | None = None) -> Node:
        node = Node(number, name, part)
        self.nodes[number] = node
        return node
