#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "http/server_fixture.h"

namespace recourse::http {
namespace {

using testing::HasSubstr;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* connection) const { SSL_free(connection); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Handle = std::unique_ptr<T, Free>;

// A key and a certificate that it signed itself.
TlsFiles make_files(const std::filesystem::path& folder, const std::string& name) {
  const Handle<EVP_PKEY> key(EVP_EC_gen("P-256"));
  const Handle<X509> certificate(X509_new());
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3'600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  TlsFiles files{.certificate = folder / (name + ".crt"), .key = folder / (name + ".key")};
  const Handle<std::FILE> certificate_file(std::fopen(files.certificate.c_str(), "w"));
  const Handle<std::FILE> key_file(std::fopen(files.key.c_str(), "w"));
  PEM_write_X509(certificate_file.get(), certificate.get());
  PEM_write_PrivateKey(key_file.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return files;
}

class TlsWire final : public RawWire {
 public:
  TlsWire(int socket, int version_max) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_.get(), version_max);
    // Old versions only pass at OpenSSL's level 0; that must not be what stops them.
    SSL_CTX_set_security_level(context_.get(), 0);
    tls_.reset(SSL_new(context_.get()));
    SSL_set_alpn_protos(tls_.get(), reinterpret_cast<const unsigned char*>("\x02h2\x08http/1.1"),
                        12);
    SSL_set_fd(tls_.get(), socket);
    is_open_ = SSL_connect(tls_.get()) == 1;
  }
  std::ptrdiff_t read(char* to, std::size_t room) override {
    return SSL_read(tls_.get(), to, static_cast<int>(room));
  }
  std::ptrdiff_t write(const char* from, std::size_t bytes) override {
    return SSL_write(tls_.get(), from, static_cast<int>(bytes));
  }
  [[nodiscard]] bool is_open() const { return is_open_; }
  [[nodiscard]] std::string protocol() const {
    const unsigned char* chosen = nullptr;
    unsigned int bytes = 0;
    SSL_get0_alpn_selected(tls_.get(), &chosen, &bytes);
    return {reinterpret_cast<const char*>(chosen), bytes};
  }
  void say_goodbye() { SSL_shutdown(tls_.get()); }

 private:
  Handle<SSL_CTX> context_;
  Handle<SSL> tls_;
  bool is_open_ = false;
};

class TlsTest : public ServerTest {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "http_tls_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    settings_ = on_a_free_port();
    settings_.tls = make_files(folder_, "server");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Null when the handshake failed.
  TlsWire* encrypt(RawClient& client, int version_max = TLS1_3_VERSION) {
    auto wire = std::make_unique<TlsWire>(client.socket(), version_max);
    TlsWire* const seen = wire->is_open() ? wire.get() : nullptr;
    client.use(std::move(wire));
    return seen;
  }
  [[nodiscard]] std::string refusal_to_start(const TlsFiles& files) {
    settings_.tls = files;
    const Result<std::unique_ptr<Server>> started = Server::start(settings_, echo, refused, log_);
    return started ? "" : started.error().message;
  }

