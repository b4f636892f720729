// An order service whose POST /orders can be repeated: one order and one id for each
// Idempotency-Key, on SQLite, PostgreSQL or MariaDB.
//
//   order_service STORE [PORT]      port 0, the default, takes a free one and prints it
//
//   curl -i localhost:8080/orders -H 'Idempotency-Key: o-1' -d '{"sku": "a-1", "amount": 2}'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "recourse/create.h"
#include "recourse/json.h"

namespace {

using namespace std::chrono_literals;

struct Order {
  std::string id;
  std::string sku;
  int amount = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Order, id, sku, amount)

// As the column has it.
constexpr std::uint64_t kAmountMax = std::numeric_limits<std::int32_t>::max();

struct Request {
  std::string line;  // POST /orders HTTP/1.1
  std::map<std::string, std::string> headers;
  std::string body;
};

struct Response {
  int status = 200;
  std::string body;
  bool replayed = false;
};

Response problem(int status, const std::string& detail) {
  return {.status = status, .body = nlohmann::json{{"detail", detail}}.dump()};
}

class Orders {
 public:
  explicit Orders(recourse::Engine& engine) : create_(engine) {
    // What follows from an order is a task of the same transaction.
    engine.handle<Order>("pack", [](const recourse::Attempt&, const Order&) { return true; });
  }

  recourse::Result<> make_table(const std::string& store) {
    const bool is_sqlite = store.starts_with("sqlite:");
    const std::string bytes = is_sqlite                       ? "BLOB"
                              : store.starts_with("postgres") ? "bytea"
                                                              : "BINARY(16)";
    return create_.transact(5s, [&](recourse::CreateTransaction& own) -> recourse::Result<> {
      const auto made = own.execute("CREATE TABLE IF NOT EXISTS shop_orders (id " + bytes +
                                    " NOT NULL PRIMARY KEY, public_id VARCHAR(40) NOT NULL UNIQUE, "
                                    "sku VARCHAR(100) NOT NULL, amount INT NOT NULL)");
      return made ? recourse::Result<>() : recourse::fail(made.error());
    });
  }

  Response answer(const Request& request) {
    if (!request.line.starts_with("POST /orders ")) return problem(404, "there is POST /orders");
    const auto key = request.headers.find("idempotency-key");
    if (key == request.headers.end()) return problem(400, "give an Idempotency-Key");
    const auto hash = recourse::request_hash(request.body);
    if (!hash) return problem(400, hash.error().message);
    const auto asked = nlohmann::json::parse(request.body, nullptr, false);
    if (!asked.is_object()) return problem(422, "an order is an object");
    return place(key->second, *hash, asked);
  }

 private:
  Response place(const std::string& key, const std::string& hash, const nlohmann::json& asked) {
    // By their types first: a number too large, or with a fraction, would be taken for another.
    const auto sku = asked.find("sku");
    if (sku == asked.end() || !sku->is_string() || sku->get_ref<const std::string&>().empty() ||
        sku->get_ref<const std::string&>().size() > 100) {
      return problem(422, "sku must be a text of 1 to 100 bytes");
    }
    const auto amount = asked.find("amount");
    if (amount == asked.end() || !amount->is_number_unsigned() ||
        amount->get<std::uint64_t>() < 1 || amount->get<std::uint64_t>() > kAmountMax) {
      return problem(422, "amount must be a whole number from 1 to " + std::to_string(kAmountMax));
    }
    const auto made = create_.run<Order>(
        {.tenant = 7,
         .business_type = "ORDER_CREATE",
         .resource_type = "ord",
         .key = key,
         .request_hash = hash,
         .wait_for_completion = true,
         .wait_max = 2s},
        [&](recourse::CreateTransaction& own,
            const recourse::NewResource& fresh) -> recourse::Result<Order> {
          const Order order{fresh.public_id, asked.at("sku"), asked.at("amount")};
          const auto row = own.execute(
              "INSERT INTO shop_orders (id, public_id, sku, amount) VALUES (?, ?, ?, ?)",
              {fresh.internal_id, order.id, order.sku, std::int64_t{order.amount}});
          if (!row) return recourse::fail(row.error());
          if (const auto task = own.submit("pack", order); !task) {
            return recourse::fail(task.error());
          }
          return order;
        });
    if (!made) {
      // A bad key, or another request under it, can never work; all else may be repeated.
      const bool is_callers = made.error().code == recourse::ErrorCode::kConflict ||
                              made.error().code == recourse::ErrorCode::kInvalid;
      return problem(is_callers ? 422 : 503, made.error().message);
    }
    if (made->in_progress) return problem(409, "the same order is being placed: ask again");
    return {.status = 201, .body = nlohmann::json(*made->value).dump(), .replayed = made->replayed};
  }

  recourse::Create create_;
};

// As much of HTTP as an example needs.
bool read_request(int socket, Request& request) {
  std::string text;
  std::size_t head = std::string::npos;
  char buffer[4'096];
  while ((head = text.find("\r\n\r\n")) == std::string::npos) {
    const auto got = ::recv(socket, buffer, sizeof(buffer), 0);
    if (got <= 0 || text.size() > 65'536) return false;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  std::size_t at = text.find("\r\n");
  request.line = text.substr(0, at);
  while (at < head) {
    const std::size_t end = text.find("\r\n", at + 2);
    const std::string header = text.substr(at + 2, end - at - 2);
    const std::size_t colon = header.find(": ");
    std::string name = header.substr(0, colon);
    for (char& letter : name) letter = static_cast<char>(std::tolower(letter));
    if (colon != std::string::npos) request.headers[name] = header.substr(colon + 2);
    at = end;
  }
  const std::size_t length = std::strtoul(request.headers["content-length"].c_str(), nullptr, 10);
  request.body = text.substr(head + 4);
  while (request.body.size() < length && length <= 65'536) {
    const auto got = ::recv(socket, buffer, sizeof(buffer), 0);
    if (got <= 0) return false;
    request.body.append(buffer, static_cast<std::size_t>(got));
  }
  return true;
}

const char* status_text(int status) {
  switch (status) {
    case 201: return "Created";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 409: return "Conflict";
    case 422: return "Unprocessable Content";
    case 503: return "Service Unavailable";
    default: return "OK";
  }
}

void serve(int socket, Orders& orders) {
  Request request;
  if (read_request(socket, request)) {
    const Response response = orders.answer(request);
    const std::string text =
        "HTTP/1.1 " + std::to_string(response.status) + " " + status_text(response.status) +
        "\r\nContent-Type: application/json\r\nConnection: close\r\n" +
        (response.replayed ? "Idempotent-Replayed: true\r\n" : "") +
        "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n" + response.body;
    (void)::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
  }
  ::close(socket);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "order_service STORE [PORT]\n");
    return 2;
  }
  auto engine = recourse::Engine::open({.store = argv[1]});
  if (!engine) {
    std::fprintf(stderr, "order_service: %s\n", engine.error().message.c_str());
    return 1;
  }
  Orders orders(*engine);
  auto ready = orders.make_table(argv[1]);
  if (ready) ready = engine->start();
  if (!ready) {
    std::fprintf(stderr, "order_service: %s\n", ready.error().message.c_str());
    return 1;
  }
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(argc > 2 ? std::atoi(argv[2]) : 0));
  socklen_t size = sizeof(address);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener, 64) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("order_service");
    return 1;
  }
  std::printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  while (true) {
    const int socket = ::accept(listener, nullptr, nullptr);
    if (socket >= 0) std::thread([socket, &orders] { serve(socket, orders); }).detach();
  }
}
