// libcurl's handles with their owners. The library ends in the files named curl_*.
#pragma once

#include <curl/curl.h>

#include <memory>

namespace recourse::http {

struct EasyDeleter {
  void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
using EasyHandle = std::unique_ptr<CURL, EasyDeleter>;

struct MultiDeleter {
  void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};
using MultiHandle = std::unique_ptr<CURLM, MultiDeleter>;

struct UrlDeleter {
  void operator()(CURLU* url) const noexcept { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, UrlDeleter>;

struct ListDeleter {
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using ListHandle = std::unique_ptr<curl_slist, ListDeleter>;

struct CurlTextDeleter {
  void operator()(char* text) const noexcept { curl_free(text); }
};
using CurlText = std::unique_ptr<char, CurlTextDeleter>;

// The library's own set-up; it counts its users, and is safe to use from any thread.
class CurlUse {
 public:
  CurlUse() : good_(curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK) {}
  ~CurlUse() {
    if (good_) curl_global_cleanup();
  }
  CurlUse(const CurlUse&) = delete;
  CurlUse& operator=(const CurlUse&) = delete;

  [[nodiscard]] bool good() const { return good_; }

 private:
  bool good_;
};

}  // namespace recourse::http