  std::filesystem::path folder_;
  ServerSettings settings_;
};

TEST_F(TlsTest, ServesAsWithout) {
  serve(echo, settings_);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    RawClient client = this->client();
    const TlsWire* wire = encrypt(client, version);
    ASSERT_NE(wire, nullptr);

    EXPECT_EQ(wire->protocol(), "http/1.1");
    EXPECT_EQ(client.ask(post("/a", "one")).body, "POST/a one");
    const std::string big(500'000, 'x');
    EXPECT_EQ(client.ask(post("/a", big)).body, "POST/a " + big);
    client.send(get("/1") + get("/2"));
    EXPECT_EQ(client.read_answer().body, "GET/1 ");
    EXPECT_EQ(client.read_answer().body, "GET/2 ");
  }
}

TEST_F(TlsTest, RefusesOldVersions) {
  serve(echo, settings_);
  RawClient client = this->client();

  EXPECT_EQ(encrypt(client, TLS1_1_VERSION), nullptr);
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(TlsTest, SaysWhyItRefusesBeforeItCloses) {
  settings_.body_bytes_max = 1'000;
  serve(echo, settings_);
  RawClient client = this->client();
  ASSERT_NE(encrypt(client), nullptr);

  client.send(post("/", std::string(50'000, 'x')));
  const RawAnswer answer = client.read_answer();

  EXPECT_EQ(answer.status, 413);
  EXPECT_TRUE(client.ends_cleanly());
}

TEST_F(TlsTest, TurnsAwayInTlsToo) {
  settings_.connections_max = 1;
  serve(echo, settings_);
  RawClient first = this->client();
  ASSERT_NE(encrypt(first), nullptr);
  EXPECT_EQ(first.ask(get("/")).status, 200);
  RawClient second = this->client();
  ASSERT_NE(encrypt(second), nullptr);

  EXPECT_EQ(second.read_answer().status, 503);
}

TEST_F(TlsTest, CutsWhoNeverShakesHands) {
  settings_.read_within = 50ms;
  serve(echo, settings_);
  RawClient silent = this->client();
  RawClient plain = this->client();

  plain.send(get("/"));

  EXPECT_EQ(silent.read_to_end(), "");
  EXPECT_EQ(plain.read_answer().status, 0);
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(TlsTest, CutsWhoDribbles) {
  settings_.read_within = 50ms;
  serve(echo, settings_);
  RawClient client = this->client();
  ASSERT_NE(encrypt(client), nullptr);

  client.send("GET / HTTP/1.1\r\n");

  EXPECT_EQ(client.read_answer().status, 408);
}

TEST_F(TlsTest, StreamsAndNoticesWhoLeaves) {
  serve(held_.service(), settings_);
  RawClient client = this->client();
  TlsWire* wire = encrypt(client);
  ASSERT_NE(wire, nullptr);
  client.send(get("/"));
  const std::shared_ptr<Stream> stream = std::move(held_.take().second).stream({});
  client.read_answer(false);
  EXPECT_TRUE(stream->write("one"));
  EXPECT_EQ(client.read_through("one\r\n"), "3\r\none\r\n");

  wire->say_goodbye();
  client.close();

  EXPECT_TRUE(eventually([&] { return !stream->write("x"); }));
  EXPECT_TRUE(eventually([&] { return server_->connections() == 0; }));
}

TEST_F(TlsTest, StopsWithConnectionsOpen) {
  serve(echo, settings_);
  RawClient shaken = this->client();
  RawClient silent = this->client();
  ASSERT_NE(encrypt(shaken), nullptr);
  EXPECT_EQ(shaken.ask(get("/")).status, 200);

  server_->stop(1h);

  EXPECT_EQ(server_->connections(), 0U);
}

TEST_F(TlsTest, SaysWhatIsWrongWithItsFiles) {
  const TlsFiles good = *settings_.tls;
  const TlsFiles other = make_files(folder_, "other");
  const std::string text = folder_ / "text";
  std::ofstream(text) << "not PEM";

  EXPECT_EQ(refusal_to_start(good), "");
  EXPECT_THAT(refusal_to_start({.certificate = folder_ / "none", .key = good.key}),
              HasSubstr("none\": No such file or directory"));
  EXPECT_THAT(refusal_to_start({.certificate = good.certificate, .key = folder_ / "none"}),
              HasSubstr("key"));
  EXPECT_THAT(refusal_to_start({.certificate = text, .key = good.key}),
              HasSubstr("it must be PEM, with its chain"));
  EXPECT_THAT(refusal_to_start({.certificate = good.certificate, .key = text}),
              HasSubstr("PEM without a password"));
  EXPECT_THAT(refusal_to_start({.certificate = good.certificate, .key = other.key}),
              HasSubstr("the certificate's own"));
}

}  // namespace
}  // namespace recourse::http
