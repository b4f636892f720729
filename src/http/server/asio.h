// The types of Boost.Asio by the executor that every connection runs on. Named in full, so that no
// handler passes through a type-erased executor.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace recourse::http {

namespace asio = boost::asio;
using boost::system::error_code;

using Strand = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Strand>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Strand>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock,
                                         asio::wait_traits<std::chrono::steady_clock>, Strand>;

template <class T = void>
using Awaitable = asio::awaitable<T, Strand>;
// What an operation that may fail answers; nothing of ours throws.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<Strand>> kAwait{};

}  // namespace recourse::http
