#include "app/demo_story.h"

#include <fmt/format.h>

#include "cli/display_text.h"
#include "cli/json_read.h"
#include "cli/task_page.h"

namespace recourse::app {
namespace {

using boost::json::object;
using cli::number_of;
using cli::text_of;

constexpr int kPoints = 5;
constexpr Duration kLookEvery = std::chrono::milliseconds(100);
constexpr Duration kReadingTime = std::chrono::milliseconds(700);
constexpr Duration kSickFor = std::chrono::milliseconds(2'500);
constexpr Duration kStoryPatience = std::chrono::seconds(10);

std::string counts_text(const object& states) {
  return fmt::format(
      "{} under way, {} done, {} dead", number_of(states, "pending") + number_of(states, "running"),
      number_of(states, "succeeded"), number_of(states, "dead") + number_of(states, "failed"));
}

}  // namespace

void DemoStory::title(std::string_view text) {
  session_.terminal().out << '\n'
                          << session_.colors().bold(fmt::format("{}. {}", ++step_, text))
                          << std::endl;
}

void DemoStory::line(std::string_view text) {
  session_.terminal().out << "   " << text << std::endl;
}

std::string DemoStory::submit(std::string_view kind, std::string_view payload) {
  const auto answer = session_.call(
      http::Method::kPost, "/api/v1/tasks",
      fmt::format(R"({{"kind":"{}","payload":{},"search_keys":{{"demo":"yes"}}}})", kind, payload));
  return answer ? text_of(*answer, "id") : std::string();
}

bool DemoStory::wait_until(const std::function<bool(const object& states)>& over, Duration limit) {
  for (Duration waited{}; waited < limit; waited += kLookEvery) {
    const auto stats = session_.get("/api/v1/stats");
    if (!stats) return false;
    const object& states = cli::object_of(*stats, "states");
    const std::string counts = counts_text(states);
    if (counts != said_) line(session_.colors().dim(counts));
    said_ = counts;
    if (over(states)) return true;
    if (!pause_(kLookEvery)) return false;
  }
  return true;
}

bool DemoStory::submit_all() {
  title("Work comes in, and the service behind it is down.");
  for (int i = 1; i <= kPoints; ++i) {
    points_.push_back(submit("grant-points", fmt::format(R"({{"user":{},"points":50}})", i)));
  }
  mail_ = submit("send-mail", R"({"to":"nobody@example.com"})");
  if (points_.back().empty() || mail_.empty()) return false;
  line(fmt::format("submitted: {} of kind grant-points, 1 of kind send-mail", kPoints));
  return pause_(kReadingTime);
}

bool DemoStory::watch_them_fail() {
  title("Every attempt fails. Each task waits a little longer before the next one.");
  const std::string path = "/api/v1/tasks/" + points_.front();
  std::int64_t attempts = 0;
  for (Duration waited{}; waited < kSickFor; waited += kLookEvery) {
    const auto task = session_.get(path);
    if (!task) return false;
    if (const auto now = number_of(*task, "attempts"); now > attempts) {
      attempts = now;
      line(session_.colors().dim(
          fmt::format("attempt {} of {}: {}", attempts, points_.front(),
                      cli::printable(cli::error_text(cli::object_of(*task, "last_error"))))));
    }
    if (!pause_(kLookEvery)) return false;
  }
  const auto why = session_.get(path + "/explain");
  if (!why) return false;
  line("$ recourse task explain " + points_.front());
  line(cli::printable(text_of(*why, "explanation")));
  return pause_(kReadingTime);
}

bool DemoStory::heal() {
  title("The service is back. Nobody has to do anything.");
  downstream_.heal();
  const bool goes_on =
      wait_until([](const object& states) { return number_of(states, "succeeded") >= kPoints; },
                 kStoryPatience);
  if (!goes_on) return false;
  line(session_.colors().green(fmt::format("all {} are done, each exactly once", kPoints)));
  return pause_(kReadingTime);
}

bool DemoStory::redrive() {
  title("The mail is another matter: no retry would help, so it waits for a person.");
  const auto task = session_.get("/api/v1/tasks/" + mail_);
  if (!task) return false;
  line("$ recourse dead list");
  line(fmt::format("{}  {}  {}", mail_, session_.colors().red(text_of(*task, "state")),
                   cli::printable(cli::error_text(cli::object_of(*task, "last_error")))));
  if (!pause_(2 * kReadingTime)) return false;
  title("Somebody corrects the cause, and drives it again.");
  downstream_.learn_address();
  line("$ recourse dead retry " + mail_);
  const auto retried = session_.call(http::Method::kPost, "/api/v1/tasks/" + mail_ + "/retry",
                                     R"({"reason":"the mailbox exists now"})");
  if (!retried) return false;
  return wait_until([](const object& states) { return number_of(states, "succeeded") > kPoints; },
                    kStoryPatience);
}

void DemoStory::look_back() {
  title("Everything that happened can be looked up, who did it included.");
  line("$ recourse task show " + mail_);
  const std::string path = "/api/v1/tasks/" + mail_;
  const auto task = session_.get(path);
  const auto attempts = session_.get(path + "/attempts");
  const auto audit = session_.get(path + "/audit");
  if (!task || !attempts || !audit) return;
  session_.terminal().out << cli::task_page({.task = *task,
                                             .attempts = cli::array_of(*attempts, "items"),
                                             .audit = cli::array_of(*audit, "items")},
                                            session_.now(), session_.terminal().out_width(),
                                            session_.colors());
}

bool DemoStory::tell() {
  if (!submit_all() || !watch_them_fail() || !heal() || !redrive()) return false;
  look_back();
  return true;
}

void DemoStory::part() {
  const std::string& url = session_.server();
  session_.terminal().out
      << fmt::format(
             "\n{}\n"
             "   export RECOURSE_SERVER={}\n"
             "   recourse task submit grant-points --payload '{{\"user\": 9}}'\n"
             "   recourse task list\n"
             "   recourse top\n"
             "   curl {}/api/v1/stats\n\n",
             session_.colors().bold("Your turn, in another window:"), url, url)
      << std::flush;
}

}  // namespace recourse::app
