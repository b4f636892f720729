"""How long tidy takes a function to be. Run by tidy_test.py."""

import textwrap
import unittest

import tidy
from tidy_functions import functions_of
from tidy_source import Source


def measured(code: str, path: str = "src/base/a.cc") -> list[tuple[str, int, int]]:
    """(name, first line, number of lines) of each function."""
    source = Source(path, textwrap.dedent(code).lstrip("\n"))
    return [(found.name, found.first, found.lines) for found in functions_of(source)]


class FunctionLimits(unittest.TestCase):
    def severities(self, code: str, path: str = "src/base/a.cc") -> list[tuple[int, str]]:
        return [(found.line, found.severity) for found in tidy.check_size(Source(path, code))]

    def function(self, lines: int) -> str:
        return "\n\nvoid f() {\n" + "  g();\n" * (lines - 2) + "}\n"

    def test_a_function_warns_over_40_lines_and_fails_over_70(self):
        self.assertEqual(self.severities(self.function(40)), [])
        self.assertEqual(self.severities(self.function(41)), [(3, "warning")])
        self.assertEqual(self.severities(self.function(70)), [(3, "warning")])
        self.assertEqual(self.severities(self.function(71)), [(3, "error")])

    def test_a_table_of_constants_may_be_longer(self):
        for head in ("constexpr std::array kEdges{", "const Edge kEdges[] = {", "enum class State : int {",
                     "const std::map<int, std::function<void(int)>> kTable{",
                     "inline constexpr std::array<Edge, count()> kEdges = {",
                     "Table table_ GUARDED_BY(mutex_){", "static const struct option kOptions[] = {"):
            self.assertEqual(self.severities(head + "\n" + "  {f(1), 2},\n" * 80 + "};\n"), [], head)

    def test_a_class_or_namespace_may_be_longer(self):
        for head in ("namespace recourse::base {", "namespace {", "inline namespace v1 {", 'extern "C" {',
                     "class Store {", "class [[nodiscard]] Result : Base<T, Error> {",
                     'struct [[nodiscard("check it")]] Result {', 'class CAPABILITY("mutex") Mutex {',
                     "struct alignas(64) Slot final : public Base<int(int)> {", "union Cell {",
                     "template <class T = void>\n  requires std::integral<T>\nclass Box {"):
            self.assertEqual(self.severities(head + "\n" + "  int f() const;\n" * 80 + "};\n"), [], head)

    def test_python_that_does_not_parse_is_an_error(self):
        self.assertEqual(self.severities("x = 1\ndef f(:\n", "tools/a.py"), [(2, "error")])


class CppFunctions(unittest.TestCase):
    def test_counts_from_the_first_line_of_the_signature(self):
        self.assertEqual(measured("""
            // A comment is not part of it.
            template <class T>
            [[nodiscard]] inline Result<T> find(
                const Key& key,
                Options options = {}) {
              return {};
            }
            """), [("find", 2, 6)])

    def test_finds_members_behind_access_labels_and_in_nested_classes(self):
        self.assertEqual(measured("""
            namespace recourse {
            class Wheel : public Base {
             public:
              Wheel() = default;
              int size() const { return size_; }
             private:
              struct Level {
                bool empty() const noexcept override {
                  return true;
                }
              };
              bool operator==(const Wheel&) const = default;
              auto operator<=>(const Wheel& other) const {
                return 0;
              }
              void operator()(int x) {
              }
              int size_{0};
              std::vector<int> slots_ GUARDED_BY(mutex_){};
            };
            }  // namespace recourse
            """), [("size", 5, 1), ("empty", 8, 3), ("operator", 13, 3), ("operator", 16, 2)])

    def test_a_constructor_ends_behind_its_body_not_its_initialisers(self):
        self.assertEqual(measured("""
            Loop::Loop(Clock& clock, int size)
                : Base<int>{size},
                  clock_(clock), names_{"{", "a"},
                  thread_([this](std::stop_token stop) {
                    run(stop);
                  }),
                  last_{[] { return 1; }} {
              start();
            }
            Loop::~Loop() { stop(); }
            """), [("Loop::Loop", 1, 9), ("Loop::~Loop", 10, 1)])

    def test_lambdas_belong_to_the_function_around_them(self):
        self.assertEqual(measured("""
            void run() {
              auto f = [&](int x) {
                if (x) { return [] { return 1; }; }
              };
              each(list, [](auto& y) { y(); });
            }
            int after() { return 1; }
            """), [("run", 1, 6), ("after", 7, 1)])

    def test_a_lambda_at_namespace_scope_is_a_function(self):
        self.assertEqual(measured("""
            const auto kParse = [](std::string_view text) -> int {
              return 1;
            };
            """), [("kParse", 1, 3)])

    def test_tests_and_properties_are_functions(self):
        self.assertEqual(measured("""
            TEST(Backoff, StaysBelowTheCeiling) {
              EXPECT_EQ(1, 1);
            }
            RC_GTEST_PROP(Wheel, NeverFiresEarly, (const std::vector<int>& due)) {
              RC_ASSERT(true);
            }
            INSTANTIATE_TEST_SUITE_P(All, Contract, testing::Values(1), [](const auto& info) {
              return info.param.name;
            });
            """), [("TEST", 1, 3), ("RC_GTEST_PROP", 4, 3)])

    def test_constraints_and_trailing_returns_do_not_hide_the_body(self):
        self.assertEqual(measured("""
            template <class T>
            concept Named = requires(T t) {
              t.name();
            };
            template <class T>
              requires requires(T t) { t.name(); }
            auto name_of(const T& t) -> std::map<int, std::string> {
              return t.name();
            }
            template <class T>
            int size(T t) requires(sizeof(T) > 4) {
              return 4;
            }
            decltype(auto) last() noexcept(true) REQUIRES(mutex_) {
              return 1;
            }
            """), [("name_of", 5, 5), ("size", 10, 4), ("last", 14, 3)])

    def test_braces_in_literals_comments_and_macros_do_not_count(self):
        self.assertEqual(measured("""
            #define OPEN {
            int f() {
              char c = '{'; // }
              auto s = "}\\"}"; /* } */
              auto r = R"x(})" })x"; int n = 1'000;
            }
            """), [("f", 2, 5)])

    def test_either_branch_of_an_if_may_open_the_body(self):
        self.assertEqual(measured("""
            #ifdef FAST
            int f() {
            #else
            int f(int slow) {
            #endif
              return 1;
            }
            int g() { return 2; }
            """), [("f", 2, 6), ("g", 8, 1)])


class OtherFunctions(unittest.TestCase):
    def test_python_counts_from_the_first_decorator(self):
        self.assertEqual(measured("@cached\ndef f():\n    return 1\n", "tools/a.py"), [("f", 1, 3)])

    def test_shell_and_typescript_end_at_the_bracket_with_their_indent(self):
        shell = "run() {\n  if x; then { y; }; fi\n}\none() { y; }\n"
        self.assertEqual(measured(shell, "dev"), [("run", 1, 3)])
        self.assertEqual(measured("""
            export function Page({
              task,
            }: Props) {
              return 1;
            }
            const load = async (id: string) => {
              return 2;
            };
            """, "web/a.tsx"), [("Page", 1, 5), ("load", 6, 3)])


if __name__ == "__main__":
    unittest.main()
