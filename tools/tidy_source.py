"""What every rule of tidy shares: a finding, and a file with its C++ comments and strings blanked."""

import re
from functools import cached_property
from typing import Iterator, NamedTuple

ERROR = "error"
WARNING = "warning"


class Finding(NamedTuple):
    path: str
    line: int
    severity: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.severity}: {self.message}"


class Include(NamedTuple):
    line: int
    quoted: bool
    target: str


class Source:
    """One text file; `path` is relative to the root and uses forward slashes."""

    def __init__(self, path: str, text: str):
        self.path = path
        self.text = text

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_cpp(self) -> bool:
        return self.path.endswith((".h", ".cc"))

    @property
    def line_count(self) -> int:
        return self.text.count("\n") + (not self.text.endswith("\n"))

    @cached_property
    def code(self) -> str:
        return blank_cpp(self.text)

    @cached_property
    def includes(self) -> list[Include]:
        return list(self._read_includes()) if self.is_cpp else []

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def error(self, line: int, message: str) -> Finding:
        return Finding(self.path, line, ERROR, message)

    def _read_includes(self) -> Iterator[Include]:
        # Found in the blanked code, so that a commented include does not count; the name itself
        # is read from the text, which has the same offsets.
        for match in INCLUDE.finditer(self.code):
            quoted = match[1] == '"'
            name = re.compile(r'[^"\n]*' if quoted else r"[^>\n]*").match(self.text, match.end())
            yield Include(self.line_at(match.start(1)), quoted, name[0])


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])', re.MULTILINE)

# Numbers come before characters: the ' in 1'000 opens nothing.
COMMENT_OR_LITERAL = re.compile(
    r"""
      //(?:\\\n|[^\n])*
    | /\*.*?(?:\*/|\Z)
    | (?<!\w)(?:u8|[uUL])?R"(?P<tag>[^\s()\\"]*)\(.*?\)(?P=tag)"
    | "(?:\\.|[^"\\\n])*"
    | (?<!\w)\d\w*(?:'\w+)+
    | '(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE | re.DOTALL,
)


def spaces_for(text: str) -> str:
    return "\n".join(" " * len(line) for line in text.split("\n"))


def blank_cpp(text: str) -> str:
    """Spaces for comments and the insides of literals. Offsets and lines stay where they were."""
    return COMMENT_OR_LITERAL.sub(_blank_one, text)


def _blank_one(match: re.Match) -> str:
    token = match[0]
    if token[0].isdigit():
        return token
    spaces = spaces_for(token)
    return spaces if token[0] == "/" else f'"{spaces[1:-1]}"'
