#include "cli/exit_code.h"

#include <cstdlib>

namespace recourse::cli {

ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid: return ExitCode::kUsage;
    case ErrorCode::kNotFound: return ExitCode::kNotFound;
    case ErrorCode::kConflict: return ExitCode::kConflict;
    case ErrorCode::kExhausted:
    case ErrorCode::kUnavailable:
    case ErrorCode::kInDoubt: return ExitCode::kDown;
    case ErrorCode::kCorrupt: return ExitCode::kFailure;
  }
  std::abort();
}

ExitCode exit_code_of_status(int http_status) {
  if (http_status >= 200 && http_status < 300) {
    constexpr int kMultiStatus = 207;
    return http_status == kMultiStatus ? ExitCode::kPartlyDone : ExitCode::kOk;
  }
  switch (http_status) {
    case 400:
    case 413:
    case 422: return ExitCode::kUsage;
    case 401:
    case 403: return ExitCode::kAuth;
    case 404:
    case 410: return ExitCode::kNotFound;
    case 409:
    case 412: return ExitCode::kConflict;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504: return ExitCode::kDown;
    default: return ExitCode::kFailure;
  }
}

}  // namespace recourse::cli
