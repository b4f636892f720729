// The program `recourse serve` in a process of its own, as users run it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace recourse::tests {

// It listens once it is made. Killed in the end, unless it was stopped before.
class ServerProcess {
 public:
  // Its log and its configuration, a text of YAML, are files of that name in the directory. One
  // that does not come up ends the program, with its log.
  ServerProcess(const std::filesystem::path& directory, const std::string& name,
                const std::string& config);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Its exit status.
  int stop(int signal);

  [[nodiscard]] std::string logged() const;
  [[nodiscard]] const std::string& url() const { return url_; }
  // How many of its threads have names that begin so.
  [[nodiscard]] std::size_t threads(std::string_view name_begin = "") const;

 private:
  void start();
  bool reads_url();

  const std::filesystem::path log_;
  const std::filesystem::path file_;
  pid_t pid_ = 0;
  std::string url_;
};

}  // namespace recourse::tests
