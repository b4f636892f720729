// Many callers at once.
#pragma once

#include <functional>
#include <future>
#include <vector>

namespace recourse::store::contract {

// Runs `work(i)` on as many threads as asked, all at once; an exception of one ends the case.
inline void in_parallel(int threads, const std::function<void(int)>& work) {
  std::vector<std::future<void>> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) running.push_back(std::async(std::launch::async, work, i));
  for (std::future<void>& one : running) one.get();
}

}  // namespace recourse::store::contract
