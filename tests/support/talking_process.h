// A program that is told lines and answers with lines, killed with its owner.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace recourse::tests {

class TalkingProcess {
 public:
  explicit TalkingProcess(std::vector<std::string> arguments) {
    std::array<int, 2> to{};
    std::array<int, 2> from{};
    if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) return;
    std::vector<char*> words;
    for (std::string& word : arguments) words.push_back(word.data());
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], 0);
      ::dup2(from[1], 1);
      ::execv(words[0], words.data());
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    input_ = to[1];
    output_ = ::fdopen(from[0], "r");
  }
  ~TalkingProcess() {
    kill();
    ::close(input_);
    std::fclose(output_);
  }
  TalkingProcess(const TalkingProcess&) = delete;
  TalkingProcess& operator=(const TalkingProcess&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

  // Empty where it has ended.
  std::string read_line() {
    std::string line;
    for (int c = std::fgetc(output_); c != EOF && c != '\n'; c = std::fgetc(output_)) {
      line += static_cast<char>(c);
    }
    return line;
  }
  std::string ask(const std::string& line) {
    const std::string whole = line + '\n';
    if (::write(input_, whole.data(), whole.size()) < 0) return {};
    return read_line();
  }

 private:
  pid_t pid_ = 0;
  int input_ = -1;
  std::FILE* output_ = nullptr;
};

}  // namespace recourse::tests
