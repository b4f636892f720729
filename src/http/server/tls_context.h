// What a server shows to its clients over TLS.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "http/server.h"

namespace recourse::http {

// TLS 1.2 and later, with forward secrecy. kInvalid when a file is missing, is not what it should
// be, or does not go with the other.
Result<boost::asio::ssl::context> open_tls(const TlsFiles& files);

}  // namespace recourse::http
