#include "app/config/read_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"

namespace recourse::app {
namespace {

// Leaves yaml-cpp's parser by the only way there is; caught in read_yaml.
struct Refused : std::runtime_error {
  Refused(Where at, const std::string& message)
      : std::runtime_error(message), where(std::move(at)) {}
  Where where;
};

// What a copy of a part of the tree would cost.
struct Cost {
  std::size_t nodes = 0;
  std::size_t bytes = 0;
  std::size_t levels = 0;
};

struct Measured {
  Given given = {};
  Cost cost = {};
};

class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}

  Given take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add({.given = {.where = place(mark)}}, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool plain = tag == "?";
    if (plain && (value == "~" || value == "null")) return OnNull(mark, anchor);
    add({.given = given_text(value, place(mark)), .cost = {.bytes = value.size()}}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw Refused(place(mark), "an alias cannot stand inside of what it names");
    }
    // What it copies was counted as it was read, and is counted again each time it is copied.
    charge(found->second.cost, place(mark));
    if (open_.size() + found->second.cost.levels > kYamlDepthMax) too_deep(place(mark));
    attach(found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(Shape::kList, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Shape::kMap, mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Measured part;
    YAML::anchor_t anchor = 0;
    // Of a map: the key whose value comes next, and the lines of those that came.
    std::optional<Entry> key = {};
    std::unordered_map<std::string, int> lines = {};
  };

  [[nodiscard]] Where place(const YAML::Mark& mark) const {
    return {
        .origin = Origin::kFile, .name = file_, .line = mark.line + 1, .column = mark.column + 1};
  }

  [[noreturn]] static void too_deep(const Where& where) {
    throw Refused(where, fmt::format("nested deeper than {} levels", kYamlDepthMax));
  }

  void open(Shape shape, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kYamlDepthMax) too_deep(place(mark));
    open_.push_back({.part = {.given = {.shape = shape, .where = place(mark)}}, .anchor = anchor});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    closed.part.cost.levels += 1;
    add(std::move(closed.part), closed.anchor);
  }

  void add(Measured part, YAML::anchor_t anchor) {
    part.cost.nodes += 1;
    charge({.nodes = 1, .bytes = part.given.text.size()}, part.given.where);
    if (anchor != 0) {
      charge(part.cost, part.given.where);
      anchors_[anchor] = part;
    }
    attach(std::move(part));
  }

  void attach(Measured part) {
    if (open_.empty()) {
      root_ = std::move(part.given);
      return;
    }
    Open& parent = open_.back();
    Cost& cost = parent.part.cost;
    cost.nodes += part.cost.nodes;
    cost.bytes += part.cost.bytes;
    cost.levels = std::max(cost.levels, part.cost.levels);
    if (parent.part.given.shape == Shape::kList) {
      parent.part.given.items.push_back(std::move(part.given));
    } else if (parent.key) {
      end_entry(parent, std::move(part.given));
    } else {
      begin_entry(parent, std::move(part.given));
    }
  }

  static void begin_entry(Open& parent, Given key) {
    if (key.shape != Shape::kText) {
      throw Refused(key.where, fmt::format("a key must be a word, not {}", describe(key.shape)));
    }
    parent.key = Entry{.key = std::move(key.text), .where = std::move(key.where)};
  }

  void end_entry(Open& parent, Given value) {
    Entry entry = *std::exchange(parent.key, std::nullopt);
    const auto [first, fresh] = parent.lines.emplace(entry.key, entry.where.line);
    if (!fresh) {
      problems_.error(entry.where, fmt::format("the key {} is already in line {}; write it once",
                                               shown(entry.key), first->second));
      return;
    }
    entry.value = std::move(value);
    parent.part.given.entries.push_back(std::move(entry));
  }

  void charge(const Cost& cost, const Where& where) {
    spent_.nodes += cost.nodes;
    spent_.bytes += cost.bytes;
    if (spent_.nodes > kYamlNodesMax || spent_.bytes > kYamlTextBytesMax) {
      throw Refused(where, "too many values, or aliases that copy too much");
    }
  }

  const std::string& file_;
  Problems& problems_;
  Cost spent_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Measured> anchors_;
  Given root_;
};

Where start_of(const std::string& file) {
  return {.origin = Origin::kFile, .name = file, .line = 1, .column = 1};
}

// YAML allows tabs and line ends among the control characters; whatever else is there comes from a
// file that is something else.
bool is_text(std::string_view text) {
  std::string plain(text);
  std::ranges::replace_if(
      plain, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return is_plain_text(plain);
}

// The first line whose indentation has a tab, up to the one where reading broke off; 0 for none.
int line_with_tab(std::string_view text, int last) {
  for (int line = 1; line <= last && !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view indentation = text.substr(0, text.find_first_not_of(" \t"));
    if (indentation.find('\t') < end) return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}

Given parse(std::string_view text, const std::string& file, Problems& problems) {
  TreeBuilder builder(file, problems);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return {};
    Given root = std::move(builder).take();
    TreeBuilder second(file, problems);
    if (parser.HandleNextDocument(second)) {
      problems.error(start_of(file), "the file must hold one YAML document; remove the second ---");
    }
    return root;
  } catch (const Refused& refused) {
    problems.error(refused.where, refused.what());
  } catch (const YAML::Exception& broken) {
    Where where{.origin = Origin::kFile,
                .name = file,
                .line = broken.mark.line + 1,
                .column = broken.mark.column + 1};
    if (const int line = line_with_tab(text, where.line); line > 0) {
      where.line = line;
      where.column = 1;
      problems.error(where, "this line is indented by a tab: YAML wants spaces");
    } else {
      problems.error(where, fmt::format("this is not YAML: {}", broken.msg));
    }
  }
  return {};
}

}  // namespace

Given read_yaml(std::string_view text, const std::string& file, Problems& problems) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Given root;
  if (text.size() > kFileBytesMax) {
    problems.error(start_of(file), fmt::format("the file has more than {} bytes", kFileBytesMax));
  } else if (!is_text(text)) {
    problems.error(
        start_of(file),
        "this is not a text file: it has control characters, or bytes that are no UTF-8");
  } else {
    root = parse(text, file, problems);
  }
  if (root.shape == Shape::kText || root.shape == Shape::kList) {
    problems.error(root.where,
                   fmt::format("the file must be a map of keys, such as `server:`, not {}",
                               describe(root.shape)));
  }
  if (root.shape != Shape::kMap) root = {.shape = Shape::kMap, .where = start_of(file)};
  return root;
}

}  // namespace recourse::app
