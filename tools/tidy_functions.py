"""Where functions begin and end.

Python is parsed; TypeScript and shell functions end at the next closing bracket with their indent.

The C++ scanner walks declarations only. It collects the head of a declaration, with everything
inside brackets emptied, until a `{`; the head then tells whether that brace opens a scope to walk
into (namespace, class), the body of a function, or something to step over (an initialiser, an enum).
It is no compiler: it relies on formatted code, and a macro that hides a brace deceives it.
"""

import ast
import re
from typing import Iterator, NamedTuple

from tidy_source import Source, spaces_for


class Function(NamedTuple):
    name: str
    first: int
    last: int

    @property
    def lines(self) -> int:
        return self.last - self.first + 1


def functions_of(source: Source) -> Iterator[Function]:
    """Raises SyntaxError for Python that does not parse."""
    if source.is_cpp:
        yield from _cpp_functions(source)
    elif source.path.endswith(".py") or re.match(r"#!.*python", source.text):
        yield from _python_functions(source.text)
    else:
        yield from _indented_functions(source.text)


BRACKET = re.compile(r"[({};]")
PAIRS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]")}
BEFORE_DECLARATION = re.compile(r"(?:\s+|\b(?:public|private|protected)\s*:(?!:))*")


def _cpp_functions(source: Source) -> Iterator[Function]:
    code = _without_directives(source.code)
    head = ""
    at = first = BEFORE_DECLARATION.match(code).end()
    while bracket := BRACKET.search(code, at):
        head += code[at:bracket.start()]
        at = bracket.end()
        if bracket[0] == "(":
            at = _closing(code, bracket.start())
            head += "()"
            continue
        if bracket[0] == "{":
            head = _plain(head)
            kind = _kind(head)
            if kind != "scope":
                at = _closing(code, bracket.start())
            if kind == "function":
                yield Function(_name(head), source.line_at(first), source.line_at(at - 1))
            if kind == "value":
                head += "{}"
                continue
        at = first = BEFORE_DECLARATION.match(code, at).end()
        head = ""


def _closing(code: str, opening: int) -> int:
    """The offset behind the bracket that closes the one at `opening`."""
    depth = 0
    for bracket in PAIRS[code[opening]].finditer(code, opening):
        depth += 1 if bracket[0] == code[opening] else -1
        if depth == 0:
            return bracket.end()
    return len(code)


SPECIFIER = re.compile(r"\b(?:alignas|decltype|noexcept|explicit|__attribute__)\s*\(\)")
# `Inbox inbox_ GUARDED_BY(mutex_)`, `class CAPABILITY("mutex") Mutex`; TEST(...) stands alone and stays.
ANNOTATION = re.compile(r"(?<=[\w>\]])\s+[A-Z][A-Z0-9_]+\s*\(\)")
ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)
OPERATOR = re.compile(r"\boperator\s*[^\w\s(]+")
ANGLES = re.compile(r"<[^<>]*>")


def _plain(head: str) -> str:
    """A head without what could pass for a parameter list or an assignment."""
    head = OPERATOR.sub("operator", ATTRIBUTE.sub("", head)).replace("->", " ")
    while (shorter := ANGLES.sub("", head)) != head:
        head = shorter
    return ANNOTATION.sub("", SPECIFIER.sub("", head)).rstrip()


NAMESPACE = re.compile(r'\bnamespace\b(?!.*\(\))|\bextern\s*"\s*"$', re.DOTALL)
ENUM = re.compile(r"\benum\b(?!.*\(\))", re.DOTALL)
TYPE = re.compile(r"\b(?:class|struct|union)\b(?!.*\(\))", re.DOTALL)
LAMBDA = re.compile(r"=\s*\[[^\[\]]*\][^=]*$")
REQUIRES_EXPRESSION = re.compile(r"(?:\brequires|&&|\|\||!)\s*requires\s*(?:\(\))?$")


def _kind(head: str) -> str:
    """What a brace after this plain head opens: a "scope", a "function" or a "value"."""
    if NAMESPACE.search(head):
        return "scope"
    if "=" in head:
        return "function" if LAMBDA.search(head) else "value"
    if ENUM.search(head) or REQUIRES_EXPRESSION.search(head):
        return "value"
    if TYPE.search(head):
        return "scope"
    if "()" not in head or _initialises_member(head):
        return "value"
    return "function"


def _initialises_member(head: str) -> bool:
    """Behind the colon of a constructor, `name {` is a member's value and `) {` or `} {` the body."""
    signature, colon, _ = head.replace("::", "").partition(":")
    return bool(colon) and "()" in signature and re.search(r"\w$", head) is not None


def _name(head: str) -> str:
    match = re.search(r"(?!requires\b)\b([~\w:]+)\s*(?:\(\)|=\s*\[)", head)
    return match[1] if match else "function"


DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w*)(?:\\\n|[^\n])*", re.MULTILINE)


def _without_directives(code: str) -> str:
    code = _without_uneven_branches(code)
    return DIRECTIVE.sub(lambda match: spaces_for(match[0]), code)


def _without_uneven_branches(code: str) -> str:
    """Drops an #else that opens or closes a brace of its #if once more: only one of them is compiled."""
    if not re.search(r"#[ \t]*el", code):
        return code
    open_branches: list[int | None] = []  # where the alternative begins; None in the first branch
    for match in DIRECTIVE.finditer(code):
        word = match[1]
        if word.startswith("if"):
            open_branches.append(None)
        elif word.startswith(("el", "endif")) and open_branches:
            begin = open_branches.pop()
            if begin is not None:
                branch = code[begin:match.start()]
                if branch.count("{") != branch.count("}"):
                    code = code[:begin] + spaces_for(branch) + code[match.start():]
            if word != "endif":
                open_branches.append(match.end())
    return code


def _python_functions(text: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield Function(node.name, first, node.end_lineno)


INDENTED_OPENING = re.compile(
    r"([ \t]*)(?:"
    r"(?:function\s+)?(?P<shell>[\w:-]+)\s*\(\)\s*[({]"
    r"|(?:export\s+)?(?:default\s+)?(?:async\s+)?function\b\s*(?P<typescript>\w*)"
    r"|(?:export\s+)?(?:const|let)\s+(?P<arrow>\w+).*=>\s*\{"
    r")"
)


def _indented_functions(text: str) -> Iterator[Function]:
    lines = text.split("\n")
    for index, line in enumerate(lines):
        match = INDENTED_OPENING.match(line)
        if not match or line.rstrip().endswith((";", "}", ")")):
            continue
        closing = re.compile(re.escape(match[1]) + r"[)}][;)]*\s*$")
        last = next((i for i in range(index + 1, len(lines)) if closing.match(lines[i])), index)
        name = match["shell"] or match["typescript"] or match["arrow"] or "function"
        yield Function(name, index + 1, last + 1)
