// One connection that hears the words other connections say on a channel, and says some itself.
//
// Words are lost with a connection, and a pooler in transaction mode carries none: they are hints.
//
// Thread safety: none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sql/connection.h"
#include "sql/postgres/pipeline.h"

namespace recourse::sql::postgres {

class HintLine {
 public:
  // The channel is a plain identifier.
  static Result<HintLine> open(const std::string& url, const std::string& channel,
                               Deadline deadline);

  // A plain word.
  Result<> say(std::string_view word, Deadline deadline);

  // Waits until others have said something, or `wake` can be read. An error: the connection is
  // lost.
  Result<std::vector<std::string>> hear(int wake);

 private:
  HintLine(Pipeline pipeline, std::string channel)
      : pipeline_(std::move(pipeline)), channel_(std::move(channel)) {}

  std::vector<std::string> take_words();

  Pipeline pipeline_;
  std::string channel_;
};

}  // namespace recourse::sql::postgres
