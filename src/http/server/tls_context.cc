#include "http/server/tls_context.h"

#include <fmt/format.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/text.h"

namespace recourse::http {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Unexpected refuse(std::string_view what, const std::string& path, std::string_view why) {
  return fail(ErrorCode::kInvalid,
              fmt::format("cannot use the TLS {} {}: {}", what, shown(path), why));
}

// OpenSSL's own words for a missing file speak of its routines.
Result<> check_readable(std::string_view what, const std::string& path) {
  if (access(path.c_str(), R_OK) == 0) return {};
  return refuse(what, path, std::generic_category().message(errno));
}

// We speak HTTP/1.1 only; who offers nothing that we know goes on without a word about it.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_bytes,
                    const unsigned char* offered, unsigned int offered_bytes, void*) {
  static constexpr std::string_view kOurs = "\x08http/1.1";
  unsigned char* found = nullptr;
  const int verdict = SSL_select_next_proto(
      &found, chosen_bytes, reinterpret_cast<const unsigned char*>(kOurs.data()),
      static_cast<unsigned int>(kOurs.size()), offered, offered_bytes);
  if (verdict != OPENSSL_NPN_NEGOTIATED) return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

void set_defaults(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(
      context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // An idle connection gives its buffers back.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

}  // namespace

Result<ssl::context> open_tls(const TlsFiles& files) {
  for (const auto& [what, path] :
       {std::pair("certificate", &files.certificate), std::pair("key", &files.key)}) {
    if (Result<> readable = check_readable(what, *path); !readable) {
      return fail(std::move(readable).error());
    }
  }
  ssl::context context(ssl::context::tls_server);
  set_defaults(context.native_handle());
  error_code error;
  context.use_certificate_chain_file(files.certificate, error);
  if (error) return refuse("certificate", files.certificate, "it must be PEM, with its chain");
  // Also refuses a key that does not go with the certificate.
  context.use_private_key_file(files.key, ssl::context::pem, error);
  if (error) {
    return refuse("key", files.key, "it must be PEM without a password, and the certificate's own");
  }
  return context;
}

}  // namespace recourse::http
