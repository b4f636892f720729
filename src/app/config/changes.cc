#include "app/config/changes.h"

#include <map>
#include <set>

#include "app/config/fill.h"
#include "app/config/keys.h"

namespace recourse::app {
namespace {

struct Row {
  std::string shown;
  std::string compared;
  Reload reload = Reload::kRestart;
  // Of a key of a named thing: the thing.
  std::string item = {};
};

using Rows = std::map<std::string, Row>;

// A named thing is a row itself, so that its coming and going is one change and not forty.
Rows rows_of(Config config) {
  Rows rows;
  for (const Key& key : keys_of(config)) {
    if (key.show) rows[key.path] = {key.show(), key.compared(), key.about.reload};
    if (key.items == nullptr) continue;
    for (const auto& [name, keys] : key.items->all()) {
      const std::string item = path_of_item(key.path, name);
      rows[item] = {"present", "present", key.about.reload};
      for (const Key& part : keys) {
        const std::string path = item + "." + part.path;
        rows[path] = {part.show(), part.compared(), part.about.reload, item};
      }
    }
  }
  return rows;
}

}  // namespace

Changes what_changed(const Config& before, const Config& after) {
  const Rows old_rows = rows_of(before);
  const Rows new_rows = rows_of(after);
  std::set<std::string> paths;
  for (const auto& [path, row] : old_rows) paths.insert(path);
  for (const auto& [path, row] : new_rows) paths.insert(path);
  Changes changes;
  for (const std::string& path : paths) {
    const auto was = old_rows.find(path);
    const auto is = new_rows.find(path);
    const Row was_row = was == old_rows.end() ? Row{} : was->second;
    const Row is_row = is == new_rows.end() ? Row{} : is->second;
    const std::string& item = is == new_rows.end() ? was_row.item : is_row.item;
    const bool said_by_item = !item.empty() && old_rows.contains(item) != new_rows.contains(item);
    if (said_by_item || was_row.compared == is_row.compared) continue;
    const Reload reload = is == new_rows.end() ? was_row.reload : is_row.reload;
    (reload == Reload::kNow ? changes.now : changes.restart)
        .push_back({path, was_row.shown, is_row.shown});
  }
  return changes;
}

}  // namespace recourse::app
