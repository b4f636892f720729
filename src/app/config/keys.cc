#include "app/config/keys.h"

#include "app/config/fill.h"
#include "app/config/rows.h"
#include "app/config/text_checks.h"
#include "store/limits.h"

namespace recourse::app {
namespace {

// Each has a thread's worth of scanning and connections of its own.
constexpr std::size_t kGuardsMax = 100;

Key kinds_key(Config& config) {
  Items items{.max = store::kNodeKindsMax};
  items.add = [&config](const std::string& name) {
    return kind_keys(config.kinds.try_emplace(name, config.defaults).first->second);
  };
  items.all = [&config] {
    std::vector<std::pair<std::string, Keys>> all;
    for (auto& [name, kind] : config.kinds) all.emplace_back(name, kind_keys(kind));
    return all;
  };
  items.refuse_name = check_kind_name;
  return {.path = "kinds",
          .type = "a map of kinds by name",
          .about = {"The kinds of task that this server runs. A name that ends in * stands for all "
                    "kinds that begin so. What a kind does not say comes from defaults and retry."},
          .items = std::make_shared<const Items>(std::move(items))};
}

Key schedules_key(Config& config) {
  Items items{.max = engine::kSchedulesMax};
  items.add = [&config](const std::string& name) {
    return schedule_keys(
        config.schedules.try_emplace(name, new_schedule(name, config.defaults)).first->second);
  };
  items.all = [&config] {
    std::vector<std::pair<std::string, Keys>> all;
    for (auto& [name, schedule] : config.schedules) all.emplace_back(name, schedule_keys(schedule));
    return all;
  };
  items.refuse_name = check_name;
  return {.path = "schedules",
          .type = "a map of schedules by name",
          .about = {"Tasks that come back by the clock. Schedules of one name are one schedule, on "
                    "however many nodes."},
          .items = std::make_shared<const Items>(std::move(items))};
}

Key guards_key(Config& config) {
  Items items{.max = kGuardsMax};
  items.add = [&config](const std::string& name) {
    return guard_keys(config.guards.try_emplace(name, new_guard(name, config)).first->second);
  };
  items.all = [&config] {
    std::vector<std::pair<std::string, Keys>> all;
    for (auto& [name, guard] : config.guards) all.emplace_back(name, guard_keys(guard));
    return all;
  };
  items.refuse_name = check_guard_name;
  return {.path = "guards",
          .type = "a map of guards by name",
          .about = {"Business tables whose stuck rows are retried, given to a person and written "
                    "back. Rows run as tasks of the kind guard.NAME."},
          .items = std::make_shared<const Items>(std::move(items))};
}

}  // namespace

Config default_config() {
  Config config;
  // The program names it by host and process, which is not for this folder to find out.
  config.node.name.clear();
  return config;
}

Keys keys_of(Config& config) {
  Keys keys = program_keys(config);
  for (Key& key : retry_keys(config)) keys.push_back(std::move(key));
  append(keys, "defaults", lane_keys(config.defaults.settings));
  keys.push_back(kinds_key(config));
  keys.push_back(schedules_key(config));
  keys.push_back(guards_key(config));
  keys.push_back(boolean("create.enabled", at(config.create_enabled),
                         {"Whether other services may take keys of create calls here."}));
  append(keys, "degrade", degrade_keys(config.degrade));
  append(keys, "messages", message_keys(config.messages));
  append(keys, "notify", notify_keys(config.notify));
  return keys;
}

Keys all_keys_of(Config& config) {
  Keys all;
  for (Key& key : keys_of(config)) {
    const auto items = key.items;
    const std::string path = key.path;
    all.push_back(std::move(key));
    if (items == nullptr) continue;
    for (auto& [name, item] : items->all()) append(all, path_of_item(path, name), std::move(item));
  }
  return all;
}

}  // namespace recourse::app
