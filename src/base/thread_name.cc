#include "base/thread_name.h"

#include <pthread.h>

#include <string>

namespace recourse {
namespace {

constexpr std::size_t kNameBytesMax = 15;

}  // namespace

void name_this_thread(std::string_view name) {
  // It is for people only: a system that does not take it changes nothing.
  pthread_setname_np(pthread_self(), std::string(name.substr(0, kNameBytesMax)).c_str());
}

}  // namespace recourse
