#include "tests/support/server_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <thread>

namespace recourse::tests {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

}  // namespace

ServerProcess::ServerProcess(const std::filesystem::path& directory, const std::string& name,
                             const std::string& config)
    : log_(directory / (name + ".log")), file_(directory / (name + ".yaml")) {
  std::ofstream(file_) << config;
  start();
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) stop(SIGKILL);
}

int ServerProcess::stop(int signal) {
  ::kill(pid_, signal);
  int status = -1;
  ::waitpid(pid_, &status, 0);
  pid_ = 0;
  return status;
}

std::string ServerProcess::logged() const {
  std::ifstream in(log_);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t ServerProcess::threads(std::string_view name_begin) const {
  std::size_t count = 0;
  const std::string folder = "/proc/" + std::to_string(pid_) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(thread.path() / "comm");
    std::string name;
    std::getline(in, name);
    if (name.starts_with(name_begin)) ++count;
  }
  return count;
}

void ServerProcess::start() {
  pid_ = ::fork();
  if (pid_ == 0) {
    if (std::freopen(log_.c_str(), "w", stderr) == nullptr) ::_exit(126);
    ::execl(RECOURSE_PROGRAM, "recourse", "serve", "--config", file_.c_str(), nullptr);
    ::_exit(127);
  }
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!reads_url()) {
    if (std::chrono::steady_clock::now() > until || ::waitpid(pid_, nullptr, WNOHANG) != 0) {
      std::cerr << "recourse serve does not come up:\n" << logged();
      std::exit(1);
    }
    std::this_thread::sleep_for(50ms);
  }
}

bool ServerProcess::reads_url() {
  const std::string text = logged();
  constexpr std::string_view kMark = R"("url":")";
  const std::size_t at = text.find(kMark);
  if (at == std::string::npos) return false;
  const std::size_t begin = at + kMark.size();
  const std::size_t end = text.find('"', begin);
  if (end == std::string::npos) return false;
  url_ = text.substr(begin, end - begin);
  return true;
}

}  // namespace recourse::tests
