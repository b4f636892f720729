// Who the other side is: certificates made for the test, and a server that shows them.
#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>
#include <thread>

#include "http/client.h"

namespace recourse::http {
namespace {

namespace asio = boost::asio;

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* pointer) const noexcept {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;

struct Pem {
  std::string certificate;
  std::string key;
};

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

// Signed by itself, for the address that it names.
Pem make_certificate(const char* subject_alternative) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION_free>> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject_alternative));
  X509_add_ext(certificate.get(), names.get(), -1);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  const Bio certificate_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), certificate.get());
  const Bio key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {text_of(certificate_text.get()), text_of(key_text.get())};
}

// Answers one request after the other, each on a connection of its own.
class TlsServer {
 public:
  explicit TlsServer(const Pem& pem) : acceptor_(context_, {asio::ip::address_v4::loopback(), 0}) {
    tls_.use_certificate_chain(asio::buffer(pem.certificate));
    tls_.use_private_key(asio::buffer(pem.key), asio::ssl::context::pem);
    thread_ = std::thread([this] { serve(); });
  }
  ~TlsServer() {
    // Wakes the accept, and is no handshake.
    asio::ip::tcp::socket last(context_);
    stopping_ = true;
    boost::system::error_code ignored;
    last.connect(acceptor_.local_endpoint(), ignored);
    last.close();
    thread_.join();
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;

  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") const {
    return "https://" + host + ":" + std::to_string(acceptor_.local_endpoint().port()) + "/";
  }
  [[nodiscard]] int requests() const { return requests_; }

 private:
  void serve() {
    while (!stopping_) {
      boost::system::error_code failed;
      asio::ssl::stream<asio::ip::tcp::socket> stream(acceptor_.accept(), tls_);
      stream.handshake(asio::ssl::stream_base::server, failed);
      asio::streambuf request;
      if (!failed) asio::read_until(stream, request, "\r\n\r\n", failed);
      if (failed) continue;
      ++requests_;
      asio::write(stream,
                  asio::buffer(std::string("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                                           "Connection: close\r\n\r\nok")),
                  failed);
      stream.shutdown(failed);
    }
  }

  asio::io_context context_;
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

class ClientTls : public ::testing::Test {
 protected:
  CallResult call(const TlsServer& server, const std::string& authorities) {
    return fetch(*client_,
                 {.method = Method::kGet, .url = server.url(), .authorities = authorities});
  }
  static CallTrouble trouble_of(const CallResult& result) {
    return std::get<CallFailed>(result).trouble;
  }

  std::unique_ptr<Client> client_ = Client::open({}).value();
};

TEST_F(ClientTls, AnAuthorityThatWasGivenIsTrusted) {
  const Pem pem = make_certificate("IP:127.0.0.1");
  const TlsServer server(pem);

  const CallResult result = call(server, pem.certificate);

  ASSERT_TRUE(std::holds_alternative<Answer>(result)) << std::get<CallFailed>(result).message;
  EXPECT_EQ(std::get<Answer>(result).body, "ok");
}

TEST_F(ClientTls, WhoIsVouchedForByNobodyIsUntrusted) {
  const TlsServer server(make_certificate("IP:127.0.0.1"));

  EXPECT_EQ(trouble_of(call(server, "")), CallTrouble::kUntrusted);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(ClientTls, AnotherAuthorityIsNotTheRightOne) {
  const TlsServer server(make_certificate("IP:127.0.0.1"));
  const Pem other = make_certificate("IP:127.0.0.1");

  EXPECT_EQ(trouble_of(call(server, other.certificate)), CallTrouble::kUntrusted);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(ClientTls, ACertificateForAnotherHostIsUntrusted) {
  const Pem pem = make_certificate("DNS:example.org");
  const TlsServer server(pem);

  EXPECT_EQ(trouble_of(call(server, pem.certificate)), CallTrouble::kUntrusted);
  EXPECT_EQ(server.requests(), 0);
}

TEST_F(ClientTls, AuthoritiesThatAreNoneAreUntrusted) {
  const Pem pem = make_certificate("IP:127.0.0.1");
  const TlsServer server(pem);

  EXPECT_EQ(trouble_of(call(server, "no certificate")), CallTrouble::kUntrusted);
}

}  // namespace
}  // namespace recourse::http
