#include "cli/list_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/json_read.h"
#include "cli/task_rows.h"
#include "cli/url_text.h"

namespace recourse::cli {
namespace {

constexpr int kPageMax = 500;

struct Listed {
  boost::json::array items = {};
  std::string next = {};
};

// As many pages as it takes.
std::optional<Listed> read_pages(Session& session, const std::string& path,
                                 const Parameters& filter, const ListFlags& flags) {
  Listed listed;
  do {
    const auto wanted = flags.all ? kPageMax : flags.limit - static_cast<int>(listed.items.size());
    Parameters parameters = filter;
    parameters.emplace_back("limit", std::to_string(std::min(wanted, kPageMax)));
    if (!listed.next.empty()) parameters.emplace_back("cursor", listed.next);
    const auto page = session.get(path + query_text(parameters));
    if (!page) return std::nullopt;
    for (const auto& item : array_of(*page, "items")) listed.items.push_back(item);
    listed.next = text_of(*page, "next_cursor");
  } while (!listed.next.empty() &&
           (flags.all || std::ssize(listed.items) < std::ptrdiff_t{flags.limit}));
  return listed;
}

// Of what is about a task and has none of its own, that task's.
void print_ids(Session& session, const boost::json::array& items) {
  for (const auto& item : items) {
    if (const auto* object = item.if_object()) {
      const std::string_view name = object->contains("id") ? "id" : "task";
      const std::string id = text_of(*object, name);
      if (!id.empty()) session.terminal().out << id << '\n';
    }
  }
}

}  // namespace

void add_page_flags(CLI::App& command, ListFlags& flags) {
  command.add_option("--limit", flags.limit, "At most so many (default: 50)")
      ->type_name("N")
      ->check(whole_number(1, 1'000'000'000));
  command.add_flag("--all", flags.all, "All of them");
}

ExitCode list_tasks(Session& session, const std::string& path, const ListFlags& flags,
                    std::string_view nothing) {
  return list_pages(session, path, flags, task_table, nothing);
}

ExitCode list_pages(Session& session, const std::string& path, const ListFlags& flags,
                    Table (*table_of)(const boost::json::array& items, TimePoint now),
                    std::string_view nothing) {
  auto filter = to_parameters(flags.filter);
  if (!filter) return session.complain(ExitCode::kUsage, filter.error().message);
  filter->insert(filter->end(), flags.more.begin(), flags.more.end());
  const auto listed = read_pages(session, path, *filter, flags);
  if (!listed) return session.exit_code();
  if (session.flags().json) {
    boost::json::object body{{"items", listed->items}, {"next_cursor", nullptr}};
    if (!listed->next.empty()) body["next_cursor"] = listed->next;
    session.print(body);
    return ExitCode::kOk;
  }
  if (session.flags().quiet) {
    print_ids(session, listed->items);
    return ExitCode::kOk;
  }
  session.print(table_of(listed->items, session.now()));
  if (listed->items.empty()) session.say(nothing);
  if (!listed->next.empty()) session.say("There are more: --all shows them, --limit so many.");
  return ExitCode::kOk;
}

ExitCode list_few(Session& session, const std::string& path, Table table,
                  const std::function<void(const boost::json::object&, Table&)>& add,
                  std::string_view nothing) {
  const auto answer = session.get(path);
  if (!answer) return session.exit_code();
  if (session.flags().json) {
    session.print(*answer);
    return ExitCode::kOk;
  }
  for (const auto& value : array_of(*answer, "items")) {
    const auto* item = value.if_object();
    if (item == nullptr) continue;
    const std::string_view id = item->contains("id") ? "id" : "name";
    if (session.flags().quiet) session.terminal().out << text_of(*item, id) << '\n';
    add(*item, table);
  }
  if (session.flags().quiet) return ExitCode::kOk;
  session.print(table);
  if (table.rows() == 0 && !nothing.empty()) session.say(std::string(nothing));
  return ExitCode::kOk;
}

}  // namespace recourse::cli
